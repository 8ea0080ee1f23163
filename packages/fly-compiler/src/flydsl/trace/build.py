# SPDX-License-Identifier: Apache-2.0
"""Making MLIR operations, types and attributes with the least Python per op.

`Operation.create` is called directly: the generated op classes cost several times as much, and tracing is most of what
a compilation costs. Every op gets the user's source location.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyDialect import build_value, foreign_operand, infer_value
from flydsl._mlir._mlir_libs._mlirDialectsGPU import AsyncTokenType
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import StructType

from .context import BOUNDARY, Trace, is_library, location, plain_location, state, where

__all__ = [
    "attribute",
    "bool_attribute",
    "build",
    "build_once",
    "build_op",
    "build_symbol",
    "element_type_of",
    "i32_array",
    "i64_array",
    "infer",
    "infer_op",
    "int_attribute",
    "is_stream",
    "parse_type",
    "stream_type",
    "struct_type",
    "type_of",
    "vector_type",
]

_create = ir.Operation.create


class TypeClass(Protocol):
    """The bound class of an MLIR type."""

    @staticmethod
    def get(*args: Any, **kwargs: Any) -> ir.Type:
        """Return the type of these parts."""
        ...


def _own(operands: Sequence[Any]) -> Sequence[Any]:
    """Return the operands, which must be of the program that is being traced: MLIR takes that for granted."""
    trace = state.trace
    if trace is not None:
        context = trace.context
        foreign: Any = foreign_operand(context, operands)
        if foreign is not None:
            _refuse_foreign(foreign)
    return operands


def _refuse_foreign(found: ir.Value | ir.Context) -> NoReturn:
    if isinstance(found, ir.Context):
        raise RuntimeError(
            "another MLIR context was entered inside this kernel; leave it before the next operation of the language"
        )
    raise RuntimeError(
        f"this value of type {found.type} is from another trace: a value belongs to the compilation that made it. "
        "Compute it in this kernel, or pass it as a parameter; do not keep it in a global, an attribute or a default"
    )


def build_op(
    name: str,
    operands: Sequence[Any],
    results: Sequence[ir.Type] = (),
    attributes: dict[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """Create an operation at the current insertion point with the user's location."""
    return _create(
        name, results=results, operands=_own(operands), attributes=attributes, regions=regions, loc=location()
    ).operation


def _quickly(trace: Trace, make: Callable[..., Any], *what: Any) -> ir.Value | None:
    """Return what one native call makes, `None` where anything about it is not as usual."""
    known = trace.locations
    made: ir.Value | None = make(trace.context, BOUNDARY, is_library, known, *what)
    if made is not None:
        trace.count()
    elif location() is not None:  # it is known from here on: most often that was all
        made = make(trace.context, BOUNDARY, is_library, known, *what)
    return made


