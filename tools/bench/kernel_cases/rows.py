# SPDX-License-Identifier: Apache-2.0
"""Softmax, LayerNorm and RMSNorm over rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .model import TORCH, Case, TritonKernel, bytes_of, largest_error, normal, power_of_two

ROWS = 16
COLUMNS = (1024, 2000, 8192)
EPS = 1e-5
# Absolute, and relative to the result: a unit in the last place, and what f32 sums differ by.
TOLERANCE = {"f32": (1e-5, 1e-5), "f16": (1e-3, 1e-3), "bf16": (8e-3, 8e-3)}


def _candidates(kernel: str, arguments: dict[str, Any], columns: int) -> tuple[TritonKernel, ...]:
    block = power_of_two(columns)
    return tuple(
        TritonKernel(kernel, arguments, {"COLUMNS": columns, "BLOCK": block}, (ROWS, 1, 1), warps)
        for warps in (1, 2, 4, 8, 16)
    )


def cases(arch: str) -> Iterator[Case]:
    """All three for each dtype and length; the peer has figures for 1024 and 8192."""
    del arch
    from flydsl.kernels.norm.layernorm_kernel import build_layernorm_module
    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
    from flydsl.kernels.norm.softmax_kernel import build_softmax_module

    builders = {"softmax": build_softmax_module, "layernorm": build_layernorm_module, "rmsnorm": build_rmsnorm_module}
    for operation, builder in builders.items():
        for columns in COLUMNS:
            for dtype in TORCH:
                yield _case(operation, builder, columns, dtype)


def _case(operation: str, builder: Any, columns: int, dtype: str) -> Case:
    kind = TORCH[dtype]
    x, y = normal(ROWS, columns, dtype=kind), torch.empty(ROWS, columns, dtype=kind)
    weight, bias = normal(columns, dtype=kind, seed=1), normal(columns, dtype=kind, seed=2)
    tensors = {"x": x, "weight": weight, "bias": bias}
    used = {"softmax": ("x",), "layernorm": ("x", "weight", "bias"), "rmsnorm": ("x", "weight")}[operation]
    tensors = {name: tensors[name] for name in used}
    inputs = tuple(tensors.values())
    expected = _expected(operation, x.double(), weight.double(), bias.double())
    triton = {**tensors, "y": y, **({} if operation == "softmax" else {"eps": EPS})}

    def build() -> Any:
        return builder(ROWS, columns, dtype) if operation == "softmax" else builder(columns, dtype)

    return Case(
        operation=operation,
        dtype=dtype,
        shape=f"{ROWS}x{columns}",
        build=build,
        arguments=(*inputs, y, ROWS),
        outputs=(y,),
        error=lambda: largest_error(y, expected, *TOLERANCE[dtype]),
        least_bytes=bytes_of(x, y) + ROWS * bytes_of(*inputs[1:]),  # weights: once for the workgroup of each row
        triton=_candidates(operation, triton, columns),
        peer=f"{operation}_n{columns}_{dtype}",
    )


def _expected(operation: str, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    if operation == "softmax":
        return torch.softmax(x, -1)
    if operation == "rmsnorm":
        return x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight
    centred = x - x.mean(-1, keepdim=True)
    return centred * (centred.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight + bias
