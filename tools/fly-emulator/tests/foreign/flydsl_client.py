# SPDX-License-Identifier: Apache-2.0
"""Another compiler of this project's language (the wheel `flydsl`), with its own HIP runtime, on the emulator.

The kernels are those of tools/bench/shared_kernels.py, which both compilers take as they are. Torch's CPU tensors are
made device memory by hipHostRegister, as any HIP client would.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

import torch

HIP = ctypes.CDLL(str(Path(os.environ["ROCM_PATH"]) / "lib" / "libamdhip64.so.7"), mode=ctypes.RTLD_GLOBAL)

import flydsl.compiler as flyc  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
from shared_kernels import KERNELS  # noqa: E402

kept: list[torch.Tensor] = []


def device(tensor: torch.Tensor) -> torch.Tensor:
    size = ctypes.c_size_t(tensor.numel() * tensor.element_size())
    assert HIP.hipHostRegister(ctypes.c_void_p(tensor.data_ptr()), size, 0) == 0
    kept.append(tensor)  # registered memory must not be used for something else
    return tensor


def search(x: torch.Tensor) -> torch.Tensor:
    """What `branches` does with sorted numbers, one after the other."""
    out = torch.zeros_like(x)
    for i, value in enumerate(x):
        low, high, steps = 0, len(x), 0
        while low < high:
            middle = (low + high) // 2
            steps += 1
            low, high = (middle + 1, high) if x[middle] < value else (low, middle)
        total = torch.tensor(0.0)
        for k in range(steps):
            total = (total + value, total - value, total * value)[k % 3]
        out[i] = total if low < len(x) else 0.0
    return out


def polynomial(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros_like(x, dtype=torch.float64)
    for k in range(200):
        total = total * x.double() + k * x.double().sqrt()
    return total.float()


def matrices(m: int, n: int, k: int) -> tuple[torch.Tensor, ...]:
    a, b = (device(torch.randn(rows, k).half()) for rows in (m, n))
    return a, b, device(torch.zeros(m, n))


def run(name: str, launch: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """What the kernel gives, and what it has to."""
    exact = flyc.from_dlpack
    if name == "vector_add":
        a, b, c = (device(torch.randn(1000)) for _ in range(3))
        launch(a, b, c, 1000)
        return c, a + b
    if name == "copy_tiles":
        a, b = (device(torch.randn(128, 256)) for _ in range(2))
        launch(exact(a), exact(b))
        return b, a
    if name == "tiled_gemm":
        a, b, c = matrices(256, 256, 256)
        launch(exact(a), exact(b), exact(c), 8)
        return c, a.float() @ b.float().T
    if name == "lds_gemm":
        a, b, c = matrices(128, 128, 256)
        launch(exact(a), exact(b), exact(c))
        return c, a.float() @ b.float().T
    if name == "row_sums":
        x, y = device(torch.randn(16, 4096)), device(torch.zeros(16))
        launch(x, y)
        return y, x.square().sum(1).sqrt()
    if name == "unrolled_polynomial":
        x, y = device(torch.rand(1024) * 0.9), device(torch.zeros(1024))
        launch(x, y)
        return y, polynomial(x)
    assert name == "branches", f"what {name} computes is not known here"
    x, y = device(torch.randn(1024).sort().values), device(torch.zeros(1024))
    launch(x, y, 1024)
    return y, search(x)


def main() -> None:
    torch.manual_seed(0)
    for name, make in KERNELS.items():
        launch, _ = make()
        got, expected = run(name, launch)
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-4, msg=lambda text, name=name: f"{name}: {text}")
        print(name)
    print("all right")


if __name__ == "__main__":
    main()
