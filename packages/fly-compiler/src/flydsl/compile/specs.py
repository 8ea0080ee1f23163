# SPDX-License-Identifier: Apache-2.0
"""What a compilation knows about each run-time argument: its type, without its value.

A spec is hashable and is the argument's part of the cache key. It gives the MLIR types of the host function's
parameters, the value that traced code sees, and the entries of the artifact's note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import stream_type, type_of

from .dtypes import DATA_TYPES

__all__ = ["ArgumentSpec", "Dynamic", "PointerSpec", "ScalarSpec", "StreamSpec", "TensorSpec", "ValueSpec"]


@dataclass(frozen=True)
class Dynamic:
    """An extent or stride that is known only at the call, a multiple of `divisibility`."""

    divisibility: int = 1


Leaf = int | Dynamic


@dataclass(frozen=True)
class TensorSpec:
    """A tensor in device memory.

    Attributes:
        dtype: a name of the artifact's note.
        shape: one leaf per axis.
        stride: one leaf per axis, in elements.
        align: alignment of the first element, in bytes.
        stride_bits: width of dynamic strides, 32 or 64.
        wrapped: it came from `from_dlpack`; such tensors never share code with plain ones.
    """

    dtype: str
    shape: tuple[Leaf, ...]
    stride: tuple[Leaf, ...]
    align: int
    stride_bits: int = 64
    wrapped: bool = False

    def type_text(self) -> str:
        """Return the text of the MLIR type."""
        with ir.Context():
            (made,) = self.ir_types()
            return str(made)

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        layout = type_of(fly.LayoutType, _tree(self.shape, 32), _tree(self.stride, self.stride_bits))
        return [type_of(fly.MemRefType, DATA_TYPES[self.dtype].cls.ir_type, layout, "global", self.align)]

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        from flydsl.expr.values.tensor import Tensor

        return Tensor(values[0], DATA_TYPES[self.dtype].cls)

    def describe(self) -> str:
        """Return the type as a reader knows it: `float32 (?,8):(?,1)`."""
        shape, stride = (
            [str(one) if isinstance(one, int) else "?" for one in leaves] for leaves in (self.shape, self.stride)
        )
        return f"{self.dtype} {_tuple_text(shape)}:{_tuple_text(stride)}"

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        return [
            {
                "name": name,
                "kind": "tensor",
                "dtype": self.dtype,
                "align": self.align,
                "access": "readwrite",
                "shape": [_leaf_note(one) for one in self.shape],
                "stride": [_leaf_note(one) for one in self.stride],
                "stride_bits": self.stride_bits,
            }
        ]


def _tuple_text(leaves: list[str]) -> str:
    """Return a tuple; the layout of a tensor with one axis is a leaf."""
    return leaves[0] if len(leaves) == 1 else f"({','.join(leaves)})"


def _tree(leaves: tuple[Leaf, ...], bits: int) -> Any:
    """Return the tree of a tensor's extents or strides; that of one axis is a leaf."""
    tree = tuple([one if isinstance(one, int) else fly.Dynamic(bits, one.divisibility) for one in leaves])
    return tree[0] if len(tree) == 1 else tree


def _leaf_note(leaf: Leaf) -> Any:
    return leaf if isinstance(leaf, int) else {"dynamic": True, "divisibility": leaf.divisibility}


@dataclass(frozen=True)
class ScalarSpec:
    """A number; its value does not specialise."""

    dtype: str

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        if self.dtype == "bfloat16":  # LLVM would convert it at the border of a function, by a call of compiler-rt
            return [ir.IntegerType.get_signless(16)]
        return [DATA_TYPES[self.dtype].cls.ir_type]

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        cls = DATA_TYPES[self.dtype].cls
        if self.dtype == "bfloat16":
            from flydsl.trace.build import build

            return cls(build("arith.bitcast", [values[0]], cls.ir_type))
        return cls(values[0])

    def describe(self) -> str:
        """Return the type as a reader knows it."""
        return self.dtype

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        return [{"name": name, "kind": "scalar", "dtype": self.dtype}]


@dataclass(frozen=True)
class PointerSpec:
    """An address without layout (`from_c_void_p`)."""

    dtype: str
    space: str
    align: int

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        return [type_of(fly.PointerType, DATA_TYPES[self.dtype].cls.ir_type, self.space, self.align)]

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        from flydsl.expr.values.pointer import Pointer

        return Pointer(values[0], DATA_TYPES[self.dtype].cls)

    def describe(self) -> str:
        """Return the type as a reader knows it."""
        return f"{self.space} pointer to {self.dtype}"

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        return [{"name": name, "kind": "pointer", "dtype": self.dtype, "align": self.align}]


@dataclass(frozen=True)
class StreamSpec:
    """The stream that launches go to."""

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        return [stream_type()]

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        from flydsl.expr.values.typing import Stream

        return Stream(values[0])

    def describe(self) -> str:
        """Return the type as a reader knows it."""
        return "stream"

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        return [{"name": name, "kind": "stream"}]


@dataclass(frozen=True)
class ValueSpec:
    """A composite of scalars (a struct, a registered class): its parts, and what puts them together again.

    Two composites with equal signatures are rebuilt alike, so the exemplar itself takes no part in comparison.
    """

    signature: Any
    parts: tuple[ScalarSpec, ...]
    names: tuple[str, ...]
    exemplar: _Exemplar

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        return [one for part in self.parts for one in part.ir_types()]

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        from flydsl.trace.protocol import construct_from_ir_values

        return construct_from_ir_values(self.exemplar.value, values)

    def describe(self) -> str:
        """Return the type as a reader knows it."""
        return "{" + ", ".join(f"{name}: {part.dtype}" for name, part in zip(self.names, self.parts, strict=True)) + "}"

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        return [
            entry for part, inner in zip(self.parts, self.names, strict=True) for entry in part.note(f"{name}.{inner}")
        ]


class _Exemplar:
    """Holds a value out of the comparison and the hash of its spec."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exemplar)

    def __hash__(self) -> int:
        return 0


@dataclass(frozen=True)
class ProtocolSpec:
    """An argument of somebody else's class (`flydsl.compiler.protocol.JitArgument`).

    `slots` are the dtypes of what the host function gets, a pointer as an empty text; `dsl_type` is the class of the
    language that traced code sees, by default that of the SSA value.
    """

    signature: Any
    slots: tuple[str, ...]
    dsl_type: Any
    exemplar: _Exemplar

    def ir_types(self) -> list[ir.Type]:
        """Return the types of the host function's parameters."""
        return list(self.exemplar.value.__get_ir_types__())

    def construct(self, values: list[ir.Value]) -> Any:
        """Return what traced code sees."""
        hook = getattr(self.dsl_type, "__construct_from_ir_values__", None)
        if hook is not None:
            return hook(values)
        if self.dsl_type is not None:
            return self.dsl_type(*values)
        return values[0] if len(values) == 1 else tuple(values)

    def describe(self) -> str:
        """Return the type as a reader knows it."""
        return type(self.exemplar.value).__qualname__

    def note(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of the artifact's note."""
        single = len(self.slots) == 1
        return [
            {"name": name if single else f"{name}.{number}", "kind": "scalar", "dtype": slot}
            if slot
            else {"name": name if single else f"{name}.{number}", "kind": "pointer", "dtype": "uint8", "align": 1}
            for number, slot in enumerate(self.slots)
        ]


ArgumentSpec = ProtocolSpec | TensorSpec | ScalarSpec | PointerSpec | StreamSpec | ValueSpec
