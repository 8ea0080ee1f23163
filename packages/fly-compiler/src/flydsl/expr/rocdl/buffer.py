# SPDX-License-Identifier: Apache-2.0
"""Buffer resources: pointers with a size, for accesses that the hardware checks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import build, build_op, infer, vector_type
from flydsl.trace.wrap import wrap_any

from ..ops.atom_types import CopyOp, register_copy_of_space
from ..values.layout.sizes import cosize
from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int16, Int32, Int64, Int128
from ..values.pointer import Pointer, pointer_type
from ..values.tensor import Tensor, make_view
from .enum import TargetAddressSpace

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = ["get_buffer_rsrc", "make_buffer_ptr", "make_buffer_tensor", "resource_flags", "s_buffer_load"]

UNLIMITED = 0xFFFFFFFF


def _buffer_copy(bits: int) -> CopyOp:
    from .copy_ops import BufferCopy  # all copies of the target: few kernels ask for one by its space

    return BufferCopy(bits)


register_copy_of_space(TargetAddressSpace.BufferDesc, _buffer_copy)


def resource_flags(sized: bool = False) -> int:
    """Return what LLVM takes as the flags of a buffer resource for raw accesses on the target.

    Word 3 of the descriptor: data format 7 in bits 14 to 12, number format 4 from bit 15; RDNA sets bit 24, and has the
    out-of-bounds selection in bits 29 and 28: 2 (unchecked), or 3 (raw) when the resource has a size. The descriptor of
    gfx1250 has no formats, and its records reach into word 3: there the flags are bits 31 to 28 alone, of which the two
    low ones are the same selection.
    """
    family = _trace.target().family
    out_of_bounds = 3 if sized else 2
    if family == "gfx1250":
        return out_of_bounds
    flags = (7 << 12) | (4 << 15)
    if family in ("rdna3", "rdna4"):
        flags |= (1 << 24) | (out_of_bounds << 28)
    return flags


def _signed32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def make_buffer_ptr(ptr: Any, num_records_bytes: IntLike | None = None) -> Pointer:
    """Return the buffer-resource pointer of a global pointer.

    Args:
        ptr: a pointer to global memory.
        num_records_bytes: the size in bytes; accesses beyond read zero and write nothing. Unlimited by default.

    Raises:
        ValueError: the pointer is not to global memory.
    """
    if not isinstance(ptr, Pointer):
        raise TypeError(f"make_buffer_ptr takes a pointer, not {type(ptr).__name__}")
    facts = ptr.facts
    if facts.space != "global":
        raise ValueError(f"a buffer resource is made of a pointer to global memory, not to {facts.space}")
    size = Int64(UNLIMITED if num_records_bytes is None else num_records_bytes)
    flags = Int32(_signed32(resource_flags(num_records_bytes is not None)))
    result = pointer_type(ptr.dtype, "#fly_rocdl.buffer_desc", facts.alignment, facts.swizzle)
    operands = (ptr.value, Int16(0).ir_value(), size.ir_value(), flags.ir_value())
    return Pointer(build("fly.make_ptr", operands, result), ptr._dtype)


def make_buffer_tensor(tensor: Any, max_size: bool = True, *, num_records_bytes: IntLike | None = None) -> Tensor:
    """Return the tensor with the same layout in a buffer resource.

    Args:
        tensor: a tensor in global memory.
        max_size: whether the resource is unlimited; else its size is that of the layout, computed at run time.
        num_records_bytes: the size in bytes, instead.

    Raises:
        ValueError: the tensor is not in global memory.
    """
    if not isinstance(tensor, Tensor) or tensor.is_coordinate:
        raise TypeError("make_buffer_tensor takes a tensor in global memory")
    layout = tensor.layout
    if num_records_bytes is None and not max_size:
        extent = as_numeric(cosize(layout)).to(Int64)
        bits = tensor.dtype.width
        num_records_bytes = extent * (bits // 8) if bits >= 8 else (extent * bits + 7) // 8
    return make_view(make_buffer_ptr(tensor.iter, num_records_bytes), layout)


def get_buffer_rsrc(ptr: Any) -> ir.Value:
    """Return the raw resource (`!llvm.ptr<8>`) of a buffer pointer or tensor; `ValueError` for other pointers."""
    pointer = ptr.iter if isinstance(ptr, Tensor) else ptr
    if not isinstance(pointer, Pointer):
        raise TypeError(f"get_buffer_rsrc takes a buffer pointer, not {type(ptr).__name__}")
    return infer("fly_rocdl.get_buffer_rsrc", (pointer.value,))


def s_buffer_load(ptr: Any, offset: IntLike, *, count: int = 1, cache_modifier: int = 0) -> Any:
    """Load 1 or 4 uniform 32-bit integers by a scalar load; `offset` in elements, the same in all lanes."""
    if count not in (1, 4):
        raise ValueError(f"s_buffer_load loads 1 or 4 values, not {count!r}")
    four = vector_type(4, Int32.ir_type)
    result = Int32.ir_type if count == 1 else four
    name = "llvm.amdgcn.s.buffer.load." + ("i32" if count == 1 else "v4i32")
    resource = build("llvm.ptrtoint", (get_buffer_rsrc(ptr),), Int128.ir_type)
    words = build("llvm.bitcast", (resource,), four)
    byte = (as_numeric(offset).to(Int32) * 4).ir_value()
    op = build_op(
        "llvm.call_intrinsic",
        (words, byte, Int32(cache_modifier).ir_value()),
        (result,),
        {
            "intrin": ir.StringAttr.get(name),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([3, 0]),
        },
    )
    return wrap_any(op.results[0])
