# SPDX-License-Identifier: Apache-2.0
"""The ROCm library inside the wheel `bitsandbytes`, as it was built: a fat binary whose kernels AMD's compiler made.

    python bitsandbytes_client.py EMULATOR LIBRARY

It needs HIP's functions and those of hipBLAS: the emulator is in the process before it, and the folder of
LD_LIBRARY_PATH has empty libraries by the names of the others (nothing here multiplies matrices through them).
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_bool, c_float, c_int, c_long, c_void_p
from typing import Any

import numpy as np

EMULATOR = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
LIBRARY = ctypes.CDLL(sys.argv[2])
EMULATOR.flyemu_last_error.restype = ctypes.c_char_p
RNG = np.random.default_rng(0)
NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
], np.float32)  # fmt: skip


def device(values: np.ndarray) -> c_void_p:
    pointer = c_void_p()
    assert EMULATOR.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(values.nbytes)) == 0
    assert EMULATOR.hipMemcpy(pointer, values.ctypes.data_as(c_void_p), ctypes.c_size_t(values.nbytes), 1) == 0
    return pointer


def host(pointer: c_void_p, like: np.ndarray) -> np.ndarray:
    values = np.empty_like(like)
    assert EMULATOR.hipMemcpy(values.ctypes.data_as(c_void_p), pointer, ctypes.c_size_t(like.nbytes), 2) == 0
    return values


def call(name: str, *arguments: Any) -> None:
    getattr(LIBRARY, name)(*arguments)
    assert EMULATOR.hipDeviceSynchronize() == 0
    assert EMULATOR.flyemu_last_error() == b"", EMULATOR.flyemu_last_error()


def quantised(weights: np.ndarray, block: int) -> tuple[c_void_p, c_void_p, np.ndarray]:
    """NF4 codes and scales on the device, and what they stand for."""
    n = weights.size
    scales, codes = device(np.zeros(n // block, np.float32)), device(np.zeros(n // 2, np.uint8))
    call("cquantize_blockwise_fp32_nf4", None, device(weights), scales, codes, c_int(block), c_int(n))
    packed, scale = host(codes, np.zeros(n // 2, np.uint8)), host(scales, np.zeros(n // block, np.float32))
    np.testing.assert_array_equal(scale, abs(weights.reshape(-1, block)).max(1))
    values = NF4[np.stack([packed >> 4, packed & 15], 1)].reshape(-1, block) * scale[:, None]
    nearest = abs(weights.reshape(-1, block, 1) / scale[:, None, None] - NF4).min(2)
    error = abs(values - weights.reshape(-1, block)) / scale[:, None]
    assert (error - nearest).max() < 1e-5
    back = device(np.zeros(n, np.float32))
    call("cdequantize_blockwise_fp32_nf4", None, codes, scales, back, c_int(block), c_int(n), None)
    np.testing.assert_allclose(host(back, weights), values.reshape(weights.shape), rtol=1e-6)
    return codes, scales, values.reshape(weights.shape)


def four_bits() -> None:
    for block in (64, 128, 256, 4096):
        quantised(RNG.standard_normal(16384).astype(np.float32), block)
    codes, scales, weights = quantised(RNG.standard_normal((128, 512)).astype(np.float32), 64)
    a, out = RNG.standard_normal((1, 512)).astype(np.float16), np.zeros((1, 128), np.float16)
    result = device(out)
    sizes = [c_int(128), c_int(1), c_int(512)]
    call("cgemm_4bit_inference_naive_fp16", *sizes, device(a), codes, scales, device(NF4), result, c_int(128),
         c_int(256), c_int(128), c_int(64), None)  # fmt: skip
    np.testing.assert_allclose(host(result, out), a.astype(np.float32) @ weights.T, rtol=0.02, atol=0.05)


def eight_bits() -> None:
    n, block = 16384, 256
    values = RNG.standard_normal(n).astype(np.float32)
    code = np.sort(np.concatenate([np.linspace(-1, 1, 255), [0]])).astype(np.float32)
    scales, out = device(np.zeros(n // block, np.float32)), device(np.zeros(n, np.uint8))
    call("cquantize_blockwise_fp32", device(code), device(values), scales, out, c_int(block), c_int(n))
    scale = np.repeat(host(scales, np.zeros(n // block, np.float32)), block)
    error = abs(values / scale - code[host(out, np.zeros(n, np.uint8))])
    assert (error - abs(values[:, None] / scale[:, None] - code).min(1)).max() < 1e-6

    rows = RNG.standard_normal((33, 500)).astype(np.float16)
    stats, quantised_rows = device(np.zeros(33, np.float32)), device(np.zeros((33, 500), np.int8))
    call("cint8_vector_quant", device(rows), quantised_rows, stats, c_float(0), c_int(33), c_int(500), None)
    largest = abs(rows.astype(np.float32)).max(1)
    np.testing.assert_array_equal(host(stats, np.zeros(33, np.float32)), largest)
    expected = np.rint(rows.astype(np.float32) * 127 / largest[:, None])
    assert abs(host(quantised_rows, np.zeros((33, 500), np.int8)) - expected).max() <= 1


def optimiser() -> None:
    n = 5000
    g, p, first, second = (RNG.standard_normal(n).astype(np.float32) for _ in range(4))
    second = abs(second)
    pointers = [device(v) for v in (g, p, first, second)]
    numbers = [c_float(v) for v in (0, 0, 0.9, 0.99, 0, 0, 1e-8, 0)]
    call(
        "cadam32bit_grad_fp32", *pointers, None, *numbers, c_int(3), c_float(1e-3), c_float(1), c_bool(False), c_int(n)
    )
    mean, variance = 0.9 * first + 0.1 * g, 0.99 * second + 0.01 * g * g
    unbiased = np.sqrt(1 - 0.99**3)
    expected = p - 1e-3 * unbiased / (1 - 0.9**3) * mean / (np.sqrt(variance) + 1e-8 * unbiased)
    np.testing.assert_allclose(host(pointers[2], first), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(host(pointers[1], p), expected, rtol=1e-5, atol=1e-6)


def managed() -> None:
    LIBRARY.cget_managed_ptr.restype = c_void_p
    memory = LIBRARY.cget_managed_ptr(ctypes.c_size_t(4096))
    call("cfill_fp32", c_void_p(memory), None, c_float(3.5), c_long(1024))
    assert set(np.ctypeslib.as_array((c_float * 1024).from_address(memory))) == {3.5}


if __name__ == "__main__":
    four_bits()
    eight_bits()
    optimiser()
    managed()
    print("all right")
