# SPDX-License-Identifier: Apache-2.0
"""Atomics, fences and typed loads and stores on pointers, with memory orders.

Pointers are those of the language; the value's type is the pointer's element type.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _mlirDialectsLLVM as llvm
from flydsl.trace import context as _trace
from flydsl.trace.build import build, build_op, i64_array, int_attribute, struct_type

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Boolean, Float32, Float64, Int32, Int64, Uint32, Uint64
from ..values.pointer import Pointer, to_llvm_ptr
from ..values.vector import Vector, _make
from ..values.vector_alias import VectorAlias

if TYPE_CHECKING:
    from ..values.accepted import TypeLike, ValueLike

__all__ = [
    "AtomicOrdering",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_fmax",
    "atomic_fmin",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xchg",
    "atomic_xor",
    "generic_load",
    "generic_store",
    "memory_fence",
]


class AtomicOrdering(enum.IntEnum):
    """LLVM's memory orders."""

    NotAtomic = 0
    Unordered = 1
    Monotonic = 2
    Acquire = 4
    Release = 5
    AcqRel = 6
    SeqCst = 7


_O = AtomicOrdering
# llvm::AtomicBinOp.
_BINARY = {
    "xchg": 0,
    "add": 1,
    "sub": 2,
    "_and": 3,
    "_or": 5,
    "_xor": 6,
    "max": 7,
    "min": 8,
    "umax": 9,
    "umin": 10,
    "fadd": 11,
    "fsub": 12,
    "fmax": 13,
    "fmin": 14,
}
_SIZES = (8, 16, 32, 64)


def _ordering(order: Any, what: str) -> AtomicOrdering:
    if not isinstance(order, AtomicOrdering):
        raise TypeError(f"{what} takes an fx.AtomicOrdering, got {order!r}")
    return order


class _RawPointer:
    """A raw `!llvm.ptr`, which does not say what it points to: the value says it."""

    dtype = None

    def __init__(self, value: ir.Value) -> None:
        self.value = value


def _pointer(ptr: Any, what: str) -> Any:
    if isinstance(ptr, ir.Value) and isinstance(ptr.type, llvm.PointerType):
        return _RawPointer(ptr)
    if not isinstance(ptr, Pointer):
        raise TypeError(f"{what} takes a pointer, not {type(ptr).__name__}")
    return ptr


def _llvm(pointer: Any) -> ir.Value:
    return pointer.value if isinstance(pointer, _RawPointer) else to_llvm_ptr(pointer)


def _recast(kind: NumericMeta, pointer: Any) -> Any:
    """Return a pointer to `kind`; as an operand of an atomic function, so a raw one as it was given."""
    from ..values.pointer import recast_iter

    return pointer.value if isinstance(pointer, _RawPointer) else recast_iter(kind, pointer)


# What LLVM calls a scope for NVIDIA's GPUs, which have none of a warp (`NVVMDevice::getSyncScope` says it of atoms).
_KNOWN_TO_NVIDIA = ("device", "cluster", "block", "singlethread")
_SCOPES_OF_NVIDIA = {"agent": "device", "workgroup": "block", "wavefront": "block"}


def _scope(syncscope: str | None) -> dict[str, ir.Attribute]:
    target = _trace.target()
    if syncscope and target.nvidia:
        name, syncscope = syncscope, _SCOPES_OF_NVIDIA.get(syncscope, syncscope)
        if syncscope not in _KNOWN_TO_NVIDIA:
            known = ", ".join([*_SCOPES_OF_NVIDIA, *_KNOWN_TO_NVIDIA])
            raise ValueError(f"there is no scope {name!r} on {target.name}; use one of {known}, or none for the system")
    return {"syncscope": ir.StringAttr.get(syncscope)} if syncscope else {}


def _value(ptr: Any, value: Any, what: str, vectors: bool = False) -> Any:
    """Return the value as a scalar or vector of the pointer's element type."""
    cls = ptr.dtype
    if cls is None:
        vector = isinstance(value, ir.Value) and isinstance(value.type, ir.VectorType)
        value = Vector(value) if vector else value if isinstance(value, Vector) else as_numeric(value)
        cls = value.dtype
    if type(value) in (int, float, bool):
        value = cls(value)
    elif isinstance(value, ir.Value):
        value = Vector(value) if isinstance(value.type, ir.VectorType) else as_numeric(value)
    if not isinstance(value, (Numeric, Vector)) or value.dtype.ir_type != cls.ir_type:
        got = getattr(getattr(value, "dtype", None), "__name__", type(value).__name__)
        raise TypeError(f"{what}: the value is {got}, the pointer is to {cls.__name__}; convert one of them")
    if isinstance(value, Vector) and not (vectors and value.dtype.is_float):
        raise TypeError(f"{what} takes scalars; vectors are for add, sub, min and max of floats")
    if not ((cls.is_integer and cls.width in _SIZES) or (cls.is_float and cls.width >= 16)):
        raise TypeError(f"{what} is for integers of 8 to 64 bits and f16, bf16, f32 and f64, not {cls.__name__}")
    return value


