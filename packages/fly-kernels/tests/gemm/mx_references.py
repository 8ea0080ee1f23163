# SPDX-License-Identifier: Apache-2.0
"""Operands with E8M0 scales, bit by bit in NumPy, their exact products, and what roundings of f32 can make of them."""

import numpy as np
import torch
from references import FLOATS, HALF_ULP

from flydsl.kernels.common.scale_shuffle import shuffle_scale
from flydsl.kernels.common.shuffle import shuffle_weight


def small_float(code, exponent_bits, mantissa_bits, bias):
    """The numbers of sign, exponent and mantissa without infinities or NaN, denormals included."""
    code = np.asarray(code, np.int64)
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    sign = 1 - 2 * (code >> (mantissa_bits + exponent_bits) & 1)
    hidden = np.where(exponent > 0, 1 << mantissa_bits, 0)
    return sign * (hidden + mantissa) * 2.0 ** (np.maximum(exponent, 1) - bias - mantissa_bits)


def e8m0(code):
    """2^(code - 127); NaN for 255."""
    code = np.asarray(code, np.int64)
    return np.where(code == 255, np.nan, np.exp2(code.astype(np.float64) - 127))


def unpack(kind, stored):
    """The numbers of rows of bytes, see `mx_gemm`."""
    stored = np.asarray(stored)
    if kind == "fp4":
        return small_float(np.stack([stored & 15, stored >> 4], -1).reshape(len(stored), -1), 2, 1, 1)
    if kind == "fp6":
        used = stored.reshape(len(stored), -1, 32)[..., :24]
        bits = np.unpackbits(used, axis=-1, bitorder="little").reshape(*used.shape[:2], 32, 6)
        return small_float((bits * (1 << np.arange(6))).sum(-1).reshape(len(stored), -1), 2, 3, 1)
    dtype = torch.float8_e4m3fn if kind == "fp8" else torch.float8_e5m2
    return torch.from_numpy(stored).view(dtype).double().numpy()


def random_bytes(kind, rows, K, rng):
    """Rows of K elements of a format: every code of 4 and 6 bits (what pads these, too), normal ones of 8 bits."""
    if kind in ("fp4", "fp6"):
        return rng.integers(0, 256, (rows, K // 2 if kind == "fp4" else K)).astype(np.uint8)
    dtype = torch.float8_e4m3fn if kind == "fp8" else torch.float8_e5m2
    return torch.from_numpy(rng.standard_normal((rows, K))).to(dtype).view(torch.uint8).numpy()


class MxProblem:
    """Random operands of C = A B^T with E8M0 scales."""

    def __init__(self, M, N, K, a_format, b_format, out_dtype="bf16", seed=0):
        rng = np.random.default_rng(seed)
        self.M, self.N, self.K, self.out_dtype = M, N, K, out_dtype
        self.formats = a_format, b_format
        self.a, self.b = (random_bytes(kind, rows, K, rng) for kind, rows in ((a_format, M), (b_format, N)))
        self.scale_a, self.scale_b = (rng.integers(112, 127, (rows, K // 32)).astype(np.uint8) for rows in (M, N))

    def output(self):
        return torch.empty(self.M, self.N, dtype=FLOATS[self.out_dtype])

    def tensors(self, *, shuffled=True):
        """A, B, scale_a, scale_b as a kernel gets them."""
        a, b = torch.from_numpy(self.a), torch.from_numpy(self.b)
        scales = [shuffle_scale(torch.from_numpy(one)) for one in (self.scale_a, self.scale_b)]
        return a, shuffle_weight(b) if shuffled else b, *scales

    def exact(self):
        """(C, the sum of magnitudes) in float64."""
        a, b = (
            unpack(kind, stored) * np.repeat(e8m0(scale), 32, 1)
            for kind, stored, scale in zip(self.formats, (self.a, self.b), (self.scale_a, self.scale_b), strict=True)
        )
        return a @ b.T, np.abs(a) @ np.abs(b).T

    def check(self, c, bias=0.0):
        expected, magnitude = self.exact()
        expected = expected + bias
        error = magnitude * self.K * 2.0**-24 + np.abs(expected) * (HALF_ULP[self.out_dtype] + 2.0**-22) + 2.0**-24
        excess = np.nan_to_num(np.abs(c.double().numpy() - expected) - error, nan=np.inf)
        assert excess.max() <= 0, f"element {np.unravel_index(excess.argmax(), excess.shape)} is off by {excess.max()}"
