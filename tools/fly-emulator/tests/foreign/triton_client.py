# SPDX-License-Identifier: Apache-2.0
"""Triton's own HIP driver and launcher on the emulator, with torch tensors on the CPU.

Triton asks torch for the current device and stream, which a torch for CPUs refuses: these questions are answered here.
Everything else is Triton's: it looks for the library in TRITON_LIBHIP_PATH, asks for properties, compiles for what it
finds, loads and launches.
"""

from __future__ import annotations

import ctypes
import os

import torch
import triton
import triton.language as tl
from triton.backends.amd.driver import HIPDriver

LIBRARY = ctypes.CDLL(os.environ["TRITON_LIBHIP_PATH"])

DRIVER = HIPDriver()
DRIVER.get_current_device = lambda: 0
DRIVER.set_current_device = lambda device: None
DRIVER.get_current_stream = lambda device: 0
triton.runtime.driver.set_active(DRIVER)


def registered(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as device memory."""
    address, size = ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.numel() * tensor.element_size())
    assert LIBRARY.flyemu_register_memory(address, size, 0, name.encode()) == 0
    return tensor


@triton.jit
def softmax_kernel(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + at, v / tl.sum(v, 0), mask=at < columns)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + first + k[None, :], mask=m[:, None] < M, other=0.0)
        right = tl.load(b + (first + k)[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def sort_kernel(x, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(x + at, tl.sort(tl.load(x + at)))


@triton.jit
def histogram_kernel(x, counts, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + v, 1, mask=at < n)


def main() -> None:
    print(DRIVER.get_current_target())
    torch.manual_seed(0)
    x, out = registered("x", torch.randn(33, 1000)), registered("out", torch.empty(33, 1000))
    softmax_kernel[(33,)](out, x, 1000, BLOCK=1024)
    torch.testing.assert_close(out, torch.softmax(x, 1))

    for dtype in (torch.float16, torch.bfloat16):
        a, b = registered("a", torch.randn(100, 128).to(dtype)), registered("b", torch.randn(128, 72).to(dtype))
        c = registered("c", torch.empty(100, 72))
        matmul_kernel[(2, 2)](a, b, c, 100, 72, 128, BM=64, BN=64, BK=32)
        torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-4, atol=1e-4)

    rows = registered("rows", torch.randint(-1000, 1000, (5, 256), dtype=torch.int32))
    expected = rows.sort(1).values
    sort_kernel[(5,)](rows, COLUMNS=256)
    torch.testing.assert_close(rows, expected)

    values = registered("values", torch.randint(0, 16, (1000,), dtype=torch.int32))
    counts = registered("counts", torch.zeros(16, dtype=torch.int32))
    histogram_kernel[(4,)](values, counts, 1000, BLOCK=256, BINS=16)
    torch.testing.assert_close(counts, torch.bincount(values, minlength=16).int())
    print("all right")


if __name__ == "__main__":
    main()
