# SPDX-License-Identifier: Apache-2.0
"""The products of `warp_gemm` that tests look at: types, and how the operands lie."""

import functools

import numpy as np
import pytest
import torch
from artifact_ptx import ptx_of_the_last
from warp_gemm import compile_warp_gemm

import flydsl.expr as fx

DTYPES = {
    "BFloat16": torch.bfloat16, "Float16": torch.float16, "Float32": torch.float32, "Int8": torch.int8,
    "Float8E4M3FN": torch.float8_e4m3fn, "Float8E5M2": torch.float8_e5m2,
}  # fmt: skip

# {what: (elements of A, the rest of what compile_warp_gemm takes)}
PRODUCTS = {
    "bf16": ("BFloat16", {}),
    "bf16 short": ("BFloat16", {"k": 8}),
    "f16": ("Float16", {}),
    "f16 short": ("Float16", {"k": 8}),
    "f16 in f16": ("Float16", {"accumulator": "Float16"}),
    "tf32": ("Float32", {}),
    "tf32 short": ("Float32", {"k": 4}),
    "i8": ("Int8", {}),
    "i8 short": ("Int8", {"k": 16}),
    "e4m3": ("Float8E4M3FN", {}),
    "e5m2": ("Float8E5M2", {}),
    "e4m3 with e5m2": ("Float8E4M3FN", {"other": "Float8E5M2"}),
    "A along M": ("BFloat16", {"m_major": True}),
    "B along N": ("Float16", {"n_major": True}),
    "both": ("BFloat16", {"m_major": True, "n_major": True}),
    "both short": ("Float16", {"m_major": True, "n_major": True, "k": 8}),
    "C along M": ("BFloat16", {"m_major_result": True}),
}


def operands(what, m, n, k, seed=0):
    """Small integers as f32, A (M, K) and B (N, K), and both as the product takes them."""
    element, options = PRODUCTS[what]
    numbers = np.random.default_rng(seed)
    a, b = (numbers.integers(-3, 4, (rows, k)).astype(np.float32) for rows in (m, n))
    given = [
        torch.from_numpy(np.ascontiguousarray(one.T if turned else one)).to(DTYPES[name])
        for one, name, turned in (
            (a, element, options.get("m_major")), (b, options.get("other", element), options.get("n_major")),
        )
    ]  # fmt: skip
    return a, b, given


def extents(what):
    """M, N and K that fill no tile; the extents along which tensors lie are multiples of 16 bytes."""
    element, options = PRODUCTS[what]
    m = 72 if options.get("m_major") or options.get("m_major_result") else 77
    return m, 136, {4: 52, 2: 104, 1: 208}[DTYPES[element].itemsize]


@functools.cache
def program(what):
    """The compiled product, and the boxes of its tensor maps: (rows, columns)."""
    element, options = PRODUCTS[what]
    boxes = []

    def make_tensor_map(tensor, box, swizzle, *, make=fx.nvgpu.make_tensor_map, **others):
        boxes.append(tuple(box))
        return make(tensor, box, swizzle, **others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fx.nvgpu, "make_tensor_map", make_tensor_map)
        m, n, k = extents(what)
        _, _, given = operands(what, m, n, k)
        c = torch.empty((n, m) if options.get("m_major_result") else (m, n), dtype=torch.bfloat16)
        compile_warp_gemm(element, **options)(c, *given)
    return ptx_of_the_last(), boxes
