# SPDX-License-Identifier: Apache-2.0
"""What Python holds of IR that a pass, a pattern or the end of a module freed raises; what is left can be used."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager

FUNCTION = """
module {
  func.func @f(%a: i32) -> i32 {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.addi %one, %two : i32
    %kept = arith.muli %a, %a : i32
    %sum = arith.addi %kept, %three : i32
    cf.br ^next(%sum : i32)
  ^next(%x: i32):
    %true = arith.constant true
    %r = scf.if %true -> i32 {
      %y = arith.addi %x, %x : i32
      scf.yield %y : i32
    } else {
      scf.yield %x : i32
    }
    return %r : i32
  }
}
"""


def run(module: ir.Module, *passes: str) -> None:
    PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)


def operations(block: Any) -> list[Any]:
    """All operations of a block and of what is nested in it."""
    found = []
    for op in block.operations:
        found.append(op)
        for region in op.regions:
            for inner in region.blocks:
                found += operations(inner)
    return found


def refused(use: Callable[[], Any], match: str = "a pass or a pattern removed or replaced it") -> None:
    with pytest.raises(RuntimeError, match=match):
        use()


@pytest.mark.usefixtures("context")
def test_what_a_pass_removed_raises() -> None:
    module = ir.Module.parse(FUNCTION)
    function = module.body.operations[0]
    blocks = list(function.regions[0].blocks)
    ops = [(op.name, op) for op in operations(blocks[0]) + operations(blocks[1])]
    lists = [blocks[1].operations, blocks[1].arguments]
    insertion = ir.InsertionPoint(blocks[1])
    run(module, "canonicalize")
    # The second block, its argument, the nested operation and the sum of the constants are folded away.
    gone = [op for name, op in ops if name in ("cf.br", "scf.if", "scf.yield")]
    assert len(gone) == 4
    for op in gone:
        for use in (str, lambda op: op.operands, lambda op: op.operation.erase(), lambda op: op.regions):
            refused(partial(use, op))
    refused(lambda: blocks[1].arguments[0])
    refused(lambda: lists[0][0])
    refused(lambda: lists[1][0])
    refused(lambda: ir.Operation.create("arith.constant", [ir.IntegerType.get_signless(1)], ip=insertion))
    # What is left can be used.
    assert function.name.value == "f"
    assert len(blocks[0].operations) > 1
    (kept,) = (op for name, op in ops if name == "arith.muli")
    assert str(kept.result.type) == "i32"
    assert kept.operands[0] == blocks[0].arguments[0]


@pytest.mark.usefixtures("context")
def test_values_and_arguments_that_a_pass_removed_raise() -> None:
    module = ir.Module.parse(FUNCTION)
    function = module.body.operations[0]
    first, second = function.regions[0].blocks
    values = [op.result for op in operations(first) + operations(second) if len(op.results)]
    argument = second.arguments[0]
    uses = [use for value in values for use in value.uses]
    run(module, "canonicalize", "cse", "convert-func-to-llvm", "convert-arith-to-llvm")
    for value in values:
        for use in (str, lambda value: value.type, lambda value: value.owner, lambda value: list(value.uses)):
            refused(partial(use, value))
    for use in (lambda: argument.type, lambda: argument.owner, lambda: argument.arg_number):
        refused(use)
    for one in uses:
        refused(lambda one=one: one.owner)
    refused(lambda: function.name)


@pytest.mark.usefixtures("context")
def test_operations_outside_of_the_root_stay() -> None:
    module = ir.Module.parse(FUNCTION)
    other = ir.Module.parse(FUNCTION)
    held = operations(other.body.operations[0].regions[0].blocks[0])
    function = module.body.operations[0]
    PassManager.parse("func.func(canonicalize)").run(function.operation)
    assert [str(op) for op in held]
    assert function.name.value == "f"


@pytest.mark.usefixtures("context")
def test_a_pass_that_fails_counts_too() -> None:
    module = ir.Module.parse("module { func.func @f() { %b = arith.constant 0 : i32 \n return } }")
    constant = module.body.operations[0].regions[0].blocks[0].operations[0]
    manager = PassManager.parse("builtin.module(canonicalize)")
    manager.add(lambda _, this: this.signal_pass_failure(), name="fail")
    with pytest.raises(ir.MLIRError):
        manager.run(module.operation)
    refused(lambda: str(constant))


@pytest.mark.usefixtures("context")
def test_symbol_tables_are_of_their_time() -> None:
    module = ir.Module.parse("module { func.func private @f() \n func.func @g() { return } }")
    table = ir.SymbolTable(module.operation)
    assert table["f"] is not None
    run(module, "symbol-dce")
    refused(lambda: table["f"], "make a new one")
    assert "g" in ir.SymbolTable(module.operation)


@pytest.mark.usefixtures("context")
def test_what_a_symbol_table_erases_raises() -> None:
    module = ir.Module.parse(FUNCTION)
    inner = module.body.operations[0].regions[0].blocks[0].operations[0]
    table = ir.SymbolTable(module.operation)
    table.erase(table["f"])
    refused(lambda: str(inner), "it was erased")


@pytest.mark.usefixtures("context")
def test_an_argument_that_was_erased_raises() -> None:
    module = ir.Module.parse("module { func.func private @g() \n scf.execute_region { scf.yield } }")
    block = module.body.operations[1].regions[0].blocks[0]
    argument = block.add_argument(ir.IntegerType.get_signless(32), ir.Location.unknown())
    with pytest.raises(IndexError):
        block.erase_argument(7)
    block.erase_argument(0)
    refused(lambda: argument.type, "the argument was erased")


@pytest.mark.usefixtures("context")
def test_what_a_module_held_raises_without_it() -> None:
    op = ir.Module.parse(FUNCTION).body.operations[0]
    gc.collect()
    refused(lambda: str(op), "its module is gone")


@pytest.mark.usefixtures("context")
def test_what_a_pass_in_python_holds() -> None:
    module = ir.Module.parse(FUNCTION)
    held = []
    manager = PassManager.parse("builtin.module()")
    manager.add(lambda op, _: held.extend(operations(op.regions[0].blocks[0])), name="hold")
    manager.add("canonicalize")
    manager.run(module.operation)
    assert held[0].name.value == "f"
    refused(lambda: str(next(op for op in held[1:])))


TAKES_ITS_ARGUMENT = "module { func.func @f(%a: i32) { %b = arith.addi %a, %a : i32 \n return } }"


def sum_of(value: Any) -> Any:
    """An addition that stands in no block."""
    return ir.Operation.create("arith.addi", [value.type], [value, value])


def made_by_nothing(op: Any) -> bool:
    """Whether the operands are what stands in the place of values that are gone."""
    return all("what made this value is gone" in str(one.owner.location) for one in op.operands)


@pytest.mark.usefixtures("context")
def test_an_operation_outlives_the_module_of_its_operands() -> None:
    # What MLIR would write to after it freed it is filled with something else in between.
    for _ in range(20):
        module = ir.Module.parse(TAKES_ITS_ARGUMENT)
        block = module.body.operations[0].regions[0].blocks[0]
        kept = [sum_of(block.arguments[0]), sum_of(block.operations[0].result)]
        del module, block
        gc.collect()
        filled = [bytearray(b"x" * size) for size in range(24, 400, 8)]
        assert all(made_by_nothing(op) for op in kept)
        assert "arith.addi" in str(kept[0])
        del kept
        gc.collect()
        assert all(one == b"x" * len(one) for one in filled)


@pytest.mark.usefixtures("context")
def test_operands_that_a_pass_removed_are_gone_and_others_stay() -> None:
    module = ir.Module.parse("module { func.func private @f(%a: i32) { return } \n func.func @g(%a: i32) { return } }")
    values = [op.regions[0].blocks[0].arguments[0] for op in module.body.operations]
    of_f, of_g = map(sum_of, values)
    run(module, "symbol-dce")
    assert made_by_nothing(of_f)
    assert list(of_g.operands) == [values[1]] * 2
    # No verifier takes what is left of the other one for a sum.
    ir.InsertionPoint.at_block_begin(values[1].owner).insert(of_f)
    with pytest.raises(ir.MLIRError, match="operand is unlinked"):
        module.operation.verify()


@pytest.mark.usefixtures("context")
def test_an_argument_that_is_used_is_not_erased() -> None:
    block = ir.Module.parse(TAKES_ITS_ARGUMENT)
    with pytest.raises(ValueError, match="the argument is used"):
        block.body.operations[0].regions[0].blocks[0].erase_argument(0)
