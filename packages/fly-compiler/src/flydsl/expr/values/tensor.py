# SPDX-License-Identifier: Apache-2.0
"""`Tensor`: a view of memory (iterator and layout), or of coordinates; and the functions of views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir.facts import ComposedLayoutFacts, CoordTensorFacts, LayoutFacts, MemRefFacts
from flydsl.trace.build import build, build_op, infer, type_of
from flydsl.trace.wrap import register_wrapper, wrap_any

from . import above
from .layout import trees
from .layout.bounds import check_bounds
from .layout.construct import as_int_tuple, compact_layout, make_ordered_layout
from .layout.host import from_host
from .layout.modes import slice as slice_modes
from .layout.objects import ComposedLayout, FlyValue, IntTuple, Layout, _static_py
from .layout.sizes import has_none
from .numeric.base import Numeric, _class_of, as_numeric, wrap
from .numeric.cast import stored_number
from .numeric.meta import NumericMeta
from .numeric.types import Int8
from .pointer import Pointer, recast_iter
from .subscript import refuse_boolean
from .typed_memory import _TypedMemory
from .vector import Vector, _as_vector_operand, _make
from .vector_factory import full
from .vector_shape import count

if TYPE_CHECKING:
    from .accepted import IntTupleLike, TilerLike, TypeLike, ValueLike

__all__ = [
    "Tensor",
    "decomposition",
    "make_fragment_like",
    "make_rmem_tensor",
    "make_view",
    "memref_alloca",
    "memref_load",
    "memref_load_vec",
    "memref_store",
    "memref_store_vec",
    "typed",
]


def _host_function(name: str) -> TypeError:
    return TypeError(
        f"{name} computes on the host, and what is in this tensor is known when the kernel runs; compute with its "
        "elements, x[i] or x.load(), and the functions of fx"
    )


class Tensor(_TypedMemory):
    """A typed view: an iterator and a layout. Coordinate tensors have a coordinate for an iterator and no memory.

    As an annotation of a kernel parameter it stands for any tensor.
    """

    __slots__ = ("beyond",)
    _kinds = (MemRefFacts, CoordTensorFacts)

    def __init__(self, value: Any, dtype: NumericMeta | None = None) -> None:
        super().__init__(value, dtype)
        self.beyond: str | None = getattr(value, "beyond", None)
        """What is wrong with the tiles of the tensor that this is a part of (`overhang`)."""

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def is_coordinate(self) -> bool:
        """Whether this is a coordinate tensor."""
        return type(self._facts) is CoordTensorFacts

    @property
    def facts(self) -> MemRefFacts:
        """The static facts of the memref type; `TypeError` for a coordinate tensor."""
        if self.is_coordinate:
            raise TypeError(f"{self} is a coordinate tensor: it has no memory, and no element type")
        known: MemRefFacts = self._facts
        return known

    @property
    def layout_facts(self) -> LayoutFacts | ComposedLayoutFacts:
        """The static facts of the layout (`flydsl._mlir.facts`)."""
        return self._facts.layout

    @property
    def shape_tree(self) -> trees.Tree:
        """The tree of extents (`layout.trees`)."""
        return self._facts.layout.shape

    @property
    def leading_dim(self) -> int | None:
        """The first top-level mode of static stride 1; `None` when there is none."""
        stride = self.layout_facts.stride
        modes = stride if type(stride) is tuple else (stride,)
        return next((i for i, mode in enumerate(modes) if mode == 1), None)

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return trees.rank_of(self.shape_tree)

    @property
    def layout(self) -> Any:
        """The layout."""
        return wrap_any(infer("fly.get_layout", (self.value,)))

    @property
    def shape(self) -> IntTuple:
        """The shape."""
        return IntTuple(infer("fly.get_shape", (self.value,)))

    @property
    def stride(self) -> IntTuple:
        """The strides."""
        return IntTuple(infer("fly.get_stride", (self.value,)))

    @property
    def iter(self) -> Any:
        """The pointer, or base coordinate."""
        return typed(infer("fly.get_iter", (self.value,)), self)

    def __len__(self) -> int:
        raise TypeError(
            "len() of a tensor does not say which: fx.rank(t) counts its modes, fx.size(t) its elements, and "
            "t.shape[0] is its first extent"
        )

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: Any) -> bool:
        if other is None or other is self:
            return other is self
        raise TypeError(
            f"a tensor cannot be compared with '{type(other).__name__}': it is memory; compare what is in it, "
            "x[i] == y[i] or x.load() == y.load()"
        )

    __hash__ = FlyValue.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        raise _host_function(f"numpy.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise _host_function(f"numpy.{function.__name__}")

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise _host_function(f"torch.{getattr(function, '__name__', function)}")

    def __iter__(self) -> Any:
        raise TypeError(
            "a tensor cannot be iterated: an extent may only be known when the kernel runs; index it in a loop over "
            "range(...), or take t.load() as a Vector"
        )

    # -- access --------------------------------------------------------------------------------------------------------

    def _at(self, coord: Any) -> IntTuple:
        if isinstance(coord, tuple) and len(coord) == 1 and type(self.shape_tree) is not tuple:
            coord = coord[0]  # a tuple of one for a tensor of one mode
        refuse_boolean(coord, "a tensor")
        at = as_int_tuple(coord)
        if not trees.weakly_congruent(at.tree, self.shape_tree):
            raise ValueError(
                f"profile mismatch: coordinate {trees.spelled(at.tree)} does not fit a tensor of shape "
                f"{trees.spelled(self.shape_tree)}"
            )
        check_bounds(self, at.tree)
        return at

    @overload
    def __getitem__(self, coord: int | Numeric) -> Numeric: ...
    @overload
    def __getitem__(self, coord: tuple[int | Numeric, ...]) -> Numeric: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, coord: tuple[int | Numeric | tuple[Any, ...] | None, ...]) -> Tensor: ...
    @overload
    def __getitem__(self, coord: Any) -> Any: ...
    def __getitem__(self, coord: Any) -> Any:
        if coord is None:
            raise TypeError("t[None] keeps everything; use t itself, or one None per mode, for example t[None, k]")
        _refuse_slices(coord)
        if has_none(coord):
            refuse_boolean(coord, "a tensor")
            return slice_modes(self, coord)
        value = infer("fly.memref.load", (self.value, self._at(coord).value))
        return IntTuple(value) if self.is_coordinate else wrap(self.dtype, value)

    def __setitem__(self, coord: Any, value: Any) -> None:
        _refuse_slices(coord)
        if has_none(coord):
            target = self if coord is None else self[coord]
            target.store(value)
            return
        if self.is_coordinate:
            raise TypeError(f"{self} is a coordinate tensor; it cannot be written")
        scalar = as_numeric(value)
        cls = self.dtype
        if type(value) in (int, float, bool):
            scalar = stored_number(value, cls)
        elif scalar.dtype.ir_type != cls.ir_type:
            raise TypeError(
                f"cannot store {scalar.dtype.__name__} in a tensor of {cls.__name__}; convert it with "
                f".to(fx.{cls.__name__})"
            )
        build_op("fly.memref.store", (scalar.ir_value(), self.value, self._at(coord).value))

    def _static_shape(self, what: str) -> Any:
        shape = self.shape_tree
        if not trees.is_static(shape):
            raise ValueError(f"{what} needs a static shape, but this tensor has shape {trees.spelled(shape)}")
        return _static_py(shape)

    def load(self) -> Vector:
        """Return all elements as a `Vector` of the tensor's static shape, in column-major element order.

        Raises:
            ValueError: the shape is not static.
        """
        shape = self._static_shape("load()")
        if self._holds_boolean_bytes():
            booleans: Vector = self._bytes().load() != 0
            return booleans
        value = infer("fly.memref.load_vec", (self.value,))
        dtype = None if self.is_coordinate else self.dtype
        shape = shape if isinstance(shape, tuple) else (shape,)
        return Vector(value, shape) if dtype is None else _make(value, shape, dtype)

    def store(self, value: Any) -> None:
        """Store a vector of as many elements and of the element type, or a scalar to every element.

        Raises:
            ValueError: another number of elements.
            TypeError: another element type.
        """
        cls = self.dtype
        elements = count(self._static_shape("store()"))
        if type(value) in (int, float, bool):
            value = stored_number(value, cls)
        operand = _as_vector_operand(value)
        if operand is None:
            raise TypeError(f"a tensor stores a vector or a scalar, not '{type(value).__name__}'")
        if not isinstance(operand, Vector):
            operand = full(elements, operand, operand.dtype)
        if operand.dtype.ir_type != cls.ir_type:
            raise TypeError(
                f"cannot store a vector of {operand.dtype.__name__} in a tensor of {cls.__name__}; convert it with "
                f".to(fx.{cls.__name__})"
            )
        if operand.numel != elements:
            raise ValueError(f"cannot store {operand.numel} elements in a tensor of {elements}")
        if self._holds_boolean_bytes():
            self._bytes().store(operand.to(Int8))
            return
        build_op("fly.memref.store_vec", (operand.value, self.value))

    def _holds_boolean_bytes(self) -> bool:
        """Whether each element is a Boolean in a byte of memory; a vector of them would be one bit each."""
        return not self.is_coordinate and self.dtype.width == 1 and self.facts.space != "register"

    def _bytes(self) -> Tensor:
        return make_view(recast_iter(Int8, self.iter), self.layout)

    def fill(self, value: Any) -> None:
        """Store one number or scalar, converted to the element type, to every element."""
        cls = self.dtype
        if type(value) in (int, float, bool):
            value = stored_number(value, cls)
        self.store(full(count(self._static_shape("fill()")), cls(value), cls))

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        return Tensor(values[0], getattr(exemplar, "_dtype", None))


def _refuse_slices(coord: Any) -> None:
    if any(isinstance(c, slice) or c is ... for c in (coord if isinstance(coord, tuple) else (coord,))):
        raise TypeError(
            "a tensor is sliced with None for the modes to keep, for example t[None, k], not with ':' or '...'; for a "
            "part of a mode divide it into tiles, fx.logical_divide(t, fx.make_layout(n, 1))[None, i]"
        )


register_wrapper(MemRefFacts, Tensor)
register_wrapper(CoordTensorFacts, Tensor)


def typed(value: ir.Value, source: Any) -> Any:
    """Return the object for `value`, with the element class (signedness) of the tensor or pointer it came from."""
    result = wrap_any(value)
    dtype = getattr(source, "_dtype", None)
    if dtype is not None and isinstance(result, (Tensor, Pointer)):
        result._dtype = dtype
    if isinstance(result, Tensor):
        result.beyond = getattr(source, "beyond", None)
    return result


def _is_static_shape(shape: Any) -> bool:
    if isinstance(shape, tuple):
        return all(_is_static_shape(extent) for extent in shape)
    if isinstance(shape, IntTuple):
        return shape.is_static
    return type(shape) is int or (isinstance(shape, Numeric) and shape.is_static())


def _as_layout(layout: Any) -> Any:
    layout = from_host(layout)
    if isinstance(layout, (Layout, ComposedLayout)):
        return layout
    if isinstance(layout, (int, tuple, IntTuple, Numeric)):
        return compact_layout(layout) if _is_static_shape(layout) else make_ordered_layout(layout, 0)
    raise TypeError(f"expected a layout, got {type(layout).__name__}")


def make_view(iterator: Any, layout: TilerLike) -> Tensor:
    """Return the tensor of a pointer and a layout; with a coordinate for the pointer, a coordinate tensor."""
    layout = from_host(layout)
    if not isinstance(layout, (Layout, ComposedLayout)):
        raise TypeError(f"make_view takes a layout, got {type(layout).__name__}")
    if isinstance(iterator, Pointer):
        return Tensor(infer("fly.make_view", (iterator.value, layout.value)), iterator._dtype)
    return Tensor(infer("fly.make_view", (as_int_tuple(iterator).value, layout.value)))


def make_rmem_tensor(shape_or_layout: TilerLike, dtype: TypeLike) -> Tensor:
    """Return a register tensor of a static shape (column-major) or layout.

    Raises:
        TypeError: `dtype` is not a numeric class.
        ValueError: the layout is not static.
    """
    if not isinstance(dtype, NumericMeta):
        raise TypeError(f"make_rmem_tensor takes a numeric class such as fx.Float32 as dtype, got {dtype!r}")
    layout = _as_layout(shape_or_layout)
    if not isinstance(layout, Layout) or not layout.is_static:
        raise ValueError(f"a register tensor has a static plain layout, got {layout}")
    kind = type_of(fly.MemRefType, dtype.ir_type, layout.type, "register")
    return Tensor(build("fly.memref.alloca", (layout.value,), kind), dtype)


def make_fragment_like(tensor: Any, dtype: TypeLike | None = None) -> Tensor:
    """Return a register tensor with the compact layout of `tensor` (or layout), of its dtype or another.

    Raises:
        ValueError: the layout is not static, or no dtype is known.
    """
    if not isinstance(tensor, FlyValue):
        raise TypeError(f"make_fragment_like takes a tensor or a layout, not {type(tensor).__name__}")
    attributes: dict[str, ir.Attribute] = {}
    cls = None
    if dtype is not None:
        cls = _class_of(dtype)
        attributes["dtype"] = ir.TypeAttr.get(cls.ir_type)
    elif isinstance(tensor, Tensor) and not tensor.is_coordinate:
        cls = tensor._dtype
    else:
        raise ValueError("make_fragment_like of a layout or coordinate tensor needs dtype=")
    return Tensor(infer("fly.make_fragment_like", (tensor.value,), attributes), cls)


def decomposition(tensor: Tensor) -> Tensor:
    """Return the tensor with inner function and offset of a composed layout folded into its iterator."""
    result: Tensor = typed(infer("fly.decomposition", (tensor.value,)), tensor)
    return result


def memref_alloca(memref_type: ir.Type, layout: TilerLike) -> Tensor:
    """Return register memory of a type made by `fx.MemRefType.get(...)`; `layout` is the layout in the type."""
    return Tensor(build("fly.memref.alloca", (_as_layout(layout).value,), memref_type))


def memref_load(tensor: Tensor, index: IntTupleLike) -> Any:
    """Return the element at a coordinate."""
    return tensor[index]


def memref_store(value: ValueLike, tensor: Tensor, index: IntTupleLike) -> None:
    """Store the element at a coordinate."""
    tensor[index] = value


def memref_load_vec(tensor: Tensor) -> Vector:
    """Return all elements as a flat vector, in column-major order."""
    vector = tensor.load()
    return vector.reshape(vector.numel)


def memref_store_vec(vector: ValueLike, tensor: Tensor) -> None:
    """Store a vector of all elements, in column-major order."""
    tensor.store(vector)


above.attach(make_view=make_view)