def build(
    name: str, operands: Sequence[Any], result: ir.Type | None, attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    """Create an operation of one result and return it.

    Args:
        name: the operation's.
        operands: SSA values.
        result: the type of the result; `None` for that of the first operand.
        attributes: by name.
    """
    trace = state.trace
    if trace is not None:  # as `_quickly`; most operations are made here, and each frame costs
        known = trace.locations
        quick: Any = build_value(trace.context, BOUNDARY, is_library, known, name, operands, result, attributes)
        if quick is not None:
            trace.count()
        elif location() is not None:
            quick = build_value(trace.context, BOUNDARY, is_library, known, name, operands, result, attributes)
        if quick is not None:
            direct: ir.Value = quick
            return direct
    operands = _own(operands)
    if result is None:
        result = operands[0].type
    made = _create(name, results=(result,), operands=operands, attributes=attributes, loc=location())
    value: ir.Value = made.results[0]
    return value


def build_symbol(
    name: str, results: Sequence[ir.Type], attributes: dict[str, ir.Attribute], operands: Sequence[Any] = ()
) -> ir.Operation:
    """Create an operation that is, or will become, a symbol of the module; see `plain_location`."""
    return _create(name, results=results, operands=operands, attributes=attributes, loc=plain_location()).operation


def build_once(key: Any, name: str, result: ir.Type, attributes: dict[str, ir.Attribute] | None = None) -> ir.Value:
    """Create an operation without operands that always gives the same value; in a kernel only the first time.

    There it goes to the start of the entry block, which dominates everything. `key` identifies the value.
    """
    trace = state.trace
    scope = None if trace is None else trace.kernel
    if scope is None:
        return build(name, (), result, attributes)
    known: ir.Value | None = scope.hoisted.get(key)
    if known is None and trace is not None:
        known = _quickly(trace, build_value, name, (), result, attributes, scope.entry)
        if known is not None:
            scope.hoisted[key] = known
    if known is None:
        at = ir.InsertionPoint.at_block_begin(scope.entry)
        made = _create(name, results=(result,), attributes=attributes, loc=location(), ip=at)
        known = made.results[0]
        scope.hoisted[key] = known
    return known


def infer_op(name: str, operands: Sequence[Any], attributes: dict[str, ir.Attribute] | None = None) -> ir.Operation:
    """Create an operation whose result types the dialect infers.

    Raises:
        TypeError: an operand is of a kind that the operation does not take.
        ValueError: the dialect refuses the operands; the message is the dialect's reason and the user's line.
    """
    operands = _own(operands)
    try:
        return _create(name, operands=operands, attributes=attributes, loc=location(), infer_type=True).operation
    except Exception as error:
        raise _refusal(name, operands, error) from None


def infer(name: str, operands: Sequence[Any], attributes: dict[str, ir.Attribute] | None = None) -> ir.Value:
    """Create an operation of one result whose type the dialect infers; errors as `infer_op`."""
    trace = state.trace
    if trace is not None:
        quick = _quickly(trace, infer_value, name, operands, attributes)
        if quick is not None:
            return quick
    value: ir.Value = infer_op(name, operands, attributes).results[0]
    return value


# How MLIR says that an operand is of a type that the definition of the operation does not admit.
_OPERAND = r"'[\w.]+' op operand #(\d+) must be (.*), but got .*"


def _refusal(name: str, operands: Sequence[Any], error: Exception) -> Exception:
    """Return what the dialect said, without the frame that MLIR puts around it, and where the user's code is."""
    heard = [str(diagnostic.message) for diagnostic in getattr(error, "error_diagnostics", ())]
    reason = "; ".join(heard) or str(error)
    operation = name.removeprefix("fly.")
    wrong = re.match(_OPERAND, reason)
    if wrong is not None:
        got = operands[int(wrong[1])].type
        return TypeError(f"{operation} takes {wrong[2]} here, not a value of type {got}, at {where()}")
    reason = re.sub(r"^\w+Op: ", "", reason)  # the C++ name of the operation
    types = ", ".join(str(value.type) for value in operands)
    return ValueError(f"{operation}: {reason} (operands: {types}) at {where()}")


def parse_type(text: str) -> ir.Type:
    """Return the MLIR type that `text` spells, remembered for the trace.

    For what users spell, and for the mnemonics of scalars; other types are made of their parts (`type_of`).
    """
    trace = state.trace
    if trace is None:
        return ir.Type.parse(text)
    known = trace.types.get(text)
    if known is None:
        known = trace.types[text] = ir.Type.parse(text, trace.context)
    return known


def stream_type() -> ir.Type:
    """Return the type of a stream in what is traced; the host function that comes of it takes an address."""
    return type_of(AsyncTokenType)


def is_stream(value: ir.Value) -> bool:
    """Tell whether a value is a stream as it is traced, not its address."""
    return bool(value.type == stream_type())


def type_of(cls: TypeClass, *arguments: object) -> ir.Type:
    """Return the MLIR type that `cls.get(*arguments)` makes, remembered for the trace.

    Args:
        cls: the bound class of a type of the `fly` dialects.
        arguments: what its `get` takes, without the context.
    """
    trace = state.trace
    if trace is None:
        return cls.get(*arguments)
    key = (cls, arguments)
    known = trace.types.get(key)
    if known is None:
        known = trace.types[key] = cls.get(*arguments, context=trace.context)
    return known


def struct_type(*fields: ir.Type) -> ir.Type:
    """Return LLVM's struct of these fields, remembered for the trace."""
    trace = state.trace
    if trace is None:
        return StructType.get_literal(fields)
    key = (StructType, fields)
    known = trace.types.get(key)
    if known is None:
        known = trace.types[key] = StructType.get_literal(fields, context=trace.context)
    return known


def int_attribute(value: int, width: int = 32) -> ir.Attribute:
    """Return an integer of so many bits, remembered for the trace."""
    trace = state.trace
    if trace is None:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(width), int(value))
    key = ("int", width, int(value))
    known = trace.types.get(key)
    if known is None:
        kind = ir.IntegerType.get_signless(width, trace.context)
        known = trace.types[key] = ir.IntegerAttr.get(kind, int(value))
    return known


def bool_attribute(value: bool) -> ir.Attribute:
    """Return a Boolean, remembered for the trace."""
    trace = state.trace
    if trace is None:
        return ir.BoolAttr.get(value)
    key = ("bool", value)
    known = trace.types.get(key)
    if known is None:
        known = trace.types[key] = ir.BoolAttr.get(value, trace.context)
    return known


def i32_array(numbers: Sequence[int]) -> ir.Attribute:
    """Return the dense array of 32-bit integers."""
    return ir.DenseI32ArrayAttr.get(list(numbers))


def i64_array(numbers: Sequence[int]) -> ir.Attribute:
    """Return the dense array of 64-bit integers."""
    return ir.DenseI64ArrayAttr.get(list(numbers))


def attribute(text: str) -> ir.Attribute:
    """Return the MLIR attribute that `text` spells, remembered for the trace."""
    trace = state.trace
    if trace is None:
        return ir.Attribute.parse(text)
    key = ("attribute", text)
    known = trace.types.get(key)
    if known is None:
        known = trace.types[key] = ir.Attribute.parse(text, trace.context)
    return known


def element_type_of(vector: ir.Value) -> ir.Type:
    """Return the MLIR type of the elements of an SSA vector."""
    kind: Any = vector.type
    element: ir.Type = kind.element_type
    return element


def vector_type(count: int, element: ir.Type) -> ir.VectorType:
    """Return `vector<count x element>`, remembered for the trace."""
    trace = state.trace
    if trace is None:
        return ir.VectorType.get([count], element)
    key = (count, element)
    known = trace.types.get(key)
    if known is None:
        known = trace.types[key] = ir.VectorType.get([count], element)
    return known
