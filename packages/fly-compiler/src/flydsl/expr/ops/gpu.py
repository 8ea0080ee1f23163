# SPDX-License-Identifier: Apache-2.0
"""The execution model: indices of threads and blocks, barriers, shuffles, address spaces of LDS.

Names that are not here are those of MLIR's `gpu` dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace import context as _trace
from flydsl.trace.build import attribute, build, build_op, i32_array, int_attribute, type_of
from flydsl.trace.wrap import as_ir_value

from ..values.above import attach
from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.types import Boolean, Index, Int8, Int16, Int32
from ..values.vector import Vector, _make

if TYPE_CHECKING:
    from ..values.accepted import IntLike, ValueLike

__all__ = [
    "ShuffleOp",
    "Tuple3D",
    "barrier",
    "block_dim",
    "block_id",
    "block_idx",
    "grid_dim",
    "known_block_size",
    "lane_id",
    "lds_space",
    "num_warp_threads",
    "shuffle",
    "shuffle_down",
    "shuffle_idx",
    "shuffle_up",
    "shuffle_xor",
    "smem_space",
    "thread_id",
    "thread_idx",
]

_MODES = ("xor", "up", "down", "idx")
_CONSTANT = 4
"""LLVM's number of AMD's constant address space."""


def _id(op: str, dimension: Any) -> ir.Value:
    name = str(getattr(dimension, "name", dimension))
    if name not in ("x", "y", "z"):
        raise ValueError(f"a dimension is 'x', 'y' or 'z', not {dimension!r}")
    return build(f"gpu.{op}", (), Index.ir_type, {"dimension": attribute(f"#gpu<dim {name}>")})


# Where the launch puts its extents in the implicit arguments of a kernel (AMDGPU ABI of code objects 5 and later): byte
# offset and bytes per axis. MLIR's gpu.block_dim and gpu.grid_dim would call a device library instead.
_IMPLICIT_ARGUMENTS = {"grid_dim": (0, 4), "block_dim": (12, 2)}


def is_extent(value: ir.Value) -> bool:
    """Tell whether a value is an extent of the grid or of its workgroups, which are positive."""
    trace = _trace.maybe_current()
    scope = None if trace is None else trace.kernel
    known = () if scope is None else (scope.hoisted.get((name, axis)) for name in _IMPLICIT_ARGUMENTS for axis in "xyz")
    return any(one is not None and ir.Value.__eq__(one, value) for one in known)


def _implicit_argument(what: str, axis: str) -> ir.Value:
    start, size = _IMPLICIT_ARGUMENTS[what]
    kind = type_of(PointerType, _CONSTANT)
    attributes = {
        "intrin": ir.StringAttr.get("llvm.amdgcn.implicitarg.ptr"),
        "op_bundle_sizes": i32_array([]),
        "operandSegmentSizes": i32_array([0, 0]),
    }
    base = build("llvm.call_intrinsic", (), kind, attributes)
    offset = i32_array([start + size * "xyz".index(axis)])
    step = {"elem_type": ir.TypeAttr.get(Int8.ir_type), "rawConstantIndices": offset}
    address = build("llvm.getelementptr", (base,), kind, step)
    load = {"alignment": int_attribute(size, 64), "invariant": ir.UnitAttr.get()}
    value = build("llvm.load", (address,), {2: Int16, 4: Int32}[size].ir_type, load)
    return value if size == 4 else build("arith.extui", (value,), Int32.ir_type)


class Tuple3D:
    """Three `Int32` indices or extents, `.x`, `.y`, `.z`, made once per kernel."""

    __slots__ = ("_name", "_op")

    if TYPE_CHECKING:
        x: Int32
        y: Int32
        z: Int32

    def __init__(self, op: str, name: str) -> None:
        self._op, self._name = op, name

    def __getattr__(self, axis: str) -> Any:
        if axis not in ("x", "y", "z"):
            raise AttributeError(f"{self._name} has .x, .y and .z, no '{axis}'")
        trace = _trace.maybe_current()
        scope = None if trace is None else trace.kernel
        if scope is None:
            return wrap(Int32, self._emit(axis))
        if self._op == "block_dim" and scope.block_size is not None:
            return Int32(scope.block_size["xyz".index(axis)])
        key = (self._op, axis)
        known = scope.hoisted.get(key)
        if known is None:
            with ir.InsertionPoint.at_block_begin(scope.entry):
                known = scope.hoisted[key] = self._emit(axis)
        return wrap(Int32, known)

    def _emit(self, axis: str) -> ir.Value:
        if self._op in _IMPLICIT_ARGUMENTS and not _trace.target().nvidia:
            return _implicit_argument(self._op, axis)
        return build("arith.index_cast", (_id(self._op, axis),), Int32.ir_type)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, axis: int) -> Any:
        return getattr(self, "xyz"[axis])

    def __repr__(self) -> str:
        return f"fx.{self._name}"


thread_idx = Tuple3D("thread_id", "thread_idx")
block_idx = Tuple3D("block_id", "block_idx")
block_dim = Tuple3D("block_dim", "block_dim")
grid_dim = Tuple3D("grid_dim", "grid_dim")


def thread_id(dimension: Any) -> ir.Value:
    """Return the thread's index in its block along "x", "y" or "z", as an index-typed SSA value."""
    return _id("thread_id", dimension)


def block_id(dimension: Any) -> ir.Value:
    """Return the block's index in the grid along "x", "y" or "z", as an index-typed SSA value."""
    return _id("block_id", dimension)


def lane_id() -> Numeric:
    """Return the thread's index in its wave, `Int32`."""
    return wrap(Int32, build("arith.index_cast", (build("gpu.lane_id", (), Index.ir_type),), Int32.ir_type))


