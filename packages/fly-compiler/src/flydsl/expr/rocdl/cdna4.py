# SPDX-License-Identifier: Apache-2.0
"""What CDNA 4 (gfx950) has beside CDNA 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.types import BFloat16, Float32, Int32
from .availability import check_instruction
from .cdna3 import *  # noqa: F403 - gfx950 has all of gfx942
from .cdna3 import __all__ as _cdna3
from .copy_ops import (
    BufferLoadAsyncLDS,
    BufferLoadAsyncLDS32b,
    BufferLoadAsyncLDS96b,
    BufferLoadAsyncLDS128b,
    GlobalLoadAsyncLDS,
    GlobalLoadAsyncLDS32b,
    GlobalLoadAsyncLDS96b,
    GlobalLoadAsyncLDS128b,
    LDSReadTrans,
    LDSReadTrans4_64b,
    LDSReadTrans6_96b,
    LDSReadTrans8_64b,
    LDSReadTrans16_64b,
)
from .intrinsic import call_intrinsic
from .mma_ops import MFMA_Scale, MFMAScale

if TYPE_CHECKING:
    from ..values.accepted import IntLike, ScalarLike

__all__ = [
    *_cdna3,
    "BufferLoadAsyncLDS",
    "BufferLoadAsyncLDS32b",
    "BufferLoadAsyncLDS96b",
    "BufferLoadAsyncLDS128b",
    "GlobalLoadAsyncLDS",
    "GlobalLoadAsyncLDS32b",
    "GlobalLoadAsyncLDS96b",
    "GlobalLoadAsyncLDS128b",
    "LDSReadTrans",
    "LDSReadTrans4_64b",
    "LDSReadTrans6_96b",
    "LDSReadTrans8_64b",
    "LDSReadTrans16_64b",
    "MFMAScale",
    "MFMA_Scale",
    "cvt_sr_f32_to_bf16",
]


def cvt_sr_f32_to_bf16(x: ScalarLike, rand: IntLike) -> Numeric:
    """Convert f32 to bf16, rounding by the random bits `rand` (32 bits, upper half used); `BFloat16`.

    Raises:
        ValueError: the target lacks the instruction.
    """
    check_instruction("llvm.amdgcn.cvt.sr.bf16.f32", "cvt_sr_f32_to_bf16")
    from flydsl.trace.build import build, i64_array, vector_type

    pair = vector_type(2, BFloat16.ir_type)
    old = build("llvm.mlir.zero", (), pair)
    value, bits = as_numeric(x).to(Float32).ir_value(), as_numeric(rand).to(Int32).ir_value()
    lane = as_numeric(False).ir_value()
    result = call_intrinsic("llvm.amdgcn.cvt.sr.bf16.f32", (old, value, bits, lane), pair)
    return wrap(BFloat16, build("vector.extract", (result,), BFloat16.ir_type, {"static_position": i64_array([0])}))
