# SPDX-License-Identifier: Apache-2.0
"""Copy operations of AMD GPUs for `fx.make_copy_atom`."""

from __future__ import annotations

from typing import Any

from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl

from ..ops.atom_types import AtomicOp, CopyOp, check_bits, refuse_unsigned
from ..values.numeric.base import _class_of
from ..values.vector_alias import VectorAlias

__all__ = [
    "BufferAtomic",
    "BufferAtomicAdd",
    "BufferAtomicMax",
    "BufferAtomicMin",
    "BufferAtomicPkAdd",
    "BufferCopy",
    "BufferCopy8b",
    "BufferCopy16b",
    "BufferCopy32b",
    "BufferCopy64b",
    "BufferCopy128b",
    "BufferCopyLDS",
    "BufferCopyLDS32b",
    "BufferCopyLDS64b",
    "BufferCopyLDS128b",
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
]


def _widths(operation: str) -> tuple[int, ...]:
    """The widths that the dialect knows of an operation."""
    return tuple(bits for bits, _ in fly_rocdl.copy_widths(operation))


class BufferCopy(CopyOp):
    """Move `bits` between a buffer resource and registers; state `soffset` (elements of the buffer).

    `cache_modifier` is 0 (cached) or 2 (non-temporal). Accesses outside the resource read zero and write nothing.
    """

    __slots__ = ()

    def __init__(self, bits: int, cache_modifier: int = 0) -> None:
        check_bits("BufferCopy", bits, (8, 16, 32, 64, 96, 128))
        super().__init__(fly_rocdl.CDNA3BufferCopyType, bits, int(cache_modifier))


def BufferCopy8b(cache_modifier: int = 0) -> BufferCopy:
    """Move 8 bits."""
    return BufferCopy(8, cache_modifier)


def BufferCopy16b(cache_modifier: int = 0) -> BufferCopy:
    """Move 16 bits."""
    return BufferCopy(16, cache_modifier)


def BufferCopy32b(cache_modifier: int = 0) -> BufferCopy:
    """Move 32 bits."""
    return BufferCopy(32, cache_modifier)


def BufferCopy64b(cache_modifier: int = 0) -> BufferCopy:
    """Move 64 bits."""
    return BufferCopy(64, cache_modifier)


def BufferCopy128b(cache_modifier: int = 0) -> BufferCopy:
    """Move 128 bits."""
    return BufferCopy(128, cache_modifier)


class BufferCopyLDS(CopyOp):
    """Move 32 or 128 bits from a buffer resource to LDS, past the registers.

    State `soffset` (elements) and `imm_offset` (bytes). 128 bits need gfx950.
    """

    __slots__ = ()

    def __init__(self, bits: int) -> None:
        check_bits("BufferCopyLDS", bits, _widths("cdna3.buffer_copy_lds"))
        super().__init__(fly_rocdl.CDNA3BufferCopyLDSType, bits)


def BufferCopyLDS32b() -> BufferCopyLDS:
    """Move 32 bits to LDS."""
    return BufferCopyLDS(32)


def BufferCopyLDS64b() -> BufferCopyLDS:
    """No hardware has this width: `ValueError`."""
    return BufferCopyLDS(64)


def BufferCopyLDS128b() -> BufferCopyLDS:
    """Move 128 bits to LDS."""
    return BufferCopyLDS(128)


class BufferAtomic(CopyOp):
    """Combine a register into a buffer resource; state `soffset`.

    Floats have Add and Max; integers signed Max and unsigned Min.

    Raises:
        ValueError: the buffer atomics of the hardware have no such combination.
    """

    __slots__ = ()

    def __init__(self, op: Any, dtype: Any) -> None:
        kind = AtomicOp.of(op)
        if hasattr(dtype, "_alias_dtype"):
            element, value = dtype.dtype, dtype
        else:
            element = value = _class_of(dtype)
        allowed = (AtomicOp.Add, AtomicOp.Max) if element.is_float else (AtomicOp.Max, AtomicOp.Min)
        if kind not in allowed:
            names = " and ".join(one.value for one in allowed)
            kinds = "float" if element.is_float else "integer"
            raise ValueError(f"BufferAtomic has {names} of {kinds} values, not {kind.value} of {element.__name__}")
        if kind is AtomicOp.Max:
            refuse_unsigned(kind, element, "BufferAtomic")
        super().__init__(fly_rocdl.CDNA3BufferAtomicType, kind.number, value)


