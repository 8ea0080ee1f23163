# SPDX-License-Identifier: Apache-2.0
"""`Vector`: values held in registers, with a row-major logical shape and NumPy-like behaviour.

A `Vector` is a flat MLIR vector, a static (possibly nested) shape, and the numeric class of its lanes.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterator, Sequence
from typing import Any, overload

from flydsl._mlir import ir
from flydsl.trace.build import attribute, build, build_op, element_type_of, i64_array, int_attribute, vector_type
from flydsl.trace.fastmath import FastMath, flags_attribute
from flydsl.trace.wrap import register_makers

from . import above
from .arith_value import ArithValue, element_class
from .numeric.base import Numeric, _class_of, as_numeric, wrap
from .numeric.cast import RoundingMode, cast_number, cast_value, constant, held_number, stored_number
from .numeric.literals import check_literal
from .numeric.meta import NumericMeta, class_of_ir_type, classes
from .numeric.operator_methods import Operators
from .numeric.operators import (
    POW,
    BinaryOp,
    agreed,
    emit_absolute,
    emit_binary,
    emit_invert,
    emit_negative,
    operand_type,
    result_type,
)
from .numeric.promote import common_type
from .subscript import refuse_boolean
from .vector_shape import broadcast_index, broadcast_shapes, count, flatten, lanes_of, normal_shape

__all__ = ["ReductionOp", "Vector"]

_DYNAMIC = -(1 << 63)
_COMBINING = "flydsl._mlir.dialects._vector_enum_gen"  # asked for by name: importing it takes long, and few need it


class ReductionOp(enum.Enum):
    """The associative operations of reductions and scans."""

    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"

    @classmethod
    def of(cls, op: Any) -> ReductionOp:
        """Return `op`, or the operation of that name; `ValueError` or `TypeError` when there is none."""
        if isinstance(op, ReductionOp):
            return op
        if isinstance(op, str):
            try:
                return cls(op)
            except ValueError:
                known = ", ".join(repr(one.value) for one in cls)
                raise ValueError(f"unknown reduction '{op}'; there are {known}") from None
        raise TypeError(f"a reduction is an fx.ReductionOp or a string, not {type(op).__name__}")


class _VectorMeta(type):
    """Gives `fx.Vector[dtype, lanes]`."""

    def __getitem__(cls, key: Any) -> Any:
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError("write fx.Vector[dtype, lanes] or fx.Vector[dtype, shape]")
        return above.VectorAlias(*key)


class Vector(Operators, metaclass=_VectorMeta):
    """A register vector.

    Args:
        value: an SSA vector (or scalar, taken as one lane), a `Vector`.
        shape: its logical shape; by default one mode of all lanes.
        dtype: class of the lanes; by default that of the MLIR type (signed integers).

    Raises:
        ValueError: the shape has not as many elements as the vector, is not static, or `dtype` is another MLIR type.
        TypeError: `value` is no vector.
    """

    __slots__ = ("_dtype", "_shape", "value")

    value: ir.Value
    _shape: tuple[Any, ...]
    _dtype: NumericMeta
    __dsl_vector__ = True

    def __init__(self, value: Any, shape: Any = None, dtype: Any = None) -> None:
        if isinstance(value, Vector):
            shape = value._shape if shape is None else shape
            dtype = value._dtype if dtype is None else dtype
            value = value.value
        if isinstance(value, Numeric):
            dtype = value.dtype if dtype is None else dtype
            value = value.ir_value()
        if not isinstance(value, ir.Value):
            raise TypeError(
                f"fx.Vector(...) wraps an SSA vector, not {type(value).__name__}; build one from numbers with "
                "fx.full(shape, value, dtype) or fx.Vector.from_elements([...])"
            )
        kind = value.type
        if not isinstance(kind, ir.VectorType):
            kind = vector_type(1, kind)
            value = build("vector.broadcast", (value,), kind)
        lanes = 1
        for extent in kind.shape:
            lanes *= extent
        if len(kind.shape) != 1:
            value = build("vector.shape_cast", (value,), vector_type(lanes, kind.element_type))
        if dtype is None:
            dtype = element_class(value)
        else:
            dtype = _class_of(dtype)
            if dtype.ir_type != kind.element_type:
                raise ValueError(
                    f"the vector has elements of type {kind.element_type}, dtype={dtype.__name__} does not"
                )
        shape = (lanes,) if shape is None else normal_shape(shape)
        if count(shape) != lanes:
            raise ValueError(f"shape {shape} has {count(shape)} elements, the vector has {lanes}")
        self.value, self._shape, self._dtype = value, shape, dtype

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> NumericMeta:
        """The numeric class of the lanes."""
        return self._dtype

    element_type = dtype

    @property
    def signed(self) -> bool:
        """Whether the lanes are signed integers."""
        return bool(self._dtype.signed)

    @property
    def owner(self) -> Any:
        """The operation (or block) that the SSA vector is of."""
        return self.value.owner

    @property
    def result(self) -> ir.Value:
        """The flat SSA vector; an op has its result under that name."""
        return self.value

    @property
    def shape(self) -> tuple[Any, ...]:
        """The logical shape, row-major, possibly nested."""
        return self._shape

    @property
    def numel(self) -> int:
        """The number of elements."""
        return count(self._shape)

    @property
    def type(self) -> ir.Type:
        """The MLIR type."""
        return self.value.type

    def ir_value(self) -> ir.Value:
        """Return the flat SSA vector."""
        return self.value

    def __len__(self) -> int:
        return self.numel

    def __repr__(self) -> str:
        return f"Vector<{self._dtype.__name__}, {self._shape}>"

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash((self.value, self._shape, self._dtype))

    def __deepcopy__(self, memo: dict[int, object]) -> Vector:
        return self  # as for Python's numbers, which do not change either

    def __iter__(self) -> Iterator[Any]:
        return (self._lane(i) for i in range(self.numel))

    # -- construction --------------------------------------------------------------------------------------------------

    @staticmethod
    def make_type(shape: Any, dtype: Any) -> ir.Type:
        """Return the MLIR type of a vector of that shape and dtype."""
        return vector_type(count(normal_shape(shape)), _class_of(dtype).ir_type)

    @staticmethod
    def filled(shape: Any, value: Any, dtype: Any = None) -> Vector:
        """Return a vector with `value` (a number or scalar) in every lane; as `fx.full`."""
        result: Vector = above.full(shape, value, dtype)
        return result

    @staticmethod
    def filled_like(other: Vector, value: Any, dtype: Any = None) -> Vector:
        """Return a vector of the shape (and, without `dtype`, the dtype) of `other`, filled with `value`."""
        result: Vector = above.full_like(other, value, dtype)
        return result

    @staticmethod
    def zeros_like(other: Vector, dtype: Any = None) -> Vector:
        """Return a vector of zeros of the shape (and, without `dtype`, the dtype) of `other`."""
        result: Vector = above.full_like(other, 0, dtype)
        return result

    @staticmethod
    def from_elements(elements: Sequence[Any], dtype: Any = None) -> Vector:
        """Return the vector of these scalars; `dtype` is by default that of the first.

        Raises:
            ValueError: there are no elements.
        """
        items = list(elements)
        if not items:
            raise ValueError("fx.Vector.from_elements needs at least one element")
        cls = as_numeric(items[0]).dtype if dtype is None else _class_of(dtype)
        lanes = [element(item, cls).ir_value() for item in items]
        return _make(build("vector.from_elements", lanes, vector_type(len(lanes), cls.ir_type)), (len(lanes),), cls)

    @staticmethod
    def load(result_type: Any, memref: Any, indices: Sequence[Any], alignment: int | None = None) -> Vector:
        """Load a vector of the MLIR type `result_type` (or vector alias) from a builtin memref at `indices`."""
        if isinstance(result_type, type) and issubclass(result_type, Vector):
            result_type = result_type.make_type(result_type._alias_shape, result_type._alias_dtype)  # type: ignore[attr-defined]
        attributes = {} if alignment is None else {"alignment": int_attribute(alignment, 64)}
        return Vector(build("vector.load", (_raw(memref), *_indices(indices)), result_type, attributes))

    def store(self, memref: Any, indices: Sequence[Any], alignment: int | None = None) -> None:
        """Store this vector to a builtin memref at `indices`; `alignment` in bytes."""
        attributes = {} if alignment is None else {"alignment": int_attribute(alignment, 64)}
        build_op("vector.store", (self.value, _raw(memref), *_indices(indices)), (), attributes)

    # -- shape and lanes -----------------------------------------------------------------------------------------------

    def reshape(self, shape: Any) -> Vector:
        """Return the same lanes under another shape of as many elements; `ValueError` otherwise."""
        return Vector(self.value, shape, self._dtype)

    def broadcast_to(self, shape: Any) -> Vector:
        """Return this vector repeated to `shape` by NumPy's rules; `ValueError` when they do not allow it."""
        shape = normal_shape(shape)
        if broadcast_shapes(self._shape, shape) != flatten(shape):
            raise ValueError(f"cannot broadcast shapes {self._shape} to {shape}")
        return _make(_spread(self, flatten(shape)), shape, self._dtype)

    def _lane(self, index: int) -> Any:
        value = build(
            "vector.extract",
            (self.value,),
            element_type_of(self.value),
            {"static_position": i64_array([index])},
        )
        return wrap(self._dtype, value)

    @overload
    def __getitem__(self, index: int | Numeric) -> Numeric: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) or (isinstance(index, tuple) and any(isinstance(i, slice) for i in index)):
            raise TypeError("a Vector is indexed with integers and None; slices are not supported")
        if isinstance(index, tuple):
            if len(self._shape) != 1 or len(index) != 1 or index[0] is None or isinstance(index[0], tuple):
                return self._sub(index)
            index = index[0]
        if index is None:
            return self
        refuse_boolean(index, "a Vector")
        if isinstance(index, (Numeric, ir.Value)) and not (isinstance(index, Numeric) and index.is_static()):
            position = as_numeric(index).to(classes.Index).ir_value()
            attributes = {"static_position": i64_array([_DYNAMIC])}
            return wrap(
                self._dtype, build("vector.extract", (self.value, position), element_type_of(self.value), attributes)
            )
        try:
            number = operator.index(index)
        except TypeError:
            raise TypeError(f"a Vector is indexed with integers and None, not {type(index).__name__}") from None
        if not -self.numel <= number < self.numel:
            raise IndexError(f"index {number} is out of range for a vector of {self.numel} elements")
        return self._lane(number % self.numel)

    def _sub(self, index: tuple[Any, ...]) -> Any:
        lanes, shape = lanes_of(self._shape, tuple(_static_index(i) for i in index))
        if not shape:
            return self._lane(lanes[0])
        return _make(_shuffle(self.value, self.value, lanes), shape, self._dtype)

    def shuffle(self, other: Any, mask: Sequence[int]) -> Vector:
        """Return the lanes that `mask` names, counted through this vector and then `other`."""
        other = other if isinstance(other, Vector) else Vector(other, dtype=self._dtype)
        total = self.numel + other.numel
        for lane in mask:
            if not 0 <= int(lane) < total:
                raise IndexError(f"shuffle mask entry {lane} is out of range for {total} lanes")
        lanes = [int(lane) for lane in mask]
        return _make(_shuffle(self.value, other.value, lanes), (len(lanes),), self._dtype)

    # -- conversions ---------------------------------------------------------------------------------------------------

    def to(self, dtype: Any, rounding_mode: Any = None) -> Vector:
        """Convert every lane to `dtype`; `rounding_mode` as for scalars. To the dtype it has, the vector itself."""
        cls = _class_of(dtype)
        if cls is self._dtype:
            return self
        if rounding_mode is not None:
            if not (cls.is_float and self._dtype.is_float):
                raise TypeError(
                    f"rounding_mode applies to float to float, not {self._dtype.__name__} to {cls.__name__}"
                )
            rounding_mode = RoundingMode[rounding_mode.name]
        return _make(cast_value(self.value, self._dtype, cls, rounding_mode), self._shape, cls)

    def bitcast(self, dtype: Any) -> Vector:
        """Reinterpret the bits as `dtype`; the result is flat, its number of elements rescaled.

        Raises:
            ValueError: the bits do not divide into elements of `dtype`.
        """
        cls = _class_of(dtype)
        bits = self.numel * self._dtype.width
        if bits % cls.width:
            raise ValueError(f"{self.numel} x {self._dtype.__name__} ({bits} bits) do not divide into {cls.__name__}")
        lanes = bits // cls.width
        if cls.ir_type == element_type_of(self.value):
            return _make(self.value, (lanes,), cls)
        return _make(build("vector.bitcast", (self.value,), vector_type(lanes, cls.ir_type)), (lanes,), cls)

    def select(self, true_value: Any, false_value: Any) -> Vector:
        """Return, lane by lane, `true_value` where this vector is true (not zero), else `false_value`."""
        return select_lanes(self, true_value, false_value)

    def _kind(self, op: Any) -> str:
        """Return MLIR's name of a reduction of these lanes."""
        if type(op).__module__ == _COMBINING:
            return str(op)
        kind, cls = ReductionOp.of(op), self._dtype
        if kind not in (ReductionOp.MAX, ReductionOp.MIN):
            return str(kind.value)
        if cls.is_float:
            return "maxnumf" if kind is ReductionOp.MAX else "minimumf"
        return str(kind.value) + ("si" if cls.signed and cls.width > 1 else "ui")

    def reduce(
        self, op: Any, init_val: Any = None, reduction_profile: Any = None, *, fastmath: FastMath = None
    ) -> Numeric:
        """Combine all lanes to one scalar.

        Args:
            op: `fx.ReductionOp` or its name. Float `max` ignores NaN, float `min` propagates it; integers follow
                signedness. MLIR's own `CombiningKind` is taken as it is.
            init_val: a scalar to begin with.
            reduction_profile: `None` or 0: all lanes are combined.
            fastmath: flags for float reductions; `reassoc` lets lanes be combined in any order.
        """
        if reduction_profile not in (None, 0):
            raise NotImplementedError("a Vector is reduced over all its lanes; reduction_profile is None")
        cls, name = self._dtype, self._kind(op)
        operands = [self.value]
        if init_val is not None:
            operands.append(as_numeric(init_val).to(cls).ir_value())
        attributes = dict((flags_attribute(fastmath) or {}) if cls.is_float else {})
        attributes["kind"] = attribute(f"#vector.kind<{name}>")
        return wrap(cls, build("vector.reduction", operands, cls.ir_type, attributes))

    def _raw_cast(self, method: str, target: Any) -> Vector:
        result = getattr(ArithValue(self.value), method)(target)
        return _make(result, self._shape, class_of_ir_type(result.type.element_type))

    def extf(self, target: Any) -> Vector:
        """Widen every float to an MLIR type, vector type or numeric class."""
        return self._raw_cast("extf", target)

    def truncf(self, target: Any) -> Vector:
        """Narrow every float."""
        return self._raw_cast("truncf", target)

    def extui(self, target: Any) -> Vector:
        """Widen every integer with zeros."""
        return self._raw_cast("extui", target)

    def extsi(self, target: Any) -> Vector:
        """Widen every integer with its sign."""
        return self._raw_cast("extsi", target)

    def trunci(self, target: Any) -> Vector:
        """Narrow every integer."""
        return self._raw_cast("trunci", target)

    def index_cast(self, target: Any) -> Vector:
        """Convert between index and an integer type, lane by lane."""
        return self._raw_cast("index_cast", target)

    def with_signedness(self, signed: bool) -> Vector:
        """Return the same lanes, taken as signed or unsigned integers."""
        return _make(self.value, self._shape, element_class(ArithValue(self.value).with_signedness(signed)))

    # -- operators -----------------------------------------------------------------------------------------------------

    def __neg__(self) -> Vector:
        return _make(emit_negative(self.value, self._dtype), self._shape, self._dtype)

    def __abs__(self) -> Vector:
        return _make(emit_absolute(self.value, self._dtype), self._shape, self._dtype)

    def __invert__(self) -> Vector:
        return _make(emit_invert(self.value, self._dtype), self._shape, self._dtype)

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __ir_value_count__(self) -> int:
        return 1

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[ir.Value], exemplar: Any = None) -> Vector:
        if exemplar is None:
            return Vector(values[0])
        return _make(values[0], exemplar._shape, exemplar._dtype)

    def __get_ir_types__(self) -> list[ir.Type]:
        return [self.value.type]


