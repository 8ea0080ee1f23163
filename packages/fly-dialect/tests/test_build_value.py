# SPDX-License-Identifier: Apache-2.0
"""The short way of a trace to an operation of one result makes what the general builder makes, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyDialect import IntTupleType, build_value, infer_value


def outermost(function: Any) -> Any:
    """Make the call whose frame is the last of a chain."""
    return function()


BOUNDARY = outermost.__code__
LIBRARY = {__file__: True}  # so that the chain of these tests is empty


class Program:
    """A module, and what a trace knows of it."""

    def __init__(self) -> None:
        self.context = ir.Context(load_on_create_dialects=["arith", "fly", "vector"])
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            self.i32 = ir.IntegerType.get_signless(32)
            self.one = ir.IntegerAttr.get(self.i32, 1)
        self.locations: Any = {b"": ir.Location.file("user.py", 3, 5, context=self.context)}

    def build(self, name: str, operands: Any = (), result: Any = None, attributes: Any = None, **instead: Any) -> Any:
        """Build at the end of the module, the short way."""
        what = (name, operands, instead.get("type", result or self.i32), attributes, instead.get("start"))
        return self.at_end(build_value, what, **instead)

    def infer(self, name: str, operands: Any = (), attributes: Any = None, **instead: Any) -> Any:
        """Build an operation that infers its type at the end of the module, the short way."""
        return self.at_end(infer_value, (name, operands, attributes), **instead)

    def at_end(self, make: Any, what: tuple[Any, ...], **instead: Any) -> Any:
        """Make something with the insertion point at the end of the module."""
        known = (BOUNDARY, instead.get("library", LIBRARY), instead.get("locations", self.locations))
        with ir.InsertionPoint(self.module.body), instead.get("inside", ir.Location.unknown(self.context)):
            return outermost(lambda: make(self.context, *known, *what))

    def constant(self) -> Any:
        return self.build("arith.constant", attributes={"value": self.one})

    def count(self) -> int:
        return len(list(self.module.body.operations))


@pytest.fixture
def program() -> Program:
    return Program()


def test_what_is_made_is_what_the_general_builder_makes(program):
    one = program.constant()
    flags = {"overflowFlags": ir.Attribute.parse("#arith.overflow<nsw>", program.context)}
    short = program.build("arith.addi", [one, one], attributes=flags)
    with program.context, program.locations[b""], ir.InsertionPoint(program.module.body):
        general = ir.Operation.create("arith.addi", results=[program.i32], operands=[one, one], attributes=flags)
    assert type(short) is type(general.results[0])
    lines = [one.partition(" = ")[2] for one in program.module.operation.get_asm().splitlines() if " = " in one]
    assert lines[1] == lines[2]
    assert short.owner.location == general.location
    assert str(short.owner.location) == 'loc("user.py":3:5)'
    assert program.module.operation.verify()
    assert [one.operation.name for one in program.module.body.operations] == [
        "arith.constant",
        "arith.addi",
        "arith.addi",
    ]


def test_nothing_is_made_of_what_is_not_as_usual(program):
    one, other = program.constant(), Program()
    foreign = other.constant()
    elsewhere = ir.IntegerType.get_signless(32, other.context)
    before = program.count()
    assert program.build("arith.addi", [one, foreign]) is None
    assert program.build("arith.addi", [one, 1]) is None
    assert program.build("arith.addi", [one, None]) is None
    assert program.build("arith.addi", [one, one], result=elsewhere) is None
    assert program.build("arith.constant", attributes={"value": other.one}) is None
    assert program.build("arith.constant", attributes={"value": 1}) is None
    assert program.build("arith.constant", attributes={"value": program.one}, inside=other.context) is None
    assert program.build("arith.constant", attributes={"value": program.one}, locations={}) is None
    assert program.build("arith.constant", attributes={"value": program.one}, locations={b"": None}) is None
    assert program.build("arith.constant", attributes={"value": program.one}, library={}) is None  # a file to ask about
    assert program.build("math.absi", [one]) is None  # of a dialect that is yet to be loaded
    assert program.build("arith.nothing", [one]) is None
    assert (program.count(), other.count()) == (before, 1)


def test_a_result_can_be_of_the_type_of_the_first_operand(program):
    one = program.constant()
    assert program.build("arith.addi", [one, one], type=None).type == program.i32
    assert program.build("arith.constant", type=None, attributes={"value": program.one}) is None
    assert program.build("arith.addi", [one, one], type="i32") is None


def test_an_operation_can_go_to_the_start_of_a_block(program):
    with program.context, ir.Location.unknown():
        function = ir.Module.parse("func.func @f() { %0 = arith.constant 5 : i32\n return }")
        empty = ir.Module.parse("func.func @f() { return }")
    body = function.body.operations[0].regions[0].blocks[0]
    made = program.build("arith.constant", attributes={"value": program.one}, start=body)
    assert [one.operation.name for one in body.operations] == ["arith.constant", "arith.constant", "func.return"]
    assert body.operations[0].operation == made.owner.operation
    program.build(
        "arith.constant", attributes={"value": program.one}, start=empty.body.operations[0].regions[0].blocks[0]
    )
    assert empty.operation.verify()
    assert function.operation.verify()
    assert program.count() == 0
    foreign = Program().module.body
    assert program.build("arith.constant", attributes={"value": program.one}, start=foreign) is None
    assert program.build("arith.constant", attributes={"value": program.one}, start=5) is None


def test_what_a_dialect_infers_is_what_the_general_builder_infers(program):
    kind = IntTupleType.get((4, 8), context=program.context)
    shape = program.build("fly.static", result=kind)
    mode = {"mode": ir.DenseI32ArrayAttr.get([1], context=program.context)}
    short = program.infer("fly.get", [shape], mode)
    with program.context, program.locations[b""], ir.InsertionPoint(program.module.body):
        general = ir.Operation.create("fly.get", operands=[shape], attributes=mode, infer_type=True)
    assert (type(short), short.type) == (type(general.results[0]), general.results[0].type)
    assert short.owner.location == general.location
    assert program.module.operation.verify()


def test_nothing_is_inferred_of_what_is_not_as_usual(program, capfd):
    one = program.constant()
    shape = program.build("fly.static", result=IntTupleType.get((4, 8), context=program.context))
    far = {"mode": ir.DenseI32ArrayAttr.get([7], context=program.context)}
    before = program.count()
    assert program.infer("fly.get", [shape], far) is None  # the dialect refuses it
    assert program.infer("fly.get", [one], far) is None
    assert program.infer("fly.get", [], far) is None
    assert program.infer("fly.get", [shape], {"mode": program.one}) is None
    assert program.infer("fly.get", [None], far) is None
    assert program.infer("arith.addi", [one, one]) is None  # the general builder looks at the operands first
    assert program.infer("fly.nothing", [one]) is None
    assert program.infer("fly.get", [shape], far, locations={}) is None
    assert program.count() == before
    assert capfd.readouterr() == ("", "")  # the general builder says what is wrong


def test_without_an_insertion_point_nothing_is_made(program):
    with program.context:
        made = outermost(
            lambda: build_value(
                program.context,
                BOUNDARY,
                LIBRARY,
                program.locations,
                "arith.constant",
                (),
                program.i32,
                {"value": program.one},
            )
        )
    assert made is None


def test_a_choice_of_lanes_is_left_to_the_builder_that_checks_it(program):
    """MLIR's verifier of `arith.select` reads the shape of values that have none."""
    with program.context, ir.Location.unknown():
        lanes = ir.VectorType.get([4], ir.IntegerType.get_signless(1))
        every = ir.DenseElementsAttr.get_splat(lanes, ir.BoolAttr.get(True))
        truth = ir.IntegerType.get_signless(1)
    condition = program.build("arith.constant", result=lanes, attributes={"value": every})
    one = program.constant()
    assert program.build("arith.select", [condition, one, one]) is None
    bit = program.build("arith.constant", result=truth, attributes={"value": ir.IntegerAttr.get(truth, 1)})
    assert program.build("arith.select", [bit, one, one]) is not None
    assert program.module.operation.verify()


def test_values_of_erased_operations_raise(program):
    one = program.constant()
    one.owner.operation.erase()
    with pytest.raises(RuntimeError, match="invalidated"):
        program.build("arith.addi", [one, one])


def test_what_stands_behind_a_terminator_raises(program):
    with program.context, ir.Location.unknown():
        function = ir.Module.parse("func.func @f() { return }")
        body = function.body.operations[0].regions[0].blocks[0]
        with ir.InsertionPoint(body), pytest.raises(IndexError, match="terminator"):
            outermost(
                lambda: build_value(
                    program.context,
                    BOUNDARY,
                    LIBRARY,
                    program.locations,
                    "arith.constant",
                    (),
                    program.i32,
                    {"value": program.one},
                )
            )
