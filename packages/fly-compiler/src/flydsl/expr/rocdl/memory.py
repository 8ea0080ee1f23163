# SPDX-License-Identifier: Apache-2.0
"""Raw buffer accesses, loads that bypass the registers, and transposed LDS reads, one instruction each.

Offsets of buffer accesses are in bytes; Python ints and scalars are accepted wherever an operand is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace import context as _trace
from flydsl.trace.build import build, build_op, i32_array, int_attribute, type_of, vector_type
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.base import as_numeric
from ..values.numeric.types import Index, Int8, Int16, Int32
from ..values.pointer import Pointer, to_llvm_ptr
from . import buffer_words
from .availability import check_instruction, is_available

if TYPE_CHECKING:
    from ..values.accepted import IntLike, TypeLike, ValueLike

__all__ = [
    "asyncmark",
    "buffer_load_to_lds",
    "cluster_load_async_to_lds",
    "lds_transpose_load",
    "raw_ptr_buffer_atomic_fadd",
    "raw_ptr_buffer_atomic_fmax",
    "raw_ptr_buffer_load",
    "raw_ptr_buffer_load_lds",
    "raw_ptr_buffer_store",
    "wait_asyncmark",
]


def _i32(value: Any) -> ir.Value:
    """Return an operand of 32 bits: a number or scalar; `None` is 0, an attribute (of a cache policy) its number."""
    if isinstance(value, ir.Attribute):
        value = ir.IntegerAttr(value).value
    return as_numeric(0 if value is None else value).to(Int32).ir_value()


def _pointer(value: Any) -> ir.Value:
    return to_llvm_ptr(value) if isinstance(value, Pointer) else as_ir_value(value)


def _type(res: Any) -> ir.Type:
    return res if isinstance(res, ir.Type) else res.ir_type


def raw_ptr_buffer_load(
    res: TypeLike, rsrc: ValueLike, offset: IntLike, soffset: IntLike = 0, aux: IntLike | ir.Attribute = 0
) -> ir.Value:
    """Load a value of type `res` (numeric class, vector alias or MLIR type) at a byte offset."""
    operands = (as_ir_value(rsrc), _i32(offset), _i32(soffset), _i32(aux))
    return buffer_words.load(_type(res), operands)


def raw_ptr_buffer_store(
    vdata: ValueLike, rsrc: ValueLike, offset: IntLike, soffset: IntLike = 0, aux: IntLike | ir.Attribute = 0
) -> None:
    """Store a value at a byte offset."""
    buffer_words.store(as_ir_value(vdata), (as_ir_value(rsrc), _i32(offset), _i32(soffset), _i32(aux)))


def raw_ptr_buffer_load_lds(
    rsrc: ValueLike,
    lds_ptr: ValueLike,
    size: IntLike,
    voffset: IntLike,
    soffset: IntLike = 0,
    offset: IntLike = 0,
    aux: IntLike | ir.Attribute = 0,
) -> None:
    """Load `size` bytes per lane from a buffer to LDS; the LDS address is that of the wave's first lane."""
    operands = (as_ir_value(rsrc), _pointer(lds_ptr), *(_i32(x) for x in (size, voffset, soffset, offset, aux)))
    build_op("rocdl.raw.ptr.buffer.load.lds", operands)


_SHARED = 3  # the address space, as LLVM counts
_SIZES = (1, 2, 4, 12, 16)  # that the instruction has on some chip


def buffer_load_to_lds(
    rsrc: ValueLike, lds_ptr: ValueLike, voffset: IntLike, size_bytes: int = 4, soffset: IntLike = 0, offset: int = 0
) -> None:
    """Load `size_bytes` per lane from a buffer to LDS.

    Raises:
        ValueError: a size that the target has not: 1, 2 and 4 bytes, and 12 and 16 on gfx950.
    """
    sizes = [size for size in _SIZES if is_available(f"rocdl.raw.ptr.buffer.load.lds.b{8 * size}")]
    if size_bytes not in sizes:
        have = ", ".join(map(str, sizes)) or "no"
        name = _trace.target().name
        raise ValueError(f"buffer_load_to_lds of {size_bytes} bytes: {name} has {have} bytes per lane")
    raw_ptr_buffer_load_lds(rsrc, lds_ptr, size_bytes, voffset, soffset, offset)


def _atomic(op: str, vdata: Any, rsrc: Any, offset: Any, soffset: Any, aux: Any) -> None:
    operands = (as_ir_value(vdata), as_ir_value(rsrc), _i32(offset), _i32(soffset), _i32(aux))
    build_op(op, operands)


