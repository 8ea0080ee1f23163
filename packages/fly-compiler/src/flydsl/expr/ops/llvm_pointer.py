# SPDX-License-Identifier: Apache-2.0
"""Raw LLVM pointers, for kernels that are written on addresses: made of what points, moved by bytes, taken as numbers.

A raw pointer (`!llvm.ptr<n>`) says its address space and nothing else. Loads, stores and atomics of the language take
it as they take an `fx.Pointer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace.build import build, i32_array, type_of

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Int8, Int32, Int64
from ..values.pointer import Pointer, to_llvm_ptr
from ..values.tensor import Tensor

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = ["is_llvm_pointer", "llvm_pointer", "llvm_pointer_add", "llvm_pointer_to_int"]

_GENERIC, _GLOBAL, _SHARED, _PRIVATE = _SPACES = (0, 1, 3, 5)
_DYNAMIC = -(1 << 31)
"""MLIR's mark for an index that is an operand."""


def is_llvm_pointer(value: Any) -> bool:
    """Tell whether a value is a raw LLVM pointer, of any address space."""
    return isinstance(value, ir.Value) and isinstance(value.type, PointerType)


def llvm_pointer(value: Any, address_space: int = 0) -> ir.Value:
    """Return a tensor, a pointer, a raw pointer or an integer address as a raw LLVM pointer.

    Args:
        value: what to point to.
        address_space: LLVM's number: 0 generic, 1 global, 3 shared, 5 private.

    Raises:
        ValueError: another address space.
    """
    if address_space not in _SPACES:
        raise ValueError(f"llvm_pointer: address space {address_space!r} is none of {', '.join(map(str, _SPACES))}")
    kind = type_of(PointerType, address_space)
    if isinstance(value, Tensor):
        value = value.iter
    if isinstance(value, Pointer):
        value = to_llvm_ptr(value)
    if is_llvm_pointer(value):
        return value if value.type == kind else build("llvm.addrspacecast", (value,), kind)
    address = as_numeric(value).to(Int64 if address_space < 2 else Int32)
    return build("llvm.inttoptr", (address.ir_value(),), kind)


def llvm_pointer_add(base: Any, offset: IntLike, element: Any = None) -> ir.Value:
    """Return a raw LLVM pointer moved by `offset` elements.

    Args:
        base: a raw pointer, or what `llvm_pointer` takes, which is then in global memory.
        offset: an integer of Python or of the language.
        element: a numeric class or MLIR type, in whose size the offset counts; by default bytes.
    """
    element = Int8 if element is None else element
    kind = element.ir_type if isinstance(element, NumericMeta) else element
    pointer = base if is_llvm_pointer(base) else llvm_pointer(base, 1)
    number = as_numeric(offset)
    known = number.is_static() and abs(int(number)) < 1 << 31  # as the op's constants have 32 bits
    operands, index = ([], int(number)) if known else ([number.ir_value()], _DYNAMIC)
    attributes = {"rawConstantIndices": i32_array([index]), "elem_type": ir.TypeAttr.get(kind)}
    return build("llvm.getelementptr", (pointer, *operands), pointer.type, attributes)


def llvm_pointer_to_int(pointer: Any) -> Numeric:
    """Return the address: `Int64` for generic and global memory, `Int32` for shared memory.

    Raises:
        TypeError: no raw LLVM pointer, or one to other memory.
    """
    space = pointer.type.address_space if is_llvm_pointer(pointer) else None
    if space not in (_GENERIC, _GLOBAL, _SHARED):
        what = type(pointer).__name__ if space is None else pointer.type
        raise TypeError(f"llvm_pointer_to_int: an address in {what} is none of global or shared memory")
    cls = Int32 if space == _SHARED else Int64
    return wrap(cls, build("llvm.ptrtoint", (pointer,), cls.ir_type))
