# SPDX-License-Identifier: Apache-2.0
"""Tensor maps, and copies of boxes of tensors by the copy engine (TMA)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir._mlir_libs import _flyNVVMDialect as fly_nvvm
from flydsl.trace.build import build, build_op, i32_array, int_attribute, type_of

from ..ops.atom import CopyAtom
from ..values.layout.construct import make_layout
from ..values.layout.objects import E, Swizzle
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Int32, Int64
from ..values.tensor import Tensor, make_view
from .target import require_hopper

__all__ = ["TensorMap", "make_tensor_map", "tma_commit", "tma_wait"]

_FETCHED = (64, 128, 256)
_SWIZZLES = {(0, 0, 0): 0, (1, 4, 3): 32, (2, 4, 3): 64, (3, 4, 3): 128}


class TensorMap:
    """How the copy engine knows a tensor: an argument of a kernel, made in the host function.

    Attributes:
        box: what one copy moves, an extent for each mode of the tensor.
        dtype: the class of its elements.
        swizzle: bytes of the swizzle of the boxes in shared memory: 0, 32, 64 or 128.
        written: whether copies may write the tensor.
    """

    __slots__ = ("_order", "box", "dtype", "swizzle", "value", "written")

    def __init__(
        self,
        value: ir.Value,
        box: tuple[int, ...],
        dtype: NumericMeta,
        swizzle: int,
        order: tuple[int, ...],
        written: bool,
    ) -> None:
        self.value = value
        self.box = box
        self.dtype = dtype
        self.swizzle = swizzle
        self.written = written
        self._order = order  # the modes of the tensor, innermost first

    @property
    def transferred(self) -> int:
        """Bytes of a box."""
        return math.prod(self.box) * self.dtype.width // 8

    def coordinates(self, shape: Sequence[int | Numeric]) -> Tensor:
        """Return the coordinates of a tensor of this shape, which `fx.copy` takes in place of the tensor.

        Its tiles are the boxes: `fx.flat_divide(map.coordinates((m, k)), map.box)[None, None, row, step]`.
        """
        shape = tuple(shape)
        if len(shape) != len(self.box):
            raise ValueError(f"coordinates: the tensor has {len(self.box)} modes, got the shape {shape}")
        strides = tuple(E(self._order.index(mode)) for mode in range(len(shape)))
        return make_view((0,) * len(shape), make_layout(shape, strides))

    def load_atom(self, *, multicast: bool = False, evict_first: bool = False) -> CopyAtom:
        """Return the atom that copies a box to shared memory; its state is `barrier` and `multicast_mask`.

        With `evict_first` the L2 gives up what it copies before other lines: for what is read once.

        `fx.copy(atom.set_value("barrier", mbarrier), tile_of_coordinates, tile_in_shared_memory)` is for one thread.
        """
        return self._atom(fly_nvvm.SM90TMALoadType, multicast, evict_first)

    def store_atom(self) -> CopyAtom:
        """Return the atom that copies a tile in shared memory to a box; `fx.copy` of it is for one thread.

        Those that wrote the tile call `fence_async_shared`, and a barrier stands between them and the copy.

        Raises:
            ValueError: the map is not one of `make_tensor_map(written=True)`.
        """
        self._require_written("store_atom")
        return self._atom(fly_nvvm.SM90TMAStoreType)

    def reduce_atom(self, kind: str) -> CopyAtom:
        """Return the atom that reduces a tile in shared memory into a box; `fx.copy` of it is for one thread.

        Each element of the box becomes the reduction of what it was and the tile's, atomically and in no order: sums of
        floats vary with it. What lies outside of the tensor is left out. As for `store_atom`, those that wrote the tile
        call `fence_async_shared`, a barrier stands behind them, and `tma_commit` and `tma_wait` follow the copy. The
        map is one of `make_tensor_map(written=True)`.

        Args:
            kind: `add` (Int32, Uint32, Uint64, Float32, Float16, BFloat16), `min` or `max` (integers of 32 and 64 bits,
                Float16, BFloat16), `and`, `or` or `xor` (Int32, Uint32, Uint64).

        Raises:
            ValueError: the copy engine has no such reduction of these elements, or the map is not `written`.
        """
        self._require_written("reduce_atom")
        # On an H200 such a copy of Int64 is an illegal instruction.
        if kind not in ("min", "max") and self.dtype is Int64:
            raise ValueError(
                f"reduce_atom: the copy engine has {kind} of Uint64, not of Int64, and the bits of the result are the "
                "same: make the map of a tensor over fx.recast_iter(fx.Uint64, tensor.iter)"
            )
        return self._atom(fly_nvvm.SM90TMAReduceType, kind)

    def _require_written(self, called: str) -> None:
        if not self.written:
            raise ValueError(
                f"{called}: the map says that copies only read the tensor; make it by make_tensor_map(written=True)"
            )

    def _atom(self, kind: Any, *keys: Any) -> CopyAtom:
        require_hopper("TensorMap")
        operation = type_of(kind, self._extents(), self.dtype.ir_type, self.swizzle, *keys)
        bits = self.dtype.width
        result = type_of(fly.CopyAtomType, operation, bits)
        return CopyAtom(build("fly.make_copy_atom", (self.value,), result, {"valBits": int_attribute(bits)}))

    def _extents(self) -> tuple[int, ...]:
        """The box, outermost extent first."""
        return tuple(self.box[mode] for mode in reversed(self._order))

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: TensorMap) -> TensorMap:
        return cls(values[0], exemplar.box, exemplar.dtype, exemplar.swizzle, exemplar._order, exemplar.written)


def _swizzle_bytes(swizzle: Any) -> int:
    if swizzle is None:
        return 0
    parts = (swizzle.mask, swizzle.base, swizzle.shift) if isinstance(swizzle, Swizzle) else swizzle
    found = _SWIZZLES.get(tuple(parts)) if isinstance(parts, tuple) else None
    if found is None:
        raise ValueError(
            f"make_tensor_map: the copy engine has the swizzles S<1,4,3>, S<2,4,3>, S<3,4,3> of byte addresses and "
            f"none, got {swizzle}"
        )
    return found


def make_tensor_map(
    tensor: Tensor,
    box: Sequence[int],
    swizzle: Swizzle | tuple[int, int, int] | None = None,
    *,
    written: bool = False,
    fetched: int = 256,
) -> TensorMap:
    """Return the map of a tensor in global memory; called in the host function.

    One mode is contiguous, which must be known when the function is compiled; the strides of the others are multiples
    of 16 bytes, which is checked at each call, and so is the address.

    Args:
        tensor: the tensor, of 1 to 5 modes.
        box: what one copy moves: an int for each mode, up to 256. The contiguous one is a multiple of 16 bytes, and
            with a swizzle not wider than that.
        swizzle: of the boxes in shared memory, as of a pointer there: an `fx.static(fx.SwizzleType.get(3, 4, 3))` or
            `(3, 4, 3)`.
        written: whether copies write the tensor: `store_atom` and `reduce_atom` are of such maps alone.
        fetched: bytes that the L2 fetches together of what a copy does not find there: 64, 128 or 256. More than a row
            of the box has is what a later copy asks for: it pays where many read the same, and costs where memory is
            what is waited for.

    Raises:
        TypeError: no tensor in global memory.
        ValueError: a box that there is not, no contiguous mode, other bytes to fetch, or another target than sm_90a.
    """
    require_hopper("make_tensor_map")
    if not isinstance(tensor, Tensor) or tensor.is_coordinate:
        raise TypeError(f"make_tensor_map takes a tensor in global memory, got {type(tensor).__name__}")
    if fetched not in _FETCHED:
        raise ValueError(
            f"make_tensor_map: the L2 fetches {', '.join(map(str, _FETCHED))} bytes together, got {fetched}"
        )
    box = tuple(box)
    shape, stride = tensor.shape.unpack(), tensor.stride.unpack()
    if len(box) != len(shape) or any(isinstance(one, tuple) for one in shape):
        raise ValueError(f"make_tensor_map: a tensor of shape {shape} has no boxes {box}: one int for each mode")
    contiguous = [mode for mode, step in enumerate(stride) if isinstance(step, int) and step == 1]
    if not contiguous:
        raise ValueError(
            f"make_tensor_map: no mode of the tensor with strides {stride} is known to be contiguous; pass it with "
            "static strides of 1, as flyc.from_dlpack(...).mark_layout_dynamic() does"
        )
    inner = contiguous[-1]
    order = (inner, *(mode for mode in reversed(range(len(shape))) if mode != inner))
    width = _swizzle_bytes(swizzle)
    extents = tuple(box[mode] for mode in reversed(order))
    kind = type_of(fly_nvvm.TensorMapType, extents, tensor.dtype.ir_type, width)

    def wide(value: Any) -> ir.Value:
        result: ir.Value = as_numeric(value).to(Int64).ir_value()
        return result

    sizes = [wide(shape[mode]) for mode in order]
    steps = [wide(stride[mode]) for mode in order[1:]]
    attributes = {
        "operandSegmentSizes": i32_array([1, len(sizes), len(steps)]),
        "fetched": int_attribute(fetched),
    }
    if written:
        attributes["written"] = ir.UnitAttr.get()
    if tensor.dtype.is_integer and tensor.dtype.signed and tensor.dtype.width >= Int32.width:
        attributes["isSigned"] = ir.UnitAttr.get()
    value = build("fly_nvvm.make_tensor_map", (tensor.iter.value, *sizes, *steps), kind, attributes)
    return TensorMap(value, box, tensor.dtype, width, order, written)


def tma_commit() -> None:
    """Make a group of the stores that this thread issued.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("tma_commit")
    build_op("nvvm.cp.async.bulk.commit.group", ())


def tma_wait(pending: int = 0, *, read: bool = False) -> None:
    """Wait until at most `pending` groups of this thread's stores are not finished.

    Args:
        pending: groups.
        read: wait only until their tiles in shared memory have been read.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("tma_wait")
    attributes: dict[str, ir.Attribute] = {"group": int_attribute(pending)}
    if read:
        attributes["read"] = ir.UnitAttr.get()
    build_op("nvvm.cp.async.bulk.wait_group", (), (), attributes)
