# SPDX-License-Identifier: Apache-2.0
"""Atoms: one hardware operation as a traced value, with its run-time state."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import attribute, build, infer, parse_type
from flydsl.trace.context import maybe_current
from flydsl.trace.wrap import register_wrapper

from ..values.layout import typetext as tt
from ..values.layout.host import from_host
from ..values.layout.objects import FlyValue, Layout
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.meta import NumericMeta, class_of_ir_type
from ..values.vector import Vector
from .atom_types import CopyOp, MmaOp

__all__ = ["CopyAtom", "MmaAtom", "atom_set_value", "make_copy_atom", "make_mma_atom"]


class _Atom(FlyValue):
    """Base of atoms: `set_value` returns the atom with changed state."""

    __slots__ = ()

    @property
    def operation_text(self) -> str:
        """The text of the operation's type."""
        return tt.split(tt.arguments(self.type_text))[0]

    def set_value(self, field: Any, value: Any = None) -> Any:
        """Return this atom with a state field set: `set_value("soffset", n)` or `set_value({"soffset": n, ...})`.

        Raises:
            ValueError: the operation has no such field.
        """
        fields = field if isinstance(field, dict) else {field: value}
        result = self
        for name, item in fields.items():
            result = atom_set_value(result, name, item)
        return result


def of_tiling(owner: str, tiling: type, name: str) -> property:
    """Return a property of a thread's slice that is the property `name` of the tiling it is a slice of."""
    return property(lambda slice: getattr(getattr(slice, owner), name), doc=getattr(tiling, name).__doc__)


# State fields by the mnemonic of the operation; an operation that is not listed is not checked here.
_FIELDS: dict[str, tuple[str, ...]] = {
    "!fly.universal_copy": (),
    "!fly.universal_atomic": (),
    "!fly.universal_fma": (),
    "!fly_rocdl.cdna3.buffer_copy": ("soffset",),
    "!fly_rocdl.cdna3.buffer_copy_lds": ("soffset", "imm_offset"),
    "!fly_rocdl.cdna3.buffer_atomic": ("soffset",),
    "!fly_rocdl.cdna4.lds_read_trans": (),
    "!fly_rocdl.cdna4.buffer_load_async_lds": ("soffset", "imm_offset"),
    "!fly_rocdl.cdna4.global_load_async_lds": (),
    "!fly_rocdl.cdna3.mfma": (),
    "!fly_rocdl.cdna3.smfmac": ("sparse_index",),
    "!fly_rocdl.cdna4.mfma_scale": ("scale_a", "scale_b"),
    "!fly_rocdl.gfx11.wmma": (),
    "!fly_rocdl.gfx120x.wmma": (),
    "!fly_rocdl.gfx1250.wmma": (),
    "!fly_rocdl.gfx1250.wmma_scale": ("scale_a", "scale_b"),
    "!fly_rocdl.gfx1250.tdm": (
        "workgroup_mask",
        *(f"extent_{i}" for i in range(5)),
        *(f"stride_{i}" for i in range(4)),
        "imm_offset",
    ),
}


def _operation_of(value: FlyValue) -> str:
    text = tt.arguments(value.type_text)
    first = tt.split(text)[0]
    return _operation_of_text(first)


def _operation_of_text(text: str) -> str:
    if text.startswith(("!fly.copy_atom<", "!fly.mma_atom<", "!fly.tiled_")):
        return _operation_of_text(tt.split(tt.arguments(text))[0])
    return text[: text.index("<")] if "<" in text else text


def atom_set_value(atom: Any, field: str, value: Any) -> Any:
    """Return `atom` with the state field `field` set to an integer, or what has its bits (or a tuple or pointer).

    Raises:
        ValueError: the operation has no such field.
        TypeError: `atom` is no atom.
    """
    if not isinstance(atom, FlyValue) or not hasattr(atom, "set_value"):
        raise TypeError(f"set_value is for atoms, tiled copies and tiled MMAs, not {type(atom).__name__}")
    known = _FIELDS.get(_operation_of(atom))
    if known is not None and field not in known:
        have = "its fields are " + ", ".join(known) if known else "it has no state"
        raise ValueError(f"'{field}' is no state field of {_operation_of(atom).removeprefix('!')}; {have}")
    if isinstance(value, tuple):
        from ..values.layout.construct import as_int_tuple

        value = as_int_tuple(value)
    if isinstance(value, (Vector, FlyValue)):
        operand = value.value
    elif isinstance(value, ir.Value):
        operand = value
    else:
        operand = as_numeric(value).ir_value()
    return type(atom)(infer("fly.atom.set_value", (atom.value, operand), {"field": ir.StringAttr.get(field)}))


class CopyAtom(_Atom):
    """A copy operation for values of a fixed number of bits."""

    __slots__ = ()
    _kinds = (fly.CopyAtomType,)

    @property
    def val_bits(self) -> int:
        """Bits of one value."""
        return int(tt.split(tt.arguments(self.type_text))[1])

    @property
    def described(self) -> Any:
        """The atom as `flydsl.layout` describes it."""
        from .host_atoms import copy_atom

        return copy_atom(self.type_text)

    @property
    def thr_layout(self) -> Layout:
        """The layout of the threads that take part."""
        return static_layout(self.described.thr_layout)

    thr_id = thr_layout

    @property
    def layout_src_tv(self) -> Layout:
        """(thread, value) of the source to the index of the value moved."""
        return static_layout(self.described.layout_src_tv)

    @property
    def layout_dst_tv(self) -> Layout:
        """(thread, value) of the destination to the index of the value moved."""
        return static_layout(self.described.layout_dst_tv)

    @property
    def layout_ref_tv(self) -> Layout:
        """(thread, value) of the reference that tiled copies partition by."""
        return static_layout(self.described.layout_ref_tv)


