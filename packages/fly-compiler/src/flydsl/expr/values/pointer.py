# SPDX-License-Identifier: Apache-2.0
"""`Pointer`: a typed address, and the functions that make and use pointers. Offsets are in elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir.facts import PointerFacts, SwizzleFacts
from flydsl.trace.build import build, build_op, build_symbol, infer, int_attribute, type_of
from flydsl.trace.wrap import register_wrapper

from . import above
from .address_space import llvm_number, space_argument
from .layout.construct import as_int_tuple
from .layout.objects import IntTuple, Swizzle
from .numeric.base import Numeric, as_numeric, wrap
from .numeric.cast import stored_number
from .numeric.meta import NumericMeta
from .numeric.types import Boolean, Int8, Int32, Int64
from .subscript import refuse_boolean
from .typed_memory import _TypedMemory
from .vector import Vector, _make

if TYPE_CHECKING:
    from .accepted import IntLike, IntTupleLike, TypeLike, ValueLike

__all__ = [
    "Pointer",
    "add_offset",
    "apply_swizzle",
    "get_dyn_shared",
    "inttoptr",
    "make_ptr",
    "ptr_load",
    "ptr_store",
    "ptrtoint",
    "recast_iter",
    "to_llvm_ptr",
]


class _PointerMeta(type):
    """Gives `fx.Pointer[dtype, space, alignment]`."""

    def __getitem__(cls, key: Any) -> Any:
        return above.typed_pointer(*(key if isinstance(key, tuple) else (key,)))


class Pointer(_TypedMemory, metaclass=_PointerMeta):
    """An address of elements of one type in one address space."""

    __slots__ = ()
    _kinds = (PointerFacts,)

    value_type = _TypedMemory.dtype

    @property
    def llvm_ptr(self) -> ir.Value:
        """The plain LLVM pointer; `ValueError` for a buffer resource."""
        return to_llvm_ptr(self)

    def __add__(self, offset: Any) -> Pointer:
        moved: Pointer = add_offset(self, offset)
        return moved

    __radd__ = __add__

    def __sub__(self, offset: Any) -> Pointer:
        if isinstance(offset, IntTuple):
            offset = offset.to_py_value()
        moved: Pointer = add_offset(self, -offset)
        return moved

    __iter__ = None  # a pointer has no end

    def __getitem__(self, offset: Any) -> Any:
        refuse_boolean(offset, "a pointer")
        return add_offset(self, offset).load()

    def __setitem__(self, offset: Any, value: Any) -> None:
        refuse_boolean(offset, "a pointer")
        add_offset(self, offset).store(value)

    def load(self, dtype: TypeLike | None = None) -> Any:
        """Load one value: of the element type, or of a numeric class, a vector alias or an MLIR type."""
        return ptr_load(self, dtype)

    def store(self, value: ValueLike) -> None:
        """Store a scalar or vector; Python numbers take the element type."""
        ptr_store(value, self)

    def view(self, layout: Any) -> Any:
        """Return the tensor that starts here and has this layout."""
        return above.make_view(self, layout)

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        return Pointer(values[0], getattr(exemplar, "_dtype", None))


register_wrapper(PointerFacts, Pointer)


def pointer_type(
    element: TypeLike, space: Any, alignment: int | None = None, swizzle: SwizzleFacts | None = None
) -> ir.Type:
    """Return the MLIR type of a pointer; `element` is a numeric class or an MLIR type, `alignment` in bytes."""
    kind = element.ir_type if isinstance(element, NumericMeta) else element
    swizzled = type_of(fly.SwizzleType, *swizzle) if swizzle is not None else None
    return type_of(fly.PointerType, kind, space_argument(space), alignment, swizzled)


def _check(p: Any, what: str) -> Pointer:
    if not isinstance(p, Pointer):
        raise TypeError(f"{what} takes a pointer, not {type(p).__name__}")
    return p


def add_offset(p: Pointer | IntTuple, offset: IntTupleLike) -> Any:
    """Return the pointer (or coordinate) moved by `offset` elements."""
    at = as_int_tuple(offset)
    if isinstance(p, IntTuple):
        return IntTuple(infer("fly.add_offset", (p.value, at.value)))
    p = _check(p, "add_offset")
    if not at.is_leaf:
        raise ValueError(f"add_offset: the offset of a pointer is one integer, got {at}")
    return Pointer(infer("fly.add_offset", (p.value, at.value)), p._dtype)


def ptr_load(p: Pointer, result_type: Any = None) -> Any:
    """Load from a pointer; see `Pointer.load`."""
    p = _check(p, "ptr_load")
    if result_type is None:
        result_type = p.dtype
    if isinstance(result_type, NumericMeta):
        return wrap(result_type, build("fly.ptr.load", (p.value,), result_type.ir_type))
    if isinstance(result_type, type) and issubclass(result_type, Vector):
        shape, dtype = result_type._alias_shape, result_type._alias_dtype  # type: ignore[attr-defined]
        if dtype is Boolean and p.facts.space != "register":  # a byte each in memory, and a bit in a vector
            octets = build("fly.ptr.load", (recast_iter(Int8, p).value,), Vector.make_type(shape, Int8))
            return _make(octets, shape, Int8) != 0
        return _make(build("fly.ptr.load", (p.value,), Vector.make_type(shape, dtype)), shape, dtype)
    if isinstance(result_type, ir.Type):
        value = build("fly.ptr.load", (p.value,), result_type)
        return Vector(value) if isinstance(result_type, ir.VectorType) else as_numeric(value)
    raise TypeError(f"a pointer loads a numeric class, a vector alias or an MLIR type, not {result_type!r}")


def ptr_store(value: Any, p: Pointer) -> None:
    """Store a scalar, vector or SSA value through a pointer; Python numbers take the element type."""
    p = _check(p, "ptr_store")
    if type(value) in (int, float, bool):
        value = stored_number(value, p.dtype)
    elif isinstance(value, IntTuple):
        value = as_numeric(value)
    if isinstance(value, (Numeric, Vector)):
        if value.dtype.ir_type != p.dtype.ir_type and value.dtype.width == p.dtype.width:
            raise TypeError(
                f"cannot store {value.dtype.__name__} through a pointer to {p.dtype.__name__}; convert it with "
                f".to(fx.{p.dtype.__name__}), or the pointer with fx.recast_iter"
            )
        if isinstance(value, Vector) and value.dtype is Boolean and p.facts.space != "register":
            p, value = recast_iter(Int8, p), value.to(Int8)
        value = value.ir_value()
    build_op("fly.ptr.store", (value, p.value))


def recast_iter(target: Any, p: Pointer) -> Pointer:
    """Return the pointer reinterpreted as one to another element type; space, alignment and swizzle are kept.

    A pointer to wider elements says that its address is a multiple of their size. That has to be so: loads that all
    threads share drop the lowest two bits of an address.

    Args:
        target: a numeric class, or a pointer type.
        p: the pointer.

    Raises:
        TypeError: `target` is neither.
    """
    if isinstance(target, Pointer):
        target, p = p, target
    p = _check(p, "recast_iter")
    facts = p.facts
    if isinstance(target, NumericMeta):
        alignment = max(facts.alignment, -(-target.width // 8))
        natural = -(-target.width // 8)
        alignment -= alignment % natural
        result = pointer_type(target, facts.space, alignment, facts.swizzle)
        return Pointer(build("fly.recast_iter", (p.value,), result), target)
    if isinstance(target, fly.PointerType):
        return Pointer(build("fly.recast_iter", (p.value,), target))
    raise TypeError(f"recast_iter takes a numeric class such as fx.Float8E4M3FN or a pointer type, got {target!r}")


def inttoptr(ptr_type: ir.Type, address: IntLike) -> Pointer:
    """Return an integer address as a pointer of the given type."""
    value = as_numeric(address)
    return Pointer(build("fly.inttoptr", (value.ir_value(),), ptr_type))


def ptrtoint(p: Pointer) -> Numeric:
    """Return the address: `Int64` for global, `Int32` for shared pointers; `ValueError` for others."""
    p = _check(p, "ptrtoint")
    space = p.facts.space
    if space not in ("global", "shared"):
        raise ValueError(f"ptrtoint: a pointer to {space} memory has no integer address; only global and shared do")
    return wrap(Int64 if space == "global" else Int32, infer("fly.ptrtoint", (p.value,)))


def to_llvm_ptr(p: Pointer) -> ir.Value:
    """Return the plain LLVM pointer."""
    p = _check(p, "to_llvm_ptr")
    number = llvm_number(p.facts.space)
    return infer("fly.to_llvm_ptr", (p.value,), {"llvm_address_space": int_attribute(number)})


def apply_swizzle(p: Pointer, swizzle: Any) -> Pointer:
    """Return the pointer with a swizzle that xors the byte address of every access.

    The swizzle counts bytes, unlike one in a composed layout, which counts elements. It keeps pieces of 2^base bytes
    together: no access through the pointer may be wider.

    Raises:
        TypeError: `p` is no pointer, or `swizzle` no swizzle.
        ValueError: the pieces are smaller than an element.
    """
    p = _check(p, "apply_swizzle")
    if not isinstance(swizzle, Swizzle):
        raise TypeError("apply_swizzle takes a swizzle, such as fx.static(fx.SwizzleType.get(3, 4, 3))")
    mask, base, shift = swizzle.mask, swizzle.base, swizzle.shift
    element = -(-p.facts.element_bits // 8)
    if mask > 0 and 0 <= base < 31 and element > 1 << base:
        raise ValueError(
            f"apply_swizzle: S<{mask},{base},{shift}> permutes pieces of {1 << base} bytes, since the swizzle of a "
            f"pointer counts bytes, and would tear the elements of {element} bytes apart; the base is at least "
            f"{(element - 1).bit_length()} here, and for wider accesses log2 of their bytes"
        )
    return Pointer(infer("fly.apply_swizzle", (p.value, swizzle.value)), p._dtype)


def make_ptr(ptr_type: ir.Type, args: Any = (), dict_attrs: dict[str, Any] | None = None) -> Pointer:
    """Make a pointer of the given type; what `args` and `dict_attrs` mean depends on the address space."""
    operands = [arg.ir_value() if hasattr(arg, "ir_value") else arg for arg in args]
    attributes: dict[str, ir.Attribute] = {}
    if dict_attrs:
        converted = {
            key: int_attribute(item, 64) if isinstance(item, int) else item for key, item in dict_attrs.items()
        }
        attributes["dictAttrs"] = ir.DictAttr.get(converted)
    return Pointer(build_symbol("fly.make_ptr", (ptr_type,), attributes, operands).results[0])


def get_dyn_shared(dtype: TypeLike | None = None) -> Pointer:
    """Return the base of dynamic LDS, 1024-byte aligned: bytes, or elements of `dtype`."""
    base = Pointer(build_symbol("fly.get_dyn_shared", (pointer_type(Int8, "shared", 1024),), {}).results[0])
    return base if dtype is None else recast_iter(dtype, base)


above.attach(recast_iter=recast_iter)