def raw_ptr_buffer_atomic_fadd(
    vdata: ValueLike, rsrc: ValueLike, offset: IntLike, soffset: IntLike = 0, aux: IntLike | ir.Attribute = 0
) -> None:
    """Add a float, or a pair of 16-bit floats, at a byte offset."""
    _atomic("rocdl.raw.ptr.buffer.atomic.fadd", vdata, rsrc, offset, soffset, aux)


def raw_ptr_buffer_atomic_fmax(
    vdata: ValueLike, rsrc: ValueLike, offset: IntLike, soffset: IntLike = 0, aux: IntLike | ir.Attribute = 0
) -> None:
    """Raise memory to a float, at a byte offset."""
    _atomic("rocdl.raw.ptr.buffer.atomic.fmax", vdata, rsrc, offset, soffset, aux)


_TRANSPOSES = {1: ("rocdl.ds.read.tr8.b64", 2, Int32), 2: ("rocdl.ds.read.tr16.b64", 4, Int16)}


def lds_transpose_load(result_type: ir.Type, lds: ValueLike, elem_offset: IntLike, elem_bytes: int) -> ir.Value:
    """Read 64 bits of 1- or 2-byte elements from LDS, transposed among 16 lanes (gfx950).

    Args:
        result_type: the MLIR vector type of the result, 64 bits.
        lds: a pointer to LDS, or a builtin memref in LDS.
        elem_offset: in elements.
        elem_bytes: 1 or 2.

    Raises:
        ValueError: another target or element size.
    """
    if elem_bytes not in _TRANSPOSES:
        raise ValueError(f"lds_transpose_load has elements of 1 or 2 bytes, not {elem_bytes!r}")
    op, lanes, word = _TRANSPOSES[elem_bytes]
    check_instruction(op, "lds_transpose_load")
    raw = build(op, (_lds_address(lds, as_numeric(elem_offset) * elem_bytes),), vector_type(lanes, word.ir_type))
    target = _type(result_type)
    return raw if raw.type == target else build("vector.bitcast", (raw,), target)


def _lds_address(lds: Any, byte_offset: Any) -> ir.Value:
    pointer_type = type_of(PointerType, _SHARED)
    if isinstance(lds, Pointer):
        base = to_llvm_ptr(lds)
    else:
        value = as_ir_value(lds)
        index = build("memref.extract_aligned_pointer_as_index", (value,), Index.ir_type)
        base = build("llvm.inttoptr", (build("arith.index_cast", (index,), Int32.ir_type),), pointer_type)
    attributes = {
        "elem_type": ir.TypeAttr.get(Int8.ir_type),
        "rawConstantIndices": i32_array([-2147483648]),
    }
    return build("llvm.getelementptr", (base, _i32(byte_offset)), pointer_type, attributes)


_CLUSTER = {1: "b8", 4: "b32", 8: "b64", 16: "b128"}


def cluster_load_async_to_lds(
    global_ptr: ValueLike,
    lds_ptr: ValueLike,
    size_bytes: int,
    offset: int = 0,
    cpol: int = 0,
    mask: IntLike | None = None,
) -> None:
    """Load `size_bytes` (1, 4, 8 or 16) per lane to the LDS of the cluster's workgroups in `mask` (gfx1250)."""
    if size_bytes not in _CLUSTER:
        raise ValueError(f"cluster_load_async_to_lds moves 1, 4, 8 or 16 bytes, not {size_bytes!r}")
    operation = f"rocdl.cluster.load.async.to.lds.{_CLUSTER[size_bytes]}"
    check_instruction(operation, "cluster_load_async_to_lds")
    operands = (_pointer(global_ptr), _pointer(lds_ptr), _i32(0 if mask is None else mask))
    attributes = {"offset": int_attribute(int(offset), 32), "cpol": int_attribute(int(cpol), 32)}
    build_op(operation, operands, (), attributes)


def asyncmark() -> None:
    """End a group of async loads to LDS (gfx950).

    LLVM 22 has no groups: its waits count all loads, so nothing is emitted; `wait_asyncmark` waits for everything.
    """
    check_instruction("rocdl.asyncmark", "asyncmark")


def wait_asyncmark(count: int = 0) -> None:
    """Wait until at most `count` groups of async loads are outstanding (gfx950).

    LLVM 22 has no groups: this waits for all outstanding vector memory loads, which is never too little.
    """
    check_instruction("rocdl.wait.asyncmark", "wait_asyncmark")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"wait_asyncmark takes a number of groups known while tracing, got {count!r}")
    from .waits import s_waitcnt

    s_waitcnt(vmcnt=0)