class Extents(tuple[int, ...]):
    """A tuple of ints, which unpacks to itself as an `IntTuple` unpacks to it."""

    __slots__ = ()

    def unpack(self) -> tuple[int, ...]:
        """Return the plain tuple."""
        return tuple(self)

    to_py_value = unpack


class MmaAtom(_Atom):
    """A matrix multiply-accumulate operation."""

    __slots__ = ()
    _kinds = (fly.MmaAtomType,)

    @property
    def described(self) -> Any:
        """The atom as `flydsl.layout` describes it."""
        from .host_atoms import mma_atom

        return mma_atom(self.type_text)

    @property
    def shape_mnk(self) -> Extents:
        """The extents (M, N, K)."""
        return Extents(self.described.shape_mnk)

    @property
    def thr_layout(self) -> Layout:
        """The layout of the threads that take part."""
        return static_layout(self.described.thr_layout)

    thr_id = thr_layout

    @property
    def layout_A_tv(self) -> Layout:
        """(thread, value) of A to the column-major index in (M, K)."""
        return static_layout(self.described.layout_A_tv)

    @property
    def layout_B_tv(self) -> Layout:
        """(thread, value) of B to the column-major index in (N, K)."""
        return static_layout(self.described.layout_B_tv)

    @property
    def layout_C_tv(self) -> Layout:
        """(thread, value) of C to the column-major index in (M, N)."""
        return static_layout(self.described.layout_C_tv)


register_wrapper("copy_atom", CopyAtom)
register_wrapper("mma_atom", MmaAtom)


def static_layout(layout: Any) -> Layout:
    """Return a layout of `flydsl.layout` as a traced one."""
    result: Layout = from_host(layout)
    return result


def _element_bits(elem: Any) -> int:
    if isinstance(elem, NumericMeta):
        return elem.width
    if isinstance(elem, bool) or not isinstance(elem, (int, ir.Type, Numeric)):
        raise TypeError(f"make_copy_atom takes a numeric class, an MLIR type or a number of bits, got {elem!r}")
    if isinstance(elem, ir.Type):
        return class_of_ir_type(elem).width
    bits = int(elem)
    if bits <= 0:
        raise ValueError(f"the values of a copy atom have a positive number of bits, got {bits}")
    return bits


def _remember(op: Any) -> None:
    """Keep what an operation needs of the target for `check_target`; code for several chips makes atoms of all."""
    trace = maybe_current()
    if trace is not None and op.needs is not None:
        trace.types["operation", op.text] = op


def check_target(atom: FlyValue) -> None:
    """Refuse to use an atom (or a tiling of it) whose operation the target lacks.

    Raises:
        ValueError: names the operation, what has it, and what the target has instead.
    """
    trace = maybe_current()
    if trace is None:
        return
    text = atom.type_text
    while text.startswith(("!fly.copy_atom<", "!fly.mma_atom<", "!fly.tiled_")):
        text = tt.split(tt.arguments(text))[0]
    op = trace.types.get(("operation", text))
    if op is not None:
        op.needs.check(repr(op), trace.arch)


def make_copy_atom(copy_op: Any, elem: Any) -> CopyAtom:
    """Return the atom of a copy operation on values of `elem`: a numeric class, MLIR type or number of bits.

    Raises:
        TypeError: `copy_op` is not a copy operation, or `elem` says no width.
    """
    if isinstance(copy_op, ir.Type):  # the type of an operation, as MLIR's bindings give it
        copy_op = CopyOp(str(copy_op))
    if isinstance(copy_op, type) or not isinstance(copy_op, CopyOp):
        hint = f"; write {copy_op.__name__}(...)" if isinstance(copy_op, type) else ""
        raise TypeError(f"make_copy_atom takes a copy operation such as fx.UniversalCopy32b(), got {copy_op!r}{hint}")
    bits = _element_bits(elem)
    _remember(copy_op)
    result = parse_type(f"!fly.copy_atom<{copy_op.text}, {bits}>")
    return CopyAtom(build("fly.make_copy_atom", (), result, {"valBits": attribute(f"{bits} : i32")}))


def make_mma_atom(mma_op: Any) -> MmaAtom:
    """Return the atom of an MMA operation.

    Raises:
        TypeError: `mma_op` is not an MMA operation.
    """
    if isinstance(mma_op, ir.Type):
        mma_op = MmaOp(str(mma_op))
    if not isinstance(mma_op, MmaOp):
        raise TypeError(
            f"make_mma_atom takes an MMA operation such as fx.rocdl.MFMA(16, 16, 16, fx.Float16), got {mma_op!r}"
        )
    _remember(mma_op)
    return MmaAtom(build("fly.make_mma_atom", (), parse_type(f"!fly.mma_atom<{mma_op.text}>")))
