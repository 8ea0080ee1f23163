# SPDX-License-Identifier: Apache-2.0
"""What the dialect computes at run time is what fly-layout computes.

Random operations get some of their integers as arguments of a function, fly-layout-lowering turns them into
arithmetic, and an interpreter of that arithmetic runs it on the integers. The other way round, every static result of
the dialect's inference is compared with fly-layout's in test_algebra_agreement.py.
"""

import operator
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import flydsl.layout as fl
from flydsl._mlir import ir
from flydsl._mlir.dialects import fly, func
from flydsl._mlir.passmanager import PassManager

EXTENTS = (1, 2, 2, 3, 4, 4, 6, 8, 12, 16)
FUNCTIONS_OF_LAYOUTS = ("size", "cosize")
AT_A_COORDINATE = ("crd2idx", "idx2crd", "get_flat_coord", "get_1d_coord")
OF_TUPLES = ("int_tuple_add", "int_tuple_sub", "int_tuple_mul", "int_tuple_div", "int_tuple_mod", "ceil_div")


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def wrapped(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": truncated,
    "arith.remsi": lambda a, b: a - b * truncated(a, b),
    "arith.ceildivsi": lambda a, b: -((-a) // b),
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.andi": operator.and_,
    "arith.xori": operator.xor,
    "arith.shli": operator.lshift,
}


def interpret(function: func.FuncOp, arguments: list[int]) -> list[int]:
    """Run a function of integer arithmetic."""
    block = function.regions[0].blocks[0]
    # As plain values: where the language is imported, `==` of integers builds an operation.
    values = dict(zip(map(ir.Value, block.arguments), arguments, strict=True))
    for op in block.operations:
        name, operands = op.operation.name, [values.get(ir.Value(operand)) for operand in op.operands]
        if name == "func.return":
            return operands  # type: ignore[return-value]
        width = op.operation.results[0].type.width
        if name == "arith.constant":
            result = ir.IntegerAttr(op.operation.attributes["value"]).value
        elif name in BINARY:
            result = BINARY[name](*operands)
        elif name == "arith.shrui":
            result = (operands[0] & ((1 << width) - 1)) >> operands[1]
        elif name in ("arith.extsi", "arith.trunci"):
            result = operands[0]
        else:
            raise AssertionError(f"{name} is left of the algebra")
        values[ir.Value(op.operation.results[0])] = wrapped(result, width)
    raise AssertionError("no return")


def kind(value: Any) -> str:
    return "layout" if fl.is_layout(value) else "int_tuple"


@dataclass
class Case:
    """One operation on values some of whose integers are dynamic, and what fly-layout says."""

    name: str
    operation: str
    operands: list[Any]
    values: list[int]
    expected: list[int]


class Builder:
    """Writes cases as functions of one module."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.cases: list[Case] = []

    def shape(self, depth: int = 0) -> Any:
        if depth == 2 or self.random.random() < 0.5:
            return self.random.choice(EXTENTS)
        return tuple(self.shape(depth + 1) for _ in range(self.random.randint(1, 3)))

    def layout(self, shape: Any = None) -> Any:
        shape = self.shape() if shape is None else shape
        extents = fl.flatten(shape)
        strides, step = [0] * len(extents), self.random.choice((1, 1, 2))
        for position in self.random.sample(range(len(extents)), len(extents)):
            strides[position] = step
            step *= extents[position] * self.random.choice((1, 1, 1, 2))
        return fl.Layout(shape, fl.unflatten(tuple(strides), shape))

    def coordinate(self, shape: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(map(self.coordinate, shape))
        return self.random.randrange(shape)

    def tuple_value(self, value: Any, share: float, arguments: list[tuple[ir.Value, int]], block: ir.Block) -> ir.Value:
        """An int_tuple with the value, some leaves of which are new arguments of the block."""
        dynamic: list[ir.Value] = []

        def leaf(match: re.Match[str]) -> str:
            if self.random.random() >= share:
                return match[0]
            argument = block.add_argument(ir.IntegerType.get_signless(32), ir.Location.unknown())
            arguments.append((argument, int(match[0])))
            dynamic.append(argument)
            return "?"

        text = re.sub(r"-?\d+", leaf, fl.text_of(value))
        return fly.make_int_tuple(ir.Type.parse(f"!fly.int_tuple<{text}>"), dynamic)

    def add(self, operation: str, operands: list[Any], expected: Any, shares: list[float]) -> None:
        """One function: its arguments are the dynamic integers, its results all leaves of the result."""
        name = f"case{len(self.cases)}"
        function = func.FuncOp(name, ([], []))
        block = ir.Block.create_at_start(function.regions[0], [])
        arguments: list[tuple[ir.Value, int]] = []
        with ir.InsertionPoint(block):
            built = []
            for value, share in zip(operands, shares, strict=True):
                if kind(value) == "int_tuple":
                    built.append(self.tuple_value(value, share, arguments, block))
                    continue
                shape = self.tuple_value(value.shape, share, arguments, block)
                stride = self.tuple_value(value.stride, share, arguments, block)
                built.append(fly.make_layout(shape, stride))
            result = getattr(fly, operation)(*built)
            if isinstance(result.type, fly.LayoutType):
                parts = [fly.get_shape(result), fly.get_stride(result)]
            else:
                parts = [result]
            leaves: list[ir.Value] = []
            for part in parts:
                found = fly.get_leaves(part)
                leaves += [found] if isinstance(found, ir.Value) else list(found)
            func.ReturnOp(leaves)
        types = ([argument.type for argument, _ in arguments], [leaf.type for leaf in leaves])
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))
        values = [value for _, value in arguments]
        self.cases.append(Case(name, operation, operands, values, expected))

    def fill(self, rounds: int) -> None:
        for _ in range(rounds):
            layout = self.layout()
            for operation in FUNCTIONS_OF_LAYOUTS:
                self.add(operation, [layout], [getattr(fl, operation)(layout)], [0.5])
            coordinate = self.coordinate(layout.shape)
            index = self.random.randrange(fl.size(layout))
            self.add("crd2idx", [coordinate, layout], [fl.crd2idx(coordinate, layout)], [0.7, 0.4])
            self.add("crd2idx", [index, layout], [fl.crd2idx(index, layout)], [1.0, 0.4])
            for operation in AT_A_COORDINATE[1:]:
                expected = getattr(fl, operation)(index, layout)
                self.add(operation, [index, layout], list(fl.flatten(expected)), [1.0, 0.3])
            other = fl.unflatten(tuple(self.random.choice(EXTENTS) for _ in fl.flatten(layout.shape)), layout.shape)
            for operation in OF_TUPLES:
                result = getattr(fl, operation)(layout.shape, other)
                self.add(operation, [layout.shape, other], list(fl.flatten(result)), [0.5, 0.5])


PIPELINE = "builtin.module(fly-rewrite-func-signature,fly-canonicalize,fly-layout-lowering)"


def compare(seed: int, rounds: int) -> int:
    """Build, lower and run random cases; the number of them."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        builder = Builder(seed)
        with ir.InsertionPoint(module.body):
            builder.fill(rounds)
        PassManager.parse(PIPELINE).run(module.operation)
        functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations}
        for case in builder.cases:
            found = interpret(functions[case.name], case.values)
            assert found == list(case.expected), (case, str(functions[case.name]))
        assert any(case.values for case in builder.cases)
        return len(builder.cases)


@pytest.mark.parametrize("seed", range(4))
def test_lowered_arithmetic_agrees(seed: int) -> None:
    assert compare(seed, 40) >= 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_lowered_arithmetic_agrees_at_length(seed: int) -> None:
    assert compare(seed, 150) >= 1500