def _make(value: ir.Value, shape: tuple[Any, ...], dtype: NumericMeta) -> Vector:
    result = object.__new__(Vector)
    result.value, result._shape, result._dtype = value, shape, dtype
    return result


def element(value: Any, cls: NumericMeta) -> Any:
    """Return what becomes one lane of a vector of `cls`; a Python number must fit."""
    return stored_number(value, cls, "vector") if type(value) in (int, float, bool) else as_numeric(value).to(cls)


def _raw(value: Any) -> Any:
    return value.ir_value() if hasattr(value, "ir_value") else value


def _indices(indices: Sequence[Any]) -> list[ir.Value]:
    if not isinstance(indices, (list, tuple)):
        indices = [indices]
    return [as_numeric(i).to(classes.Index).ir_value() for i in indices]


def _static_index(index: Any) -> Any:
    refuse_boolean(index, "a Vector")
    if index is None or type(index) is int:
        return index
    if isinstance(index, tuple):
        return tuple(_static_index(i) for i in index)
    if isinstance(index, Numeric) and index.is_static():
        return int(index)
    raise RuntimeError(
        "an index of several coordinates must be static; use one dynamic index into the flat order, v[i], instead"
    )


def _shuffle(a: ir.Value, b: ir.Value, lanes: Sequence[int]) -> ir.Value:
    mask = i64_array(lanes)
    return build("vector.shuffle", (a, b), vector_type(len(lanes), element_type_of(a)), {"mask": mask})