def _rmw(what: str, kinds: tuple[str, str, str | None], ptr: Any, value: Any, syncscope: Any, ordering: Any) -> Any:
    pointer = _pointer(ptr, what)
    operand = _value(pointer, value, what, vectors=kinds[2] is not None)
    cls = operand.dtype
    if cls.is_float:
        if kinds[2] is None:
            raise TypeError(f"{what} is for integers, not {cls.__name__}")
        kind = kinds[2]
    else:
        kind = kinds[0] if cls.signed else kinds[1]
    order = _ordering(ordering, what)
    if order in (_O.NotAtomic, _O.Unordered):
        raise ValueError(f"{what} is at least Monotonic, not {order.name}")
    attributes = {
        "bin_op": int_attribute(_BINARY[kind], 64),
        "ordering": int_attribute(int(order), 64),
        **_scope(syncscope),
    }
    raw = operand.ir_value()
    result = build("llvm.atomicrmw", (_llvm(pointer), raw), raw.type, attributes)
    return _make(result, operand.shape, cls) if isinstance(operand, Vector) else wrap(cls, result)


def _define(name: str, doc: str, signed: str, unsigned: str, floating: str | None) -> Any:
    def function(
        ptr: Any, value: Any, *, syncscope: str | None = None, ordering: Any = AtomicOrdering.Monotonic
    ) -> Any:
        return _rmw(name, (signed, unsigned, floating), ptr, value, syncscope, ordering)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        doc + " Returns the previous value.\n\nRaises TypeError for a value of another type than the pointer's."
    )
    return function


atomic_add = _define("atomic_add", "Add to memory.", "add", "add", "fadd")
atomic_sub = _define("atomic_sub", "Subtract from memory.", "sub", "sub", "fsub")
atomic_min = _define("atomic_min", "Lower memory to the value.", "min", "umin", "fmin")
atomic_max = _define("atomic_max", "Raise memory to the value.", "max", "umax", "fmax")
atomic_and = _define("atomic_and", "And bits into memory.", "_and", "_and", None)
atomic_or = _define("atomic_or", "Or bits into memory.", "_or", "_or", None)
atomic_xor = _define("atomic_xor", "Xor bits into memory.", "_xor", "_xor", None)
atomic_xchg = _define("atomic_xchg", "Exchange memory.", "xchg", "xchg", "xchg")


def atomic_cas(
    ptr: Any,
    cmp: ValueLike,
    val: ValueLike,
    *,
    syncscope: str | None = None,
    success_ordering: Any = AtomicOrdering.Monotonic,
    failure_ordering: Any = AtomicOrdering.Monotonic,
    weak: bool = False,
) -> tuple[Any, Any]:
    """Store `val` where memory holds `cmp`; integers only. Returns (previous value, whether it was stored)."""
    pointer = _pointer(ptr, "atomic_cas")
    expected, new = _value(pointer, cmp, "atomic_cas"), _value(pointer, val, "atomic_cas")
    cls = expected.dtype
    if new.dtype is not cls:
        raise TypeError(f"atomic_cas compares {cls.__name__} and stores {new.dtype.__name__}; convert one of them")
    if cls.is_float:
        raise TypeError(f"atomic_cas is for integers, not {cls.__name__}; bitcast the pointer with fx.recast_iter")
    success, failure = _ordering(success_ordering, "atomic_cas"), _ordering(failure_ordering, "atomic_cas")
    if failure in (_O.Release, _O.AcqRel):
        raise ValueError(f"atomic_cas: a failed exchange does not write; its order cannot be {failure.name}")
    attributes = {
        "success_ordering": int_attribute(int(success), 64),
        "failure_ordering": int_attribute(int(failure), 64),
        **_scope(syncscope),
    }
    if weak:
        attributes["weak"] = ir.UnitAttr.get()
    pair = struct_type(cls.ir_type, Boolean.ir_type)
    operands = (_llvm(pointer), expected.ir_value(), new.ir_value())
    result = build("llvm.cmpxchg", operands, pair, attributes)
    parts = [
        build("llvm.extractvalue", (result,), kind, {"position": i64_array([i])})
        for i, kind in enumerate((cls.ir_type, Boolean.ir_type))
    ]
    return wrap(cls, parts[0]), wrap(Boolean, parts[1])


def _float_extreme(name: str, larger: bool) -> Any:
    def function(
        ptr: Any,
        value: Any,
        *,
        is_positive: bool | None = None,
        syncscope: str | None = None,
        ordering: Any = AtomicOrdering.Monotonic,
    ) -> Any:
        pointer = _pointer(ptr, name)
        operand = _value(pointer, value, name)
        cls = operand.dtype
        if cls not in (Float32, Float64):
            raise TypeError(f"{name} is for f32 and f64, not {cls.__name__}")
        signed, unsigned = (Int32, Uint32) if cls is Float32 else (Int64, Uint64)
        # IEEE numbers of one sign are ordered like their bits; of negative ones, the other way round.
        if is_positive is None:
            return _both_signs(pointer, operand, signed, unsigned, larger, syncscope, ordering)
        up = larger is is_positive
        target = _recast(signed if is_positive else unsigned, pointer)
        bits = operand.bitcast(signed if is_positive else unsigned)
        old = (atomic_max if up else atomic_min)(target, bits, syncscope=syncscope, ordering=ordering)
        return old.bitcast(cls)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Make memory the {'larger' if larger else 'smaller'} of itself and the value, by integer atomics.\n\n"
        "For f32 and f64. "
        "`is_positive` says that value and memory have one sign and which; else the sign is looked at when it runs.\n"
        "Returns the previous value. NaN is not supported."
    )
    return function


