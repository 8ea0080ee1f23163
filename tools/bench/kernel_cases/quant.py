# SPDX-License-Identifier: Apache-2.0
"""Quantisation with one scale per token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .model import TORCH, Case, TritonKernel, bytes_of, float8, normal, power_of_two

ROWS = 16
COLUMNS = (1024, 8192)


def cases(arch: str) -> Iterator[Case]:
    """16-bit rows to int8 and fp8."""
    for columns in COLUMNS:
        for dtype in ("bf16", "f16"):
            for code in ("int8", "fp8"):
                yield _case(arch, columns, dtype, code)


def _case(arch: str, columns: int, dtype: str, code: str) -> Case:
    from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

    kind, largest = (torch.int8, 127.0) if code == "int8" else float8(arch)
    x = normal(ROWS, columns, dtype=TORCH[dtype])
    y, scales = torch.empty(ROWS, columns, dtype=kind), torch.empty(ROWS)

    def build() -> Any:
        return build_per_token_quant_module(columns, dtype, code)

    def error() -> float:
        """Against one step of the code: half of it is rounding, the rest where a value lies in the middle."""
        expected = x.double().abs().amax(-1, keepdim=True) / largest
        if (scales.double()[:, None] / expected - 1).abs().max() > 1e-6:
            return float("inf")
        step = expected if code == "int8" else (x.double().abs() / 8).clamp_min(0.0) + expected * 2.0**-9
        distance = (y.double() * scales.double()[:, None] - x.double()).abs() / (0.51 * step)
        return float("inf") if distance.isnan().any() else float(distance.max())

    arguments = {"x": x, "y": y, "scales": scales}
    block = power_of_two(columns)
    return Case(
        operation="quantise",
        dtype=f"{dtype} to {code}",
        shape=f"{ROWS}x{columns}",
        build=build,
        arguments=(x, y, scales, ROWS),
        outputs=(y, scales),
        error=error,
        least_bytes=bytes_of(x, y, scales),
        triton=tuple(
            TritonKernel(
                "quant", arguments, {"LARGEST": largest, "COLUMNS": columns, "BLOCK": block}, (ROWS, 1, 1), warps
            )
            for warps in (1, 2, 4, 8, 16)
        ),
    )
