# SPDX-License-Identifier: Apache-2.0
"""The two products of attention as tiled MMAs, and the conversions around them.

All that differs between chips is in this file. A wave computes S^T = K Q^T and O^T += V^T P^T on square tiles, in steps
of 16 along the contracted mode; in a step a lane has neighbouring elements of one row of each operand, which it reads
at once.

    gfx942   tiles of 32 x 32, 64 lanes   two instructions a step (K = 8), 8 elements of a row
    gfx950   tiles of 32 x 32, 64 lanes   one instruction a step, 8 elements of a row
    gfx1201  tiles of 16 x 16, 32 lanes   one instruction a step, 8 elements of a row
    gfx1100  tiles of 16 x 16, 32 lanes   one instruction a step, all 16 elements of a row in both halves of the wave

The contracted mode of the second product is permuted, so that a lane's keys in P^T are those that it has of S^T: the
accumulator of the first product is the operand of the second, register by register (`ThrMma.retile_B`). On gfx1100 the
halves of a wave have different keys of S^T and need all of P^T: they exchange what they have. There the rows of results
are permuted, too, so that a lane has neighbouring ones as on gfx1201.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import architecture
from ..common.language import fx

STEP = 16  # contracted elements that a lane reads its operands for at once
_PAIRS_OF_FOUR = (4, 2, 2), (1, 8, 4)  # keys of a step: 0 to 3, 8 to 11, 4 to 7, 12 to 15


@dataclass(frozen=True)
class Geometry:
    """The matrix instruction of a chip, as attention uses it.

    Attributes:
        tile: rows and columns of a result.
        lanes: of a wave.
        depth: contracted elements.
        neighbours: rows of a result that follow each other in a lane.
        keys: the order in which a row of V^T has the keys of a step, extents and strides: that in which the second
            product takes them.
        doubled: both halves of a wave hold the same operands, and take turns in the rows of a result.
    """

    tile: int
    lanes: int
    depth: int
    neighbours: int
    keys: tuple[tuple[int, ...], tuple[int, ...]]
    doubled: bool = False

    @property
    def results(self) -> int:
        """Results of a lane."""
        return self.tile * self.tile // self.lanes


_IN_ORDER = (STEP,), (1,)
_GEOMETRIES = {
    "gfx942": Geometry(32, 64, 8, 4, _PAIRS_OF_FOUR),
    "gfx950": Geometry(32, 64, 16, 4, _PAIRS_OF_FOUR),
    "gfx1201": Geometry(16, 32, 16, 8, _IN_ORDER),
    "gfx1100": Geometry(16, 32, 16, 8, _IN_ORDER, doubled=True),
}


def geometry() -> Geometry:
    """That of the target.

    Raises RuntimeError for a chip that attention is not written for.
    """
    arch = get_rocm_arch().split(":")[0]
    if arch not in _GEOMETRIES:
        raise RuntimeError(f"flash attention is written for {', '.join(_GEOMETRIES)}; the target is {arch}")
    return _GEOMETRIES[arch]


def score_product(element: type[fx.Numeric]) -> fx.TiledMma:
    """The tiled MMA of a wave for S^T = K Q^T; in a step a lane has neighbouring elements of a key and of a query."""
    # Where a step is two instructions, the first takes the first four of the eight.
    return _tiled(element, fx.make_layout(*_PAIRS_OF_FOUR) if geometry().depth < STEP else None)


def value_product(element: type[fx.Numeric]) -> fx.TiledMma:
    """The tiled MMA of a wave for O^T += V^T P^T, which takes keys in the order of `Geometry.keys`."""
    one = geometry()
    whole = one.depth == STEP and one.keys != _IN_ORDER  # one instruction has to take them in that order
    return _tiled(element, fx.make_layout(*one.keys) if whole else STEP)


def _tiled(element: Any, order: Any) -> fx.TiledMma:
    one = geometry()
    operation = fx.rocdl.WMMA if one.lanes == 32 else fx.rocdl.MFMA
    atom = fx.make_mma_atom(operation(one.tile, one.tile, one.depth, element))
    rows = fx.make_layout((2, one.neighbours), (one.neighbours, 1)) if one.doubled else None
    return fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)), (rows, None, order))


def weights_as_operand(packed: fx.Tensor, shape: tuple[int, int], pv: fx.ThrMma, qk: fx.ThrMma) -> fx.Tensor:
    """The fragment of P^T, of `shape` (key blocks, query blocks) weights that lie as the scores do."""
    if not geometry().doubled:
        return pv.retile_B(packed, qk)
    key_blocks, blocks = shape
    operand = fx.make_rmem_tensor((STEP, blocks, key_blocks), packed.dtype)
    lower = qk.thr_idx < 16
    for n in range(key_blocks):
        for b in range(blocks):
            words = packed[None, n, b].load().bitcast(fx.Int32)
            mine = [words[i] for i in range(words.numel)]
            others = [_of_other_half(word) for word in mine]
            both = [lower.select(*pair) for pair in zip(mine, others, strict=True)]
            both += [lower.select(*pair) for pair in zip(others, mine, strict=True)]
            operand[None, b, n].store(fx.Vector.from_elements(both).bitcast(packed.dtype))
    return operand


def _of_other_half(word: Any) -> Any:
    """The Int32 of the lane with the same number in the other half of the wave."""
    return fx.shuffle_xor(word, 16, 32)


def any_lane(flag: fx.Boolean) -> fx.Boolean:
    """Whether a flag is set in some lane of the wave."""
    mask = fx.Int64 if geometry().lanes == 64 else fx.Int32
    found: fx.Boolean = mask(fx.rocdl.ballot(mask.ir_type, flag)) != 0
    return found


def in_steps(fragment: fx.Tensor) -> Any:
    """The fragment (V, M or N, K) of an operand with K as (instructions of a step, steps)."""
    return fx.logical_divide(fragment, fx.make_tile(None, None, STEP // geometry().depth))


def by_mode(part: fx.Tensor) -> fx.Tensor:
    """A partition with each mode as simple as it is: 8 neighbours are one mode, however the keys are ordered."""
    if geometry().doubled:  # 16 neighbours, in order: two accesses
        return part
    return fx.make_view(part.iter, fx.coalesce(part.layout, (1,) * part.rank))


def truncation_gain(element: type[fx.Numeric]) -> float:
    """The factor that makes up for `pack` rounding towards zero: 1 plus the mean relative loss of a truncation.

    A significand m in [1, 2) with p bits loses 2^-p / m in the mean; over a logarithmically uniform m that is
    2^-p / (2 ln 2). 1 where `pack` rounds to nearest.
    """
    if element is fx.BFloat16:
        return 1.0 if architecture().converts_bf16 else 1.0 + 2.0**-8 / (2 * math.log(2))
    return 1.0 + 2.0**-11 / (2 * math.log(2))


def pack(values: Any, element: Any) -> Any:
    """Convert an f32 Vector of even length to `element`, one instruction for two values.

    bf16 on gfx950 rounds to nearest even (v_cvt_pk_bf16_f32). bf16 elsewhere keeps the upper halves (v_perm_b32), f16
    rounds towards zero (v_cvt_pkrtz_f16_f32); multiply by `truncation_gain` before.
    """
    pairs = range(0, values.numel, 2)
    if element is fx.BFloat16:
        if architecture().converts_bf16:
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


def adds_pairs(element: type) -> bool:
    """Whether one instruction adds two weights of 16 bits, as they are multiplied, to a sum in f32 (`add_pair`)."""
    return get_rocm_arch().startswith("gfx950") and element is fx.BFloat16


def add_pair(word: fx.Int32, total: fx.Float32) -> fx.Float32:
    """`total`, f32, and the two bf16 of a word (v_dot2_f32_bf16)."""
    pair, ones = fx.Vector.from_elements([word]).bitcast(fx.BFloat16), fx.full(2, 1.0, fx.BFloat16)
    kind = fx.Float32.ir_type
    return fx.Float32(fx.rocdl.fdot2_f32_bf16(kind, pair.ir_value(), ones.ir_value(), total.ir_value()))


def exp2(values: Any) -> Any:
    """2 to the power of each element of an f32 Vector: v_exp_f32, which takes results below 2^-126 to zero."""
    kind = fx.Float32.ir_type
    return fx.Vector.from_elements([fx.Float32(fx.rocdl.exp2(kind, x.ir_value())) for x in values])