def _both_signs(
    ptr: Any, value: Any, signed: NumericMeta, unsigned: NumericMeta, larger: bool, scope: Any, order: Any
) -> Any:
    """Choose the integer operation by the sign of the value, in an `scf.if`."""
    negative = (value.bitcast(signed) < 0).ir_value()
    op = build_op("scf.if", (negative,), (value.dtype.ir_type,), regions=2)
    for region, is_negative in zip(op.regions, (True, False), strict=True):
        block = region.blocks.append()
        with ir.InsertionPoint(block):
            kind = unsigned if is_negative else signed
            chosen = atomic_min if larger is is_negative else atomic_max
            old = chosen(_recast(kind, ptr), value.bitcast(kind), syncscope=scope, ordering=order)
            build_op("scf.yield", (old.bitcast(value.dtype).ir_value(),))
    return wrap(value.dtype, op.results[0])


atomic_fmin = _float_extreme("atomic_fmin", False)
atomic_fmax = _float_extreme("atomic_fmax", True)


def memory_fence(*, syncscope: str | None = None, ordering: Any = AtomicOrdering.SeqCst) -> None:
    """Order the memory accesses around this point."""
    order = _ordering(ordering, "memory_fence")
    if order < _O.Acquire:
        raise ValueError(f"memory_fence is at least Acquire or Release, not {order.name}")
    build_op("llvm.fence", (), (), {"ordering": int_attribute(int(order), 64), **_scope(syncscope)})


def _access(
    order: AtomicOrdering, syncscope: Any, nontemporal: bool, volatile: bool, cls: NumericMeta
) -> dict[str, Any]:
    attributes: dict[str, Any] = {"ordering": int_attribute(int(order), 64), **_scope(syncscope)}
    if nontemporal:
        if _trace.target().nvidia:
            raise ValueError(
                f"nontemporal=True has no effect on {_trace.target().name}: leave it out, or say what the caches do by "
                "fx.nvgpu.load_by_policy"
            )
        attributes["nontemporal"] = ir.UnitAttr.get()
    if volatile:
        attributes["volatile_"] = ir.UnitAttr.get()
    if order is not _O.NotAtomic:
        attributes["alignment"] = int_attribute(max(1, cls.width // 8), 64)
    return attributes


def generic_load(
    ptr: Any,
    *,
    dtype: TypeLike | None = None,
    count: int | None = None,
    memory_order: Any = AtomicOrdering.NotAtomic,
    syncscope: str | None = None,
    nontemporal: bool = False,
    volatile: bool = False,
) -> Vector | Numeric:
    """Load a scalar, or a vector of `count` elements or of a vector alias.

    Raises:
        ValueError: a release-type order, a count below 1 or beside a vector dtype, or `nontemporal` on an NVIDIA GPU.
    """
    pointer = _pointer(ptr, "generic_load")
    kind: Any = pointer.dtype if dtype is None else dtype
    alias = isinstance(kind, type) and issubclass(kind, Vector)
    if count is not None and (alias or isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ValueError("generic_load: count is at least 1, and only beside a scalar dtype")
    order = _ordering(memory_order, "generic_load")
    if order in (_O.Release, _O.AcqRel):
        raise ValueError(f"generic_load: a load cannot be {order.name}")
    if count is not None:
        kind, alias = VectorAlias(kind, count), True
    cls = kind.dtype if alias else kind
    value = build("llvm.load", (_llvm(pointer),), kind.ir_type, _access(order, syncscope, nontemporal, volatile, cls))
    return _make(value, kind._alias_shape, cls) if alias else wrap(cls, value)


def generic_store(
    ptr: Any,
    value: Any,
    *,
    memory_order: Any = AtomicOrdering.NotAtomic,
    syncscope: str | None = None,
    nontemporal: bool = False,
    volatile: bool = False,
) -> None:
    """Store a scalar or vector; Python numbers take the element type.

    Raises:
        ValueError: an acquire-type order, or `nontemporal` on an NVIDIA GPU.
    """
    pointer = _pointer(ptr, "generic_store")
    order = _ordering(memory_order, "generic_store")
    if order in (_O.Acquire, _O.AcqRel):
        raise ValueError(f"generic_store: a store cannot be {order.name}")
    if type(value) in (int, float, bool):
        value = pointer.dtype(value)
    elif isinstance(value, ir.Value):
        value = Vector(value) if isinstance(value.type, ir.VectorType) else as_numeric(value)
    attributes = _access(order, syncscope, nontemporal, volatile, value.dtype)
    build_op("llvm.store", (value.ir_value(), _llvm(pointer)), (), attributes)
