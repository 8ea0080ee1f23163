# SPDX-License-Identifier: Apache-2.0
"""Tensor arguments: plain ones, and those wrapped by `from_dlpack` with a layout of the caller's choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flydsl.compile.dtypes import DATA_TYPES, tensor_type
from flydsl.compile.specs import Dynamic, Leaf, TensorSpec

from .tensor_kinds import is_immutable_type, is_tensor_type, layout_of, tensor_kind

__all__ = [
    "DLTensorJitArg",
    "TensorArgument",
    "TorchTensorJitArg",
    "from_dlpack",
    "from_torch_tensor",
    "plain_spec",
]


def plain_spec(tensor: Any) -> TensorSpec:
    """Return the spec of a tensor that is passed as it is: everything dynamic but the stride of the unit axis, if any.

    Raises:
        TypeError: kernels cannot have such elements.
        RuntimeError: it has no axis.
    """
    name, shape, stride = layout_of(tensor)
    kind = tensor_kind(type(tensor))
    data = tensor_type(name, unsigned=kind is None or kind.unsigned)
    if not shape:
        raise RuntimeError(
            "a tensor without axes (0-d) has no layout. Pass t.reshape(1), which shares its memory, and use t[0]; or "
            "pass the number, t.item()"
        )
    unit = stride.index(1) if 1 in stride else None
    strides: tuple[Leaf, ...] = tuple(1 if axis == unit else Dynamic() for axis in range(len(stride)))
    return TensorSpec(data.name, tuple(Dynamic() for _ in shape), strides, data.size)


def _no_unit_axis(shape: Sequence[int], stride: Sequence[int]) -> str:
    return (
        f"a tensor of shape {tuple(shape)} and strides {tuple(stride)} has no axis of stride 1 to keep static. Pass it "
        "as it is, or through flyc.from_dlpack(t), with .mark_shape_dynamic(...) and .mark_stride_dynamic(...) for "
        "what changes between calls"
    )


class TensorArgument:
    """A tensor with its layout for compilation; made by `from_dlpack`. It belongs to no compilation and may be reused.

    The layout of `from_dlpack` is static until a `mark_…` method makes parts of it dynamic; the methods return the
    object itself. The class itself begins with `mark_layout_dynamic`, unless `dynamic_layout` is false.
    """

    __slots__ = ("_extents", "_signature", "_strides", "spec", "tensor")

    def __init__(
        self,
        tensor: Any,
        assumed_align: int | None = None,
        use_32bit_stride: bool = False,
        dynamic_layout: bool = True,
    ) -> None:
        name, shape, stride = layout_of(tensor)
        data = tensor_type(name, unsigned=True)
        align = data.size if assumed_align is None else assumed_align
        if isinstance(align, bool) or not isinstance(align, int) or align < data.size or align % data.size:
            raise ValueError(
                f"assumed_align must be a positive multiple of the element size {data.size}, got {align!r}"
            )
        self.tensor = tensor
        self._extents, self._strides = tuple(map(int, shape)), tuple(map(int, stride))
        for axis, extent in enumerate(self._extents):
            _check_static(extent, f"extent of axis {axis}")
        for axis, step in enumerate(self._strides):
            _check_static(step, f"stride of axis {axis}")
        self._respec(
            TensorSpec(data.name, self._extents, self._strides, align, 32 if use_32bit_stride else 64, wrapped=True)
        )
        if dynamic_layout:
            if 1 not in self._strides:
                raise RuntimeError(_no_unit_axis(self._extents, self._strides))
            self.mark_layout_dynamic()

    def _respec(self, spec: TensorSpec) -> TensorArgument:
        self.spec = spec
        shape, stride = (
            tuple(one if isinstance(one, int) else -one.divisibility for one in leaves)
            for leaves in (spec.shape, spec.stride)
        )
        narrow = spec.stride_bits == 32
        self._signature: tuple[Any, ...] = (type(self), spec.dtype, spec.align, narrow, shape, stride)
        if is_immutable_type(type(self.tensor)):
            self._signature += ("immutable",)
        return self

    def mark_layout_dynamic(
        self, leading_dim: int | None = None, divisibility: int | Sequence[int] = 1
    ) -> TensorArgument:
        """Make all extents and strides dynamic but the stride of `leading_dim`, which stays 1.

        Args:
            leading_dim: the axis of stride 1; by default the first such axis.
            divisibility: a power of two that divides the strides, or one per axis.

        Raises:
            ValueError: no axis, or not this one, has stride 1; `divisibility` is no power of two.
        """
        rank = len(self._extents)
        if leading_dim is None:
            if 1 not in self._strides:
                raise ValueError(
                    f"no axis has stride 1 (strides {self._strides}); pass leading_dim= or mark the strides"
                )
            leading = self._strides.index(1)
        else:
            leading = _axis(leading_dim, rank)
            if self._strides[leading] != 1 and self._extents[leading] != 1:
                raise ValueError(f"leading_dim {leading_dim} has stride {self._strides[leading]}, not 1")
        divisors = _divisors(divisibility, rank)
        stride: list[Leaf] = list(map(Dynamic, divisors))
        stride[leading] = 1
        return self._respec(replace(self.spec, shape=tuple(Dynamic() for _ in range(rank)), stride=tuple(stride)))

    def mark_shape_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorArgument:
        """Make the extents of some axes dynamic.

        Args:
            dims: axis or axes; negative ones count from the end.
            divisibility: a power of two that divides these extents, or one per axis of `dims`; each call checks it.

        Raises:
            ValueError: an axis out of range; `divisibility` is no power of two.
        """
        leaves = self._marked(self.spec.shape, dims, divisibility)
        return self._respec(replace(self.spec, shape=leaves))

    def mark_stride_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorArgument:
        """Make the strides of some axes dynamic; arguments and errors as for `mark_shape_dynamic`."""
        leaves = self._marked(self.spec.stride, dims, divisibility)
        return self._respec(replace(self.spec, stride=leaves))

    def _marked(self, leaves: tuple[Leaf, ...], dims: Any, divisibility: Any) -> tuple[Leaf, ...]:
        axes = [_axis(one, len(leaves)) for one in ([dims] if isinstance(dims, int) else list(dims))]
        done = list(leaves)
        for axis, divisor in zip(axes, _divisors(divisibility, len(axes)), strict=True):
            done[axis] = Dynamic(divisor)
        return tuple(done)

    @property
    def element_type(self) -> Any:
        """The MLIR type of an element; needs a current context."""
        return DATA_TYPES[self.spec.dtype].cls.ir_type

    @property
    def shape_dyn_indices(self) -> tuple[int, ...]:
        """The axes whose extent is dynamic."""
        return tuple(axis for axis, one in enumerate(self.spec.shape) if isinstance(one, Dynamic))

    @property
    def stride_dyn_indices(self) -> tuple[int, ...]:
        """The axes whose stride is dynamic."""
        return tuple(axis for axis, one in enumerate(self.spec.stride) if isinstance(one, Dynamic))

    def __cache_signature__(self) -> Any:
        """Return what of this argument a compilation depends on.

        That is the wrapper's class, dtype, alignment, whether strides have 32 bits, extents and strides; a dynamic leaf
        is its divisor, negative. An array that must not be written has one entry more.
        """
        return self._signature

    def __get_ir_types__(self) -> list[Any]:
        """Return the MLIR types of the host function's parameters; needs a current context."""
        return list(self.spec.ir_types())

    def __c_abi_spec__(self) -> list[tuple[Any, Any]]:
        """Return how the argument fills the slots of the host function: the address, and its dynamic leaves packed."""
        from .slots import tensor_slots

        return tensor_slots(self)

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the tensor that is wrapped."""
        return self._extents

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides of the tensor that is wrapped, in elements."""
        return self._strides

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spec.type_text()})"


