# SPDX-License-Identifier: Apache-2.0
"""Wait counts and hints for the instruction scheduler."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from flydsl.trace import context as _trace
from flydsl.trace.build import build_op, int_attribute

from ..values.numeric.base import Numeric
from .availability import check_instruction

if TYPE_CHECKING:
    from ..values.accepted import StaticInt

_P = ParamSpec("_P")

__all__ = [
    "encode_waitcnt",
    "mask_dsrd",
    "mask_dswr",
    "mask_mfma",
    "mask_vmem_rd",
    "s_wait_asynccnt",
    "s_waitcnt",
    "sched_barrier",
    "sched_dsrd",
    "sched_dswr",
    "sched_group_barrier",
    "sched_mfma",
    "sched_vmem",
]

mask_mfma = 0x8
mask_vmem_rd = 0x20
mask_dsrd = 0x100
mask_dswr = 0x200

_MASKS = {
    "non_mem": 0x1,
    "valu": 0x2,
    "salu": 0x4,
    "mfma": 0x8,
    "wmma": 0x8,
    "vmem": 0x10,
    "vmem_read": 0x20,
    "vmem_write": 0x40,
    "ds": 0x80,
    "ds_read": 0x100,
    "ds_write": 0x200,
    "transcendental": 0x400,
    "ldsdma": 0x800,
}
# The names that MLIR gives them.
_MASKS |= {
    "none": 0,
    "non_mem_non_sideeffect": 0x1,
    "mfma_wmma": 0x8,
    "all_vmem": 0x10,
    "all_ds": 0x80,
    "transcendentals": 0x400,
}
# Highest count of each counter, by family.
_LIMITS = {
    "cdna": {"vmcnt": 63, "lgkmcnt": 15, "expcnt": 7},
    "rdna3": {"vmcnt": 63, "lgkmcnt": 63, "expcnt": 7},
    "rdna4": {"vmcnt": 63, "lgkmcnt": 63, "expcnt": 7},
}


def _static(value: Any, what: str) -> int:
    if isinstance(value, Numeric) and value.is_static():
        value = value.value
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is part of the instruction: it takes a Python int, got {value!r}")
    return value


def encode_waitcnt(
    family: str,
    *,
    vmcnt: StaticInt | None = None,
    lgkmcnt: StaticInt | None = None,
    expcnt: StaticInt | None = None,
) -> int:
    """Return the immediate of s_waitcnt; `None` does not wait for that counter.

    gfx9: vmcnt in bits 3-0 and 15-14, expcnt in 6-4, lgkmcnt in 11-8. gfx11 and gfx12: expcnt in 2-0, lgkmcnt in 9-4,
    vmcnt in 15-10.

    Raises:
        TypeError: a count that is not static.
        ValueError: a count out of range, or a family without s_waitcnt.
    """
    limits = _LIMITS.get(family)
    if limits is None:
        raise ValueError(f"no encoding of s_waitcnt is known for {family!r}; there are {', '.join(_LIMITS)}")
    counts = {}
    for name, value in (("vmcnt", vmcnt), ("lgkmcnt", lgkmcnt), ("expcnt", expcnt)):
        count = limits[name] if value is None else _static(value, name)
        if not 0 <= count <= limits[name]:
            raise ValueError(f"{name} is from 0 to {limits[name]} on {_trace.target().name}, got {count}")
        counts[name] = count
    vm, lgkm, exp = counts["vmcnt"], counts["lgkmcnt"], counts["expcnt"]
    if family == "cdna":
        return (vm & 15) | (exp << 4) | (lgkm << 8) | ((vm >> 4) << 14)
    return exp | (lgkm << 4) | (vm << 10)


def _waitcnt(
    family: str,
    /,
    bitfield: StaticInt | None = None,
    *,
    vmcnt: StaticInt | None = None,
    lgkmcnt: StaticInt | None = None,
    expcnt: StaticInt | None = None,
) -> None:
    """Wait until counters are down: a raw `bitfield`, or named counts.

    Raises:
        TypeError: both or neither, or a count that is not static.
        ValueError: a count out of range, or an architecture without the instruction.
    """
    check_instruction("rocdl.s.waitcnt", "s_waitcnt")
    named = any(count is not None for count in (vmcnt, lgkmcnt, expcnt))
    if (bitfield is not None) is named:
        raise TypeError("s_waitcnt takes a bitfield, or one or more of vmcnt, lgkmcnt and expcnt")
    if bitfield is None:
        bitfield = encode_waitcnt(family, vmcnt=vmcnt, lgkmcnt=lgkmcnt, expcnt=expcnt)
    value = _static(bitfield, "bitfield")
    if not 0 <= value <= 0xFFFF:
        raise ValueError(f"the bitfield of s_waitcnt has 16 bits, got {value}")
    build_op("rocdl.s.waitcnt", (), (), {"bitfield": int_attribute(value, 32)})


def _in_encoding_of(family: str | None, wait: Callable[Concatenate[str, _P], None]) -> Callable[_P, None]:
    """Return `wait` in the encoding of a family; `None` stands for that of the target."""

    @functools.wraps(wait)
    def s_waitcnt(*args: _P.args, **kwargs: _P.kwargs) -> None:
        wait(family or _trace.target().family, *args, **kwargs)

    given = list(inspect.signature(wait).parameters.values())[1:]
    s_waitcnt.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]
    s_waitcnt.__name__ = s_waitcnt.__qualname__ = "s_waitcnt"
    return s_waitcnt


s_waitcnt = _in_encoding_of(None, _waitcnt)
s_waitcnt_of_cdna = _in_encoding_of("cdna", _waitcnt)
s_waitcnt_of_rdna3 = _in_encoding_of("rdna3", _waitcnt)
s_waitcnt_of_rdna4 = _in_encoding_of("rdna4", _waitcnt)


def check_class(name: str) -> None:
    """Raise ValueError for what is no name of a scheduling class."""
    if name not in _MASKS:
        raise ValueError(f"unknown scheduling class '{name}'; there are {', '.join(_MASKS)}")


def _mask(mask: Any) -> int:
    if isinstance(mask, str):
        check_class(mask)
        return _MASKS[mask]
    if isinstance(mask, (list, tuple, set)):
        bits = 0
        for item in mask:
            bits |= _mask(item)
        return bits
    return _static(mask, "mask")


def sched_barrier(mask: Any = 0) -> None:
    """Let the scheduler move only instructions of `mask` (bits, a class name or several) across this point."""
    build_op("rocdl.sched.barrier", (), (), {"mask": int_attribute(_mask(mask), 32)})


def sched_group_barrier(mask: Any, size: int, group_id: int) -> None:
    """Ask for the next `size` instructions of `mask` here, in the pipeline `group_id`."""
    attributes = {
        "mask": int_attribute(_mask(mask), 32),
        "size": int_attribute(_static(size, "size"), 32),
        "groupId": int_attribute(_static(group_id, "group_id"), 32),
    }
    build_op("rocdl.sched.group.barrier", (), (), attributes)


def sched_mfma(n: int) -> None:
    """Ask for the next `n` matrix instructions here."""
    sched_group_barrier(mask_mfma, n, 0)


def sched_vmem(n: int) -> None:
    """Ask for the next `n` vector memory reads here."""
    sched_group_barrier(mask_vmem_rd, n, 0)


def sched_dsrd(n: int) -> None:
    """Ask for the next `n` LDS reads here."""
    sched_group_barrier(mask_dsrd, n, 0)


def sched_dswr(n: int) -> None:
    """Ask for the next `n` LDS writes here."""
    sched_group_barrier(mask_dswr, n, 0)


def s_wait_asynccnt(n: int = 0) -> None:
    """Wait until at most `n` async loads to LDS are outstanding (gfx1250)."""
    check_instruction("rocdl.s.wait.asynccnt", "s_wait_asynccnt")
    build_op("rocdl.s.wait.asynccnt", (), (), {"count": int_attribute(_static(n, "n"), 16)})