def BufferAtomicAdd(dtype: Any) -> BufferAtomic:
    """Add floats."""
    return BufferAtomic(AtomicOp.Add, dtype)


def BufferAtomicMax(dtype: Any) -> BufferAtomic:
    """Raise to the maximum, floats or signed integers."""
    return BufferAtomic(AtomicOp.Max, dtype)


def BufferAtomicMin(dtype: Any) -> BufferAtomic:
    """Lower to the minimum, unsigned integers."""
    return BufferAtomic(AtomicOp.Min, dtype)


def BufferAtomicPkAdd(dtype: Any) -> BufferAtomic:
    """Add pairs of 16-bit floats."""
    return BufferAtomic(AtomicOp.Add, VectorAlias(dtype, 2))


class BufferLoadAsyncLDS(CopyOp):
    """Load 32, 96 or 128 bits from a buffer resource to LDS in an async group (gfx950); not waited for."""

    __slots__ = ()

    def __init__(self, bits: int) -> None:
        check_bits("BufferLoadAsyncLDS", bits, _widths("cdna4.buffer_load_async_lds"))
        super().__init__(fly_rocdl.CDNA4BufferLoadAsyncLDSType, bits)


def BufferLoadAsyncLDS32b() -> BufferLoadAsyncLDS:
    """Load 32 bits."""
    return BufferLoadAsyncLDS(32)


def BufferLoadAsyncLDS96b() -> BufferLoadAsyncLDS:
    """Load 96 bits."""
    return BufferLoadAsyncLDS(96)


def BufferLoadAsyncLDS128b() -> BufferLoadAsyncLDS:
    """Load 128 bits."""
    return BufferLoadAsyncLDS(128)


class GlobalLoadAsyncLDS(CopyOp):
    """Load 32, 96 or 128 bits from global memory to LDS in an async group (gfx950); not waited for."""

    __slots__ = ()

    def __init__(self, bits: int) -> None:
        check_bits("GlobalLoadAsyncLDS", bits, _widths("cdna4.global_load_async_lds"))
        super().__init__(fly_rocdl.CDNA4GlobalLoadAsyncLDSType, bits)


def GlobalLoadAsyncLDS32b() -> GlobalLoadAsyncLDS:
    """Load 32 bits."""
    return GlobalLoadAsyncLDS(32)


def GlobalLoadAsyncLDS96b() -> GlobalLoadAsyncLDS:
    """Load 96 bits."""
    return GlobalLoadAsyncLDS(96)


def GlobalLoadAsyncLDS128b() -> GlobalLoadAsyncLDS:
    """Load 128 bits."""
    return GlobalLoadAsyncLDS(128)


class LDSReadTrans(CopyOp):
    """Read LDS transposed among 16 threads (gfx950): `granularity` bits per element, `bits` per thread."""

    __slots__ = ()

    def __init__(self, granularity: int, bits: int) -> None:
        known = [(transposed, width) for width, transposed in fly_rocdl.copy_widths("cdna4.lds_read_trans")]
        if (granularity, bits) not in known:
            raise ValueError(
                f"LDSReadTrans has (granularity, bits) of {', '.join(map(str, known))}, not ({granularity}, {bits})"
            )
        super().__init__(fly_rocdl.CDNA4LdsReadTransType, granularity, bits)


def LDSReadTrans4_64b() -> LDSReadTrans:
    """Read 64 bits of 4-bit elements."""
    return LDSReadTrans(4, 64)


def LDSReadTrans8_64b() -> LDSReadTrans:
    """Read 64 bits of 8-bit elements."""
    return LDSReadTrans(8, 64)


def LDSReadTrans16_64b() -> LDSReadTrans:
    """Read 64 bits of 16-bit elements."""
    return LDSReadTrans(16, 64)


def LDSReadTrans6_96b() -> LDSReadTrans:
    """Read 96 bits of 6-bit elements."""
    return LDSReadTrans(6, 96)
