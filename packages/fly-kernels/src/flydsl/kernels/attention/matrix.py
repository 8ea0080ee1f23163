# SPDX-License-Identifier: Apache-2.0
"""The two products of attention as tiled MMAs, and the conversions around them.

All that differs between gfx942 and gfx950 is in this file. A wave computes S^T = K Q^T and O^T += V^T P^T on tiles of
32 x 32, in steps of 16 along the contracted mode: one matrix instruction on gfx950 (K = 16), two on gfx942 (K = 8). In
a step a lane has 8 elements of one row of each operand, which it reads at once.

The contracted mode of the second product is permuted, so that a lane's keys in P^T are those that it has of S^T: the
accumulator of the first product is the operand of the second, register by register (`ThrMma.retile_B`).
"""

from __future__ import annotations

import math
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import fx

TILE = 32  # rows and columns of a matrix instruction
STEP = 16  # contracted elements that a lane reads its operands for at once
FRAGMENT = 8  # of which it has so many
LANES = 64


def _gfx950() -> bool:
    return get_rocm_arch().startswith("gfx950")


def instruction_depth() -> int:
    """Contracted elements of one matrix instruction."""
    return STEP if _gfx950() else STEP // 2


def score_product(element: Any) -> fx.TiledMma:
    """The tiled MMA of a wave for S^T = K Q^T; in a step a lane has 8 neighbouring elements of a key and of a query."""
    # Where a step is two instructions, the first takes the first four of the eight.
    return _tiled(element, None if _gfx950() else fx.make_layout((4, 2, 2), (1, 8, 4)))


def value_product(element: Any) -> fx.TiledMma:
    """The tiled MMA of a wave for O^T += V^T P^T; in a step half h has keys 4 h to 4 h + 3 and 8 + 4 h to 11 + 4 h."""
    return _tiled(element, fx.make_layout((4, 2, 2), (1, 8, 4)) if _gfx950() else STEP)


def _tiled(element: Any, order: Any) -> fx.TiledMma:
    atom = fx.make_mma_atom(fx.rocdl.MFMA(TILE, TILE, instruction_depth(), element))
    return fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)), (None, None, order))


def in_steps(fragment: fx.Tensor) -> Any:
    """The fragment (V, M or N, K) of an operand with K as (instructions of a step, steps)."""
    return fx.logical_divide(fragment, fx.make_tile(None, None, STEP // instruction_depth()))


def by_mode(part: fx.Tensor) -> fx.Tensor:
    """A partition with each mode as simple as it is: 8 neighbours are one mode, however the keys are ordered."""
    return fx.make_view(part.iter, fx.coalesce(part.layout, (1,) * part.rank))


def truncation_gain(element: Any) -> float:
    """The factor that makes up for `pack` rounding towards zero: 1 plus the mean relative loss of a truncation.

    A significand m in [1, 2) with p bits loses 2^-p / m in the mean; over a logarithmically uniform m that is
    2^-p / (2 ln 2). 1 where `pack` rounds to nearest.
    """
    if element is fx.BFloat16:
        return 1.0 if _gfx950() else 1.0 + 2.0**-8 / (2 * math.log(2))
    return 1.0 + 2.0**-11 / (2 * math.log(2))


def pack(values: Any, element: Any) -> Any:
    """Convert an f32 Vector of even length to `element`, one instruction for two values.

    bf16 on gfx950 rounds to nearest even (v_cvt_pk_bf16_f32). bf16 on gfx942 keeps the upper halves (v_perm_b32), f16
    rounds towards zero (v_cvt_pkrtz_f16_f32); multiply by `truncation_gain` before.
    """
    pairs = range(0, values.numel, 2)
    if element is fx.BFloat16:
        if _gfx950():
            return values.to(fx.BFloat16)
        bits = values.bitcast(fx.Int32)
        words = [fx.rocdl.perm_b32(bits[i + 1], bits[i], 0x07060302) for i in pairs]
        return fx.Vector.from_elements(words).bitcast(fx.BFloat16)
    kind = fx.Vector.make_type(2, fx.Float16)
    halves = [
        fx.Vector(fx.rocdl.cvt_pkrtz(kind, values[i].ir_value(), values[i + 1].ir_value())).bitcast(fx.Int32)[0]
        for i in pairs
    ]
    return fx.Vector.from_elements(halves).bitcast(fx.Float16)


def exp2(values: Any) -> Any:
    """2 to the power of each element of an f32 Vector: v_exp_f32, which takes results below 2^-126 to zero."""
    kind = fx.Float32.ir_type
    return fx.Vector.from_elements([fx.Float32(fx.rocdl.exp2(kind, x.ir_value())) for x in values])