def num_warp_threads() -> int:
    """Return the number of threads of a wave on the target: 64 on gfx9, 32 on gfx10 and later."""
    return _trace.target().warp_size


def known_block_size() -> tuple[int, int, int]:
    """Return the block's extents; `RuntimeError` when they are only known at the launch."""
    size = _trace.kernel("fx.known_block_size()").block_size
    if size is None:
        raise RuntimeError(
            "the block size of this kernel is not static; launch it with a static block, or declare "
            "@flyc.kernel(known_block_size=(x, y, z))"
        )
    return size


def barrier() -> None:
    """Wait until all threads of the workgroup are here; LDS and global writes before are visible after."""
    build_op("gpu.barrier", ())


def _open(value: Any) -> tuple[ir.Value, Any]:
    if isinstance(value, Vector):
        shape, dtype = value.shape, value.dtype
        return value.value, lambda result: _make(result, shape, dtype)
    if isinstance(value, ir.Value):
        return value, lambda result: result
    scalar = as_numeric(value)
    cls = scalar.dtype
    return scalar.ir_value(), lambda result: wrap(cls, result)


def shuffle(value: ValueLike, offset: IntLike, width: IntLike | None = None, mode: str = "xor") -> Any:
    """Return the value that another lane of the wave has.

    Args:
        value: a scalar or vector; the result is of the same type.
        offset: for `xor`, what to flip in the lane number; for `up` and `down`, how far; for `idx`, the lane.
        width: lanes of the group in which lanes are numbered; by default the wave.
        mode: "xor", "up", "down" or "idx".

    Raises:
        ValueError: another mode, or a width beyond the wave or that is no power of two.
    """
    if mode not in _MODES:
        raise ValueError(f"a shuffle's mode is one of {', '.join(_MODES)}, not {mode!r}")
    operand, wrapper = _open(value)
    lanes = num_warp_threads()
    if mode == "idx" and width is not None and not (isinstance(width, int) and width >= lanes):
        # The instruction counts lanes through the whole wave; a group's lanes are counted from its first one.
        group = as_numeric(width).to(Int32) - 1
        offset = (lane_id() & ~group) | (as_numeric(offset).to(Int32) & group)
    return wrapper(_shuffle_op(operand, offset, width, mode).results[0])


def _shuffle_op(operand: ir.Value, offset: Any, width: Any, mode: str) -> ir.Operation:
    lanes = num_warp_threads()
    width = lanes if width is None else width
    known = _known(width)
    if known is not None and 1 <= known <= lanes and known & (known - 1):
        raise ValueError(f"a shuffle's width is a power of two, not {known}")
    if known is not None and not 1 <= known <= lanes:
        raise ValueError(
            f"a shuffle's width is 1 to {lanes}, the lanes of a wave of the target, not {known}; "
            "fx.num_warp_threads() gives their number"
        )
    operands = (operand, _int32(offset), _int32(width))
    results = (operand.type, Boolean.ir_type)
    return build_op("gpu.shuffle", operands, results, {"mode": attribute(f"#gpu<shuffle_mode {mode}>")})


def _known(value: Any) -> int | None:
    """Return an integer that is known while tracing, also as a raw constant."""
    if isinstance(value, ir.Value):
        owner = getattr(value.owner, "operation", None)  # a block's argument has none
        if owner is None or owner.name != "arith.constant":
            return None
        return int(ir.IntegerAttr(owner.attributes["value"]).value)
    number = as_numeric(value)
    return int(number) if number.is_static() else None


def _int32(value: Any) -> ir.Value:
    return as_numeric(value).to(Int32).ir_value()


def shuffle_xor(value: ValueLike, offset: IntLike, width: IntLike | None = None) -> Any:
    """Return the value of the lane whose number differs by the bits of `offset`."""
    return shuffle(value, offset, width, "xor")


def shuffle_up(value: ValueLike, offset: IntLike, width: IntLike | None = None) -> Any:
    """Return the value of the lane `offset` below; lanes without one get their own."""
    return shuffle(value, offset, width, "up")


def shuffle_down(value: ValueLike, offset: IntLike, width: IntLike | None = None) -> Any:
    """Return the value of the lane `offset` above; lanes without one get their own."""
    return shuffle(value, offset, width, "down")


def shuffle_idx(value: ValueLike, lane: IntLike, width: IntLike | None = None) -> Any:
    """Return the value of a lane."""
    return shuffle(value, lane, width, "idx")


def ShuffleOp(value: ValueLike, offset: IntLike, width: IntLike, mode: Any = "xor") -> Any:
    """Build `gpu.shuffle` and return the op; `.shuffleResult` is the raw value, `.valid` whether the lane exists."""
    name = str(getattr(mode, "name", mode)).lower()
    if name not in _MODES:
        raise ValueError(f"a shuffle's mode is one of {', '.join(_MODES)}, not {mode!r}")
    return _shuffle_op(as_ir_value(value), offset, width, name).opview


def smem_space(int: bool = False) -> int | ir.Attribute:
    """Return the address space of LDS for builtin memrefs: MLIR's workgroup attribute, or its number.

    The number is the attribute's, 2 (`gpu.AddressSpace.Workgroup`); LLVM's and `fly`'s pointers to LDS have 3.
    """
    return 2 if int else workgroup_space()


def workgroup_space() -> ir.Attribute:
    """Return the address space of LDS for builtin memrefs."""
    return attribute("#gpu.address_space<workgroup>")


lds_space = smem_space


attach(shuffle_xor=shuffle_xor)
