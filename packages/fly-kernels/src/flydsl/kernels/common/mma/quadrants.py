# SPDX-License-Identifier: Apache-2.0
"""What `quadrant_loop` and `scaled_quadrant_loop` share: how an operand lies in memory and in LDS, which rows lanes
have, and how sums become results."""

from __future__ import annotations

from ..black_box import black_box_vector
from ..language import fx
from .loop_plan import TiledLoop

__all__ = [
    "HALVES",
    "ROWS",
    "RUN",
    "SUMS",
    "moves_of_half",
    "operand_layout",
    "result_runs",
    "row_of_lane",
    "turn_of_row",
]

HALVES = 2
"""Parts of the rows of an operand that are replaced in LDS each on its own."""

ROWS = 32
"""Of a matrix instruction."""

RUN = 8
"""Neighbouring columns of a lane."""

SUMS = 16
"""Of a lane in a block of `ROWS` x `ROWS`."""


def moves_of_half(loop: TiledLoop, operand: int, chunks: int) -> int:
    """Loads with which a thread brings its part of a half of A (0) or B (1), `chunks` packs of 16 bytes a row."""
    return loop.tile[operand] // HALVES * chunks // loop.threads


def operand_layout(
    loop: TiledLoop, operand: int, row: int | fx.Numeric, *, pack: int, chunks: int, shuffled: bool
) -> fx.Layout:
    """The layout (pack, (packs of a step, steps), (rows of a load, loads of a half, halves)) of A (0) or B (1).

    Args:
        row: elements from one row to the next, also in the order of `shuffle_weight`.
        pack: elements in 16 bytes.
        chunks: packs of a row in a step.
        shuffled: rows are in that order.
    """
    at_once, half, packs = loop.threads // chunks, loop.tile[operand] // HALVES, (chunks, loop.steps)
    moves = moves_of_half(loop, operand, chunks)
    if shuffled:
        blocks = (16, at_once // 16), moves, HALVES
        apart = (pack, 16 * row), row * at_once, row * half
        return fx.make_layout((pack, packs, blocks), (1, (16 * pack, 16 * pack * chunks), apart))
    shape, strides = (at_once, moves, HALVES), (row, row * at_once, row * half)
    return fx.make_layout((pack, packs, shape), (1, (pack, pack * chunks), strides))


def row_of_lane(operand: int, lane: fx.Int32) -> fx.Int32:
    """The row of a block that a lane has: of 16 rows of B the second and third 4 change places, so that a lane has
    `RUN` neighbouring columns of the result, not 4 and 4."""
    row = lane % ROWS
    line: fx.Int32 = row % 4 + row // 4 % 2 * 8 + row // 8 % 2 * 4 + row // 16 * 16 if operand else row
    return line


def turn_of_row(line: fx.Int32, chunks: int) -> fx.Int32:
    """By which exclusive or the packs of row `line` change places in LDS, so that reads of 16 neighbouring rows, of
    `chunks` packs each, meet no bank twice."""
    packs: fx.Int32 = line // (16 // chunks) % chunks
    return packs


def result_runs(sums: fx.Tensor) -> list[fx.Vector]:
    """The sums of a block, in runs of neighbouring columns."""
    # Else LLVM moves products of the last step behind the conditions of the epilogue.
    values = black_box_vector(sums.load())
    return [values.shuffle(values, list(range(first, first + RUN))) for first in range(0, SUMS, RUN)]
