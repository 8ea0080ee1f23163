# SPDX-License-Identifier: Apache-2.0
"""How long the caches keep what is loaded (PTX ISA, cache eviction priority hints)."""

from __future__ import annotations

from collections.abc import Sequence

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import build_op

from ..values.numeric.base import Numeric, wrap
from ..values.numeric.types import Int32, Int64
from ..values.pointer import Pointer, to_llvm_ptr
from ..values.vector import Vector
from .target import require_hopper

__all__ = ["l2_policy", "load_by_policy"]

_PRIORITIES = ("evict_first", "evict_last", "evict_normal")
_L1_PRIORITIES = ("evict_first", "evict_last", "no_allocate")
_WORDS = 4


def l2_policy(priority: str) -> Numeric:
    """Return a policy, an `Int64`, for `load_by_policy`: what the L2 cache evicts first, last, or in its usual order.

    Which of two policies is taken can depend on run-time values: `condition.select(one, other)`.

    Args:
        priority: `evict_first`, `evict_last` or `evict_normal`.

    Raises:
        RuntimeError: outside of a kernel.
        ValueError: another priority, or another target than sm_90a.
    """
    if priority not in _PRIORITIES:
        raise ValueError(f"fx.nvgpu.l2_policy takes {', '.join(_PRIORITIES)}, not {priority!r}")
    text = f"createpolicy.fractional.L2::{priority}.b64 $0, 1.0;"
    return wrap(Int64, _assembly("l2_policy", text, "=l", [], Int64.ir_type))


def load_by_policy(pointer: Pointer, policy: Numeric | None = None, *, l1: str | None = None) -> Vector:
    """Load 16 bytes of global memory, at a multiple of 16, as a vector of the pointer's element type.

    Args:
        pointer: where they begin.
        policy: of `l2_policy`; it counts for the lines that are loaded. None: the L2 keeps them in its usual order.
        l1: what the L1 cache does with the lines, `evict_first`, `evict_last` or `no_allocate`. None: as usual.

    Raises:
        RuntimeError: outside of a kernel.
        ValueError: another priority, or another target than sm_90a.
    """
    if l1 is not None and l1 not in _L1_PRIORITIES:
        raise ValueError(f"fx.nvgpu.load_by_policy takes l1={', '.join(_L1_PRIORITIES)}, not {l1!r}")
    words = ir.Type.parse(f"!llvm.struct<({', '.join(['i32'] * _WORDS)})>")
    of_l1 = "" if l1 is None else f".L1::{l1}"
    of_l2, last = ("", "") if policy is None else (".L2::cache_hint", ", $5")
    text = f"ld.global{of_l1}{of_l2}.v4.b32 {{$0, $1, $2, $3}}, [$4]{last};"
    operands = [to_llvm_ptr(pointer)] + ([] if policy is None else [policy.ir_value()])
    found = _assembly("load_by_policy", text, "=r,=r,=r,=r" + ",l" * len(operands), operands, words)
    parts = [
        build_op("llvm.extractvalue", [found], [Int32.ir_type], {"position": ir.DenseI64ArrayAttr.get([index])})
        for index in range(_WORDS)
    ]
    loaded: Vector = Vector.from_elements([wrap(Int32, one.results[0]) for one in parts])
    return loaded.bitcast(pointer.dtype)


def _assembly(what: str, text: str, constraints: str, operands: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    _trace.kernel(f"fx.nvgpu.{what}")
    require_hopper(what)
    attributes = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(constraints),
        "has_side_effects": ir.UnitAttr.get(),  # what it reads may change
    }
    value: ir.Value = build_op("llvm.inline_asm", list(operands), [result], attributes).results[0]
    return value
