# SPDX-License-Identifier: Apache-2.0
"""The matrix and conversion instructions of attention: all that differs between gfx942 and gfx950 is in this file.

Everything is said in steps of 16 along the contracted mode, on tiles of 32 x 32. A lane holds, of each operand, row
`lane % 32` and the 8 contracted elements of half `lane // 32`; of the result, column `lane % 32` and 16 rows, of which
value v is row `8 * (v // 4) + 4 * (lane // 32) + v % 4`. gfx950 has one instruction for that (K = 16); gfx942 takes two
(K = 8), one for the first four elements of each lane, one for the last four. Which of the 16 contracted elements
a lane's eight are does not matter as long as both operands agree.
"""

from __future__ import annotations

import math
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import fx

TILE = 32  # rows and columns of a matrix instruction
STEP = 16  # contracted elements of one `multiply`
FRAGMENT = 8  # elements of one operand that a lane holds
LANES = 64


def _gfx950() -> bool:
    return get_rocm_arch().startswith("gfx950")


def multiply(a: Any, b: Any, acc: Any) -> Any:
    """acc + a b: (32 x 16) by (16 x 32), Vectors of 8 16-bit elements a lane; acc is 16 f32 a lane."""
    bf16 = a.dtype is fx.BFloat16
    if _gfx950():
        instruction = fx.rocdl.mfma_f32_32x32x16_bf16 if bf16 else fx.rocdl.mfma_f32_32x32x16_f16
        return instruction(a, b, acc)
    for half in (range(4), range(4, 8)):
        first, second = (one.shuffle(one, list(half)) for one in (a, b))
        if bf16:
            acc = fx.rocdl.mfma_f32_32x32x8bf16_1k(first.bitcast(fx.Int16), second.bitcast(fx.Int16), acc)
        else:
            acc = fx.rocdl.mfma_f32_32x32x8f16(first, second, acc)
    return acc


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
