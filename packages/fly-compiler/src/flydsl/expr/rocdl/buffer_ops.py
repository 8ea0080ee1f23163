# SPDX-License-Identifier: Apache-2.0
"""Loads and stores through a buffer resource, by element offset; the hardware checks bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import build, vector_type

from ..values.numeric.base import _class_of, as_numeric, wrap
from ..values.numeric.meta import NumericMeta, class_of_ir_type
from ..values.numeric.types import Boolean, Int32, Int128
from ..values.tensor import Tensor
from ..values.vector import Vector, _make
from . import buffer_words
from .buffer import UNLIMITED, get_buffer_rsrc, make_buffer_ptr
from .intrinsic import call_intrinsic

if TYPE_CHECKING:
    from ..values.accepted import IntLike, ScalarLike, TypeLike, ValueLike

__all__ = ["BufferResource", "buffer_load", "buffer_store", "create_buffer_resource", "scalar_buffer_load"]


class BufferResource:
    """A raw buffer resource and the class of the elements that offsets count."""

    __slots__ = ("dtype", "value")

    def __init__(self, value: ir.Value, dtype: NumericMeta | None) -> None:
        self.value, self.dtype = value, dtype

    def ir_value(self) -> ir.Value:
        """Return the raw resource."""
        return self.value

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> BufferResource:
        return cls(values[0], getattr(exemplar, "dtype", None))


def create_buffer_resource(
    tensor: Any, max_size: bool = True, num_records_bytes: IntLike | None = None
) -> BufferResource:
    """Return the resource of a tensor (or pointer) in global memory.

    Args:
        tensor: what to access; its first element is offset 0.
        max_size: whether the resource is unlimited; else it ends with the tensor.
        num_records_bytes: its size in bytes, instead.
    """
    if num_records_bytes is None and (max_size or not isinstance(tensor, Tensor)):
        num_records_bytes = UNLIMITED  # given, so that RDNA checks it: masks are offsets out of bounds
    if isinstance(tensor, Tensor):
        from .buffer import make_buffer_tensor

        buffer = make_buffer_tensor(tensor, max_size, num_records_bytes=num_records_bytes)
        return BufferResource(get_buffer_rsrc(buffer), tensor.dtype)
    return BufferResource(get_buffer_rsrc(make_buffer_ptr(tensor, num_records_bytes)), tensor.dtype)


def _resource(rsrc: Any) -> tuple[ir.Value, NumericMeta | None]:
    if isinstance(rsrc, BufferResource):
        return rsrc.value, rsrc.dtype
    if isinstance(rsrc, ir.Value):
        return rsrc, None
    raise TypeError(f"expected a buffer resource from create_buffer_resource, got {type(rsrc).__name__}")


def _offset(offset: Any, cls: NumericMeta, mask: Any, is_bytes: bool = False) -> ir.Value:
    """Return the byte offset; where the mask is false it lies outside every resource."""
    nbytes = as_numeric(offset).to(Int32)
    if not is_bytes:
        nbytes = nbytes * (cls.width // 8) if cls.width >= 8 else (nbytes * cls.width).shrui(3)
    if mask is not None:
        nbytes = as_numeric(mask).__dsl_bool__().select(nbytes, Int32(-1))
    return nbytes.ir_value()


def _narrow(cls: NumericMeta) -> bool:
    return cls.is_float and cls.width < 16


def buffer_load(
    rsrc: ValueLike,
    offset: IntLike,
    vec_width: int = 1,
    dtype: TypeLike | None = None,
    mask: ScalarLike | None = None,
    cache_modifier: int = 0,
    soffset_bytes: IntLike | None = None,
) -> Any:
    """Load `vec_width` elements at `offset` (in elements): a scalar, or a `Vector`.

    Args:
        rsrc: what `create_buffer_resource` gave.
        offset: in elements of `dtype`.
        vec_width: how many.
        dtype: a numeric class or MLIR type; by default the tensor's own.
        mask: a Boolean; where it is false the result is zero.
        cache_modifier: 0, or 2 for non-temporal.
        soffset_bytes: a uniform offset in bytes to add.

    Raises:
        TypeError: a raw resource without `dtype`.
        ValueError: a width that no buffer load has.
    """
    resource, known = _resource(rsrc)
    if dtype is None and known is None:
        raise TypeError("buffer_load from a raw resource needs dtype=")
    cls = known if dtype is None else _class_of(dtype)
    assert cls is not None
    bits = cls.width * vec_width
    if vec_width < 1 or bits not in (8, 16, 32, 64, 96, 128):
        raise ValueError(
            f"a buffer load moves 8, 16, 32, 64, 96 or 128 bits, not {vec_width} x {cls.__name__} ({bits} bits)"
        )
    element = class_of_ir_type(ir.IntegerType.get_signless(cls.width)) if _narrow(cls) else cls
    kind = element.ir_type if vec_width == 1 else vector_type(vec_width, element.ir_type)
    operands = (resource, _offset(offset, cls, mask), _bytes(soffset_bytes), Int32(cache_modifier).ir_value())
    value = buffer_words.load(kind, operands)
    if vec_width == 1:
        return wrap(element, value).bitcast(cls) if element is not cls else wrap(cls, value)
    vector = _make(value, (vec_width,), element)
    return vector.bitcast(cls) if element is not cls else vector


def scalar_buffer_load(rsrc: ValueLike, word: IntLike, words: int = 1, cache_modifier: int = 0) -> Any:
    """Load 1, 2 or 4 words of 32 bits through the scalar cache: an `Int32`, or a `Vector` of them.

    Args:
        rsrc: what `create_buffer_resource` gave; nobody writes its memory during the kernel.
        word: where, uniform, in words from the beginning of the resource.
        words: how many.
        cache_modifier: the cache policy.

    Raises:
        ValueError: another number of words.
    """
    if words not in (1, 2, 4):
        raise ValueError(f"a scalar load has 1, 2 or 4 words, not {words!r}")
    resource, _ = _resource(rsrc)
    bits = build("llvm.ptrtoint", (resource,), Int128.ir_type)
    descriptor = build("llvm.bitcast", (bits,), vector_type(4, Int32.ir_type))
    operands = (descriptor, (as_numeric(word).to(Int32) * 4).ir_value(), Int32(cache_modifier).ir_value())
    if words == 1:
        return wrap(Int32, call_intrinsic("llvm.amdgcn.s.buffer.load.i32", operands, Int32.ir_type))
    kind = vector_type(words, Int32.ir_type)
    return _make(call_intrinsic(f"llvm.amdgcn.s.buffer.load.v{words}i32", operands, kind), (words,), Int32)


def _bytes(value: Any) -> ir.Value:
    return as_numeric(0 if value is None else value).to(Int32).ir_value()


def buffer_store(
    data: ValueLike,
    rsrc: ValueLike,
    offset: IntLike,
    mask: ScalarLike | None = None,
    cache_modifier: int = 0,
    soffset_bytes: IntLike | None = None,
    offset_is_bytes: bool = False,
) -> None:
    """Store a scalar or vector at `offset`; where `mask` is false nothing is written.

    `offset` counts elements of the type of `data`, or bytes with `offset_is_bytes`; the rest as `buffer_load`.
    """
    resource, _ = _resource(rsrc)
    value: Any = data
    if isinstance(data, ir.Value):
        value = Vector(data) if isinstance(data.type, ir.VectorType) else as_numeric(data)
    elif not isinstance(data, Vector):
        value = as_numeric(data)
    cls = value.dtype
    if cls is Boolean:
        raise TypeError("buffer_store of Booleans; convert them, for example x.to(fx.Int8)")
    at = _offset(offset, cls, mask, offset_is_bytes)
    if _narrow(cls):
        value = value.bitcast(class_of_ir_type(ir.IntegerType.get_signless(cls.width)))
    operands = (resource, at, _bytes(soffset_bytes), Int32(cache_modifier).ir_value())
    buffer_words.store(value.ir_value(), operands)
