# SPDX-License-Identifier: Apache-2.0
"""What happens to the sums of a tile before they are stored: scales, bias, activation, residual, cast, store.

result = cast(act(sum * scale_a[m] * scale_b[n] + bias[n]) + residual[m, n])        everything but the cast in f32
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..arch import architecture
from ..convert import round_to
from ..functions import UNARY
from ..language import fx
from .cshuffle_epilogue import c_shuffle_epilog, default_epilog, mfma_epilog

__all__ = [
    "ACTIVATIONS",
    "EPILOGUES",
    "Epilogue",
    "activate",
    "c_shuffle_epilog",
    "default_epilog",
    "mfma_epilog",
    "parse_epilogue",
    "store_columns",
]

_FUNCTIONS = {"none": None, "relu": "relu", "silu": "silu", "gelu": "gelu_tanh"}
ACTIVATIONS = tuple(_FUNCTIONS)
EPILOGUES = ("none", "bias", "bias_relu", "bias_silu", "bias_gelu")


@dataclass(frozen=True)
class Epilogue:
    """What to do with a sum.

    Attributes:
        scaled: multiply by scale_a of the row and scale_b of the column (f32).
        bias: add bias of the column (in the output's type).
        activation: one of `ACTIVATIONS`.
        residual: add the element of a tensor like the output.
    """

    scaled: bool = False
    bias: bool = False
    activation: str = "none"
    residual: bool = False


def parse_epilogue(name: str, *, scaled: bool) -> Epilogue:
    """The epilogue that a builder's argument names; ValueError for a name that is none of `EPILOGUES`."""
    if name not in EPILOGUES:
        raise ValueError(f"epilogue {name!r} is not supported; use one of {', '.join(EPILOGUES)}")
    bias, _, activation = name.partition("_")
    return Epilogue(scaled, bias == "bias", activation or "none")


def activate(values: Any, activation: str) -> Any:
    """An activation of a vector of f32: relu, silu, or gelu in its tanh form, which is within 5e-4 of the exact one."""
    if activation not in _FUNCTIONS:
        raise ValueError(f"activation {activation!r} is not supported; use one of {', '.join(ACTIVATIONS)}")
    name = _FUNCTIONS[activation]
    return values if name is None else UNARY[name](values)


def finish(epilogue: Epilogue, sums: Any, scale_a: Any, scale_b: Any, bias: Any, residual: Any, output: Any) -> Any:
    """Turn the sums of one row, neighbouring columns, into results.

    Args:
        epilogue: which of the others are used.
        sums: an f32 or i32 vector.
        scale_a: f32, of the row.
        scale_b: f32 vector, of the columns.
        bias: vector of the columns.
        residual: vector of the same elements.
        output: the type of the results.
    """
    values = sums.to(fx.Float32)
    if epilogue.scaled:
        values = values * (scale_b * scale_a)
    if epilogue.bias:
        values = values + bias.to(fx.Float32)
    values = activate(values, epilogue.activation)
    if epilogue.residual:
        values = values + residual.to(fx.Float32)
    return round_to(values, output)


def usual_nan(scales: Any) -> Any:
    """f32 with the usual NaN for each NaN: `round_to` would take one whose bits are all set for a number."""
    if architecture().converts_bf16:
        return scales
    return (scales == scales).select(scales, math.nan)


@dataclass(frozen=True)
class OutputTile:
    """Where one wave's part of a tile goes, and what its epilogue reads; resources end where the tensors end.

    Attributes:
        output: type of the elements.
        c_stride, residual_stride: elements from one row to the next.
        c, residual: resources that begin at the tile's first row and column.
        scale_a: resource that begins at the tile's first row.
        scale_b, bias: resources that begin at the tile's first column.
        row, column: the wave's first row and column in the tile.
        columns: how many columns the output has from the tile's first one on; None when the tile is inside it.
        apart: from one of the wave's row blocks to the next, and from one of its column blocks to the next.
    """

    output: Any
    c_stride: Any
    residual_stride: Any
    c: Any
    residual: Any
    scale_a: Any
    scale_b: Any
    bias: Any
    row: Any
    column: Any
    columns: Any = None
    apart: tuple[int, int] = (16, 16)


def store_columns(tile: OutputTile, epilogue: Epilogue, sums: dict[tuple[int, int], Any], lane: Any) -> None:
    """Finish and store the sums that `main_loop.sum_over_k` gives: 4 neighbouring columns of a row at once.

    Rows past the end of the output are stored nowhere: its resource ends there.
    """
    row, column = tile.row + lane % 16, tile.column + lane // 16 * 4
    size = tile.output.width // 8
    c_row = row * tile.c_stride
    for m, n, result in finished_columns(tile, epilogue, sums, lane):
        at = column + n * tile.apart[1]
        offset = inside(tile, at, (c_row + tile.c_stride * (m * tile.apart[0]) + at) * size)
        fx.rocdl.raw_ptr_buffer_store(result.bitcast(fx.Int32), tile.c, offset)


def finished_columns(
    tile: OutputTile, epilogue: Epilogue, sums: dict[tuple[int, int], Any], lane: Any
) -> Iterator[tuple[int, int, Any]]:
    """(row block, column block, 4 neighbouring results of a row) of all sums, row block by row block."""
    row, column = tile.row + lane % 16, tile.column + lane // 16 * 4
    blocks = sorted({n for _, n in sums})
    size = tile.output.width // 8
    four = fx.VectorAlias(tile.output, 4)
    scales_b, biases = {}, {}
    for n in blocks:
        at = column + n * tile.apart[1]
        scales_b[n] = usual_nan(_load(fx.Float32x4, tile.scale_b, at * 4)) if epilogue.scaled else None
        biases[n] = _load(four, tile.bias, at * size) if epilogue.bias else None
    residual_row = row * tile.residual_stride
    for m in sorted({m for m, _ in sums}):
        at_row = row + m * tile.apart[0]
        scale_a = usual_nan(_load(fx.Float32, tile.scale_a, at_row * 4)) if epilogue.scaled else None
        for n in blocks:
            at = column + n * tile.apart[1]
            residual = None
            if fx.const_expr(epilogue.residual):
                other = inside(tile, at, (residual_row + tile.residual_stride * (m * tile.apart[0]) + at) * size)
                residual = _load(four, tile.residual, other)
            yield m, n, finish(epilogue, sums[m, n], scale_a, scales_b[n], biases[n], residual, tile.output)


def inside(tile: OutputTile, column: Any, offset: Any) -> Any:
    """The offset, or where the column is past the output's last one, an offset past the end of every resource."""
    return offset if tile.columns is None else (column < tile.columns).select(offset, -1)


def _load(kind: Any, resource: Any, offset: Any) -> Any:
    value = fx.rocdl.raw_ptr_buffer_load(kind, resource, offset)
    return fx.Float32(value) if kind is fx.Float32 else fx.Vector(value)