class DLTensorJitArg(TensorArgument):
    """A wrapped tensor of any framework."""

    __slots__ = ()


class TorchTensorJitArg(TensorArgument):
    """A wrapped torch tensor; it never shares code with one that came through DLPack."""

    __slots__ = ()


def _check_static(value: int, what: str) -> None:
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"the {what}, {value}, does not fit the 32 bits of a static layout; pass the tensor unwrapped")


def _axis(axis: Any, rank: int) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        raise ValueError(f"axis {axis!r} is out of range for a tensor of rank {rank}")
    return axis % rank


def _divisors(divisibility: Any, count: int) -> list[int]:
    divisors = [divisibility] * count if isinstance(divisibility, int) else list(divisibility)
    if len(divisors) != count:
        raise ValueError(f"divisibility has {len(divisors)} entries for {count} axes")
    for one in divisors:
        if isinstance(one, bool) or not isinstance(one, int) or one < 1 or one & (one - 1):
            raise ValueError(f"divisibility must be a power of two, got {one!r}")
    return divisors


def from_dlpack(obj: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False) -> TensorArgument:
    """Wrap a tensor of any framework for a call, with a fully static layout.

    Args:
        obj: an object with `__dlpack__` (torch, numpy, JAX …).
        assumed_align: alignment in bytes that the first element has; by default that of one element. It is checked at
            each call.
        use_32bit_stride: dynamic strides are 32-bit integers.

    Raises:
        TypeError: no tensor, or one of a dtype that kernels cannot have.
        ValueError: an alignment that is not a positive multiple of the element size.
    """
    if not is_tensor_type(type(obj)):
        raise TypeError(f"from_dlpack takes a tensor with __dlpack__, not {type(obj).__module__}.{type(obj).__name__}")
    return DLTensorJitArg(obj, assumed_align, use_32bit_stride, dynamic_layout=False)


def from_torch_tensor(
    tensor: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False
) -> TensorArgument:
    """Wrap a torch tensor; as `from_dlpack`."""
    kind = tensor_kind(type(tensor))
    if kind is None or kind.name != "torch":
        raise TypeError(
            f"from_torch_tensor takes a torch.Tensor, not {type(tensor).__module__}.{type(tensor).__name__}"
        )
    return TorchTensorJitArg(tensor, assumed_align, use_32bit_stride, dynamic_layout=False)
