# SPDX-License-Identifier: Apache-2.0
"""Atoms: one hardware operation as a traced value, with its run-time state."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir.facts import CopyAtomFacts, MmaAtomFacts
from flydsl.trace.build import build, infer, int_attribute, type_of
from flydsl.trace.context import maybe_current
from flydsl.trace.wrap import register_wrapper

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


def atom_set_value(atom: Any, field: str, value: Any) -> Any:
    """Return `atom` with the state field `field` set to an integer, or what has its bits (or a tuple or pointer).

    Raises:
        ValueError: the operation has no such field.
        TypeError: `atom` is no atom.
    """
    if not isinstance(atom, FlyValue) or not hasattr(atom, "set_value"):
        raise TypeError(f"set_value is for atoms, tiled copies and tiled MMAs, not {type(atom).__name__}")
    known = fly.state_fields(atom.value)
    if field not in known:
        have = "its fields are " + ", ".join(known) if known else "it has no state"
        facts = getattr(atom._facts, "atom", atom._facts)  # those of a tiling have its atom's
        raise ValueError(f"'{field}' is no state field of {facts.mnemonic}; {have}")
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
    _kinds = (CopyAtomFacts,)

    @property
    def val_bits(self) -> int:
        """Bits of one value."""
        bits: int = self._facts.val_bits
        return bits

    @property
    def described(self) -> Any:
        """The atom as `flydsl.layout` describes it."""
        from .host_atoms import copy_atom

        return copy_atom(self._facts)

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
    _kinds = (MmaAtomFacts,)

    @property
    def described(self) -> Any:
        """The atom as `flydsl.layout` describes it."""
        from .host_atoms import mma_atom

        return mma_atom(self._facts)

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


register_wrapper(CopyAtomFacts, CopyAtom)
register_wrapper(MmaAtomFacts, MmaAtom)


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


def check_target(atom: FlyValue) -> None:
    """Refuse to use an atom (or a tiling of it) whose operation the target lacks; making it is no harm.

    Raises:
        ValueError: names the operation, what has it, and what the target has instead.
    """
    trace = maybe_current()
    why = None if trace is None else fly.why_unavailable(atom.value, trace.arch.name)
    if why is not None:
        raise ValueError(why)


def make_copy_atom(copy_op: Any, elem: Any) -> CopyAtom:
    """Return the atom of a copy operation on values of `elem`: a numeric class, MLIR type or number of bits.

    Raises:
        TypeError: `copy_op` is not a copy operation, or `elem` says no width.
    """
    operation = copy_op if isinstance(copy_op, ir.Type) else None  # as MLIR's bindings give it
    if operation is None and (isinstance(copy_op, type) or not isinstance(copy_op, CopyOp)):
        hint = f"; write {copy_op.__name__}(...)" if isinstance(copy_op, type) else ""
        raise TypeError(f"make_copy_atom takes a copy operation such as fx.UniversalCopy32b(), got {copy_op!r}{hint}")
    bits = _element_bits(elem)
    result = type_of(fly.CopyAtomType, operation or copy_op.ir_type, bits)
    return CopyAtom(build("fly.make_copy_atom", (), result, {"valBits": int_attribute(bits)}))


def make_mma_atom(mma_op: Any) -> MmaAtom:
    """Return the atom of an MMA operation.

    Raises:
        TypeError: `mma_op` is not an MMA operation.
    """
    if not isinstance(mma_op, (MmaOp, ir.Type)):
        raise TypeError(
            f"make_mma_atom takes an MMA operation such as fx.rocdl.MFMA(16, 16, 16, fx.Float16), got {mma_op!r}"
        )
    operation = mma_op if isinstance(mma_op, ir.Type) else mma_op.ir_type
    return MmaAtom(build("fly.make_mma_atom", (), type_of(fly.MmaAtomType, operation)))