def _spread(vector: Vector, dims: tuple[int, ...]) -> ir.Value:
    """Return the SSA vector of `vector` repeated to the flat shape `dims`."""
    have = flatten(vector._shape)
    if have == dims:
        return vector.value
    total = count(dims)
    if vector.numel == 1:
        scalar = vector._lane(0).value
        return build("vector.broadcast", (scalar,), vector_type(total, scalar.type))
    return _shuffle(vector.value, vector.value, broadcast_index(have, dims))


def _as_vector_operand(value: Any) -> Any:
    if isinstance(value, (Vector, Numeric)):
        return value
    kind = type(value)
    if kind is int or kind is float or kind is bool:
        return as_numeric(value)
    if isinstance(value, ir.Value):
        return Vector(value) if isinstance(value.type, ir.VectorType) else as_numeric(value)
    if isinstance(value, int):
        return as_numeric(int(value))
    return as_numeric(value) if hasattr(value, "__dsl_scalar__") else None


def _lanes(operand: Any, cls: NumericMeta, dims: tuple[int, ...]) -> ir.Value:
    """Return a scalar or vector operand as an SSA vector of `cls` with the flat shape `dims`."""
    if isinstance(operand, Vector):
        if flatten(operand._shape) != dims:
            operand = _make(_spread(operand, dims), dims, operand._dtype)
        return cast_value(operand.value, operand._dtype, cls)
    total = count(dims)
    if operand.is_static():
        number = cast_number(held_number(operand.value, operand.dtype), cls)
        return constant(number, cls, vector_type(total, cls.ir_type))
    scalar = operand.to(cls).ir_value()
    return build("vector.broadcast", (scalar,), vector_type(total, scalar.type))


def _joint_shape(a: Any, b: Any) -> tuple[Any, ...]:
    if not isinstance(a, Vector):
        shape: tuple[Any, ...] = b._shape
        return shape
    if not isinstance(b, Vector) or a._shape == b._shape or b.numel == 1:
        return a._shape
    if a.numel == 1:
        return b._shape
    return broadcast_shapes(a._shape, b._shape)


def vector_binary(op: BinaryOp, left: Any, right: Any, fastmath: FastMath = None) -> Any:
    """Apply `op` lane by lane; scalars and one-element vectors are broadcast."""
    a, b = _as_vector_operand(left), _as_vector_operand(right)
    if a is None or b is None:
        return NotImplemented
    if type(right) is int:
        check_literal(op, right, a.dtype)
    elif type(left) is int:
        check_literal(op, left, b.dtype)
    a, b = agreed(op, a, b)
    cls = operand_type(op, a.dtype, b.dtype)
    if op is not POW and isinstance(a, Vector) and isinstance(b, Vector) and a._shape == b._shape:
        va, vb = cast_value(a.value, a._dtype, cls), cast_value(b.value, b._dtype, cls)
        return _make(emit_binary(op, va, vb, cls, fastmath), a._shape, result_type(op, cls))
    shape = _joint_shape(a, b)
    dims = flatten(shape)
    if op is POW and a.dtype.is_float and not b.dtype.is_float:
        va, vb = _lanes(a, cls, dims), _lanes(b, b.dtype, dims)
        return _make(build("math.fpowi", (va, vb), va.type), shape, cls)
    value = emit_binary(op, _lanes(a, cls, dims), _lanes(b, cls, dims), cls, fastmath)
    return _make(value, shape, result_type(op, cls))


def select_lanes(condition: Any, true_value: Any, false_value: Any) -> Vector:
    """Return `true_value` where `condition` is true (not zero), else `false_value`, lane by lane."""
    cond, a, b = (_as_vector_operand(x) for x in (condition, true_value, false_value))
    if cond is None or a is None or b is None:
        raise TypeError("select takes vectors, scalars and numbers")
    if cond.dtype.width != 1:
        cond = cond != 0
    cls = common_type(a.dtype, b.dtype)
    vectors = [x for x in (cond, a, b) if isinstance(x, Vector)]
    shape = vectors[0]._shape
    for other in vectors[1:]:
        shape = _joint_shape(_make(vectors[0].value, shape, cls), other) if shape != other._shape else shape
    dims = flatten(shape)
    va, vb = _lanes(a, cls, dims), _lanes(b, cls, dims)
    mask = _lanes(cond, classes.Boolean, dims) if isinstance(cond, Vector) else cond.ir_value()
    return _make(build("arith.select", (mask, va, vb), va.type), shape, cls)


Vector._apply = staticmethod(vector_binary)
register_makers(vector=Vector)
above.attach(Vector=Vector, select_lanes=select_lanes)
