# SPDX-License-Identifier: Apache-2.0
"""What Python may do with ops and values in any order: errors, never the end of the process."""

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

CALLS = Path(__file__).with_name("builder_calls.py")
OURS = ("fly", "fly_rocdl", "fly_ktrace", "fly_nvvm")
UPSTREAM = (
    "amdgpu",
    "arith",
    "builtin",
    "cf",
    "func",
    "gpu",
    "index",
    "llvm",
    "math",
    "memref",
    "rocdl",
    "scf",
    "ub",
    "vector",
)


def deadly_calls(dialect: str, calls: int, seed: int) -> tuple[list[str], int]:
    """Those that ended a process, and how many there were."""
    command = [sys.executable, str(CALLS), dialect, str(calls), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *deadly, made = done.stdout.splitlines()
    return deadly, int(made)


@pytest.mark.parametrize("dialect", [*OURS, "vector"])
def test_builders_survive_wrong_operands(dialect: str) -> None:
    assert deadly_calls(dialect, 60, 0)[0] == []


@pytest.mark.parametrize("dialect", [one for one in UPSTREAM if one != "vector"])
def test_builders_of_upstream_dialects_survive_wrong_operands(dialect: str) -> None:
    assert deadly_calls(dialect, 5, 0)[0] == []


# Each dialect has its share of the minutes, and at least one round.
@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", OURS + UPSTREAM)
def test_builders_survive_any_operands(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 60 * float(os.environ.get("FLYDSL_FUZZ_MINUTES", "10")) / len(OURS + UPSTREAM)
    first = int(os.environ.get("FLYDSL_FUZZ_SEED", "0"))
    start, total = time.monotonic(), 0
    for seed in itertools.count(first):
        deadly, made = deadly_calls(dialect, 200, seed)
        total += made
        assert not deadly, f"seed {seed}: {deadly}"
        if (spent := time.monotonic() - start) >= seconds:
            break
    with capsys.disabled():
        print(f"\n{dialect}: {total} calls, {total / spent:.0f} a second, seeds {first} to {seed}")


def ending(program: str) -> str:
    """What a program prints in a process of its own, inside a context with `module`, `one` and `two` = one + one."""
    prelude = """
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, fly, func, vector
def outcome(action):
    try:
        action()
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[-1])
    else:
        print("returned")
with ir.Context(), ir.Location.unknown():
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        one = arith.constant(ir.IntegerType.get_signless(32), 1)
        two = arith.addi(one, one)
"""
    body = "".join(f"    {line}\n" for line in program.strip().splitlines())
    done = subprocess.run([sys.executable, "-c", prelude + body], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr[-2000:]}"
    return done.stdout


def test_the_error_names_operand_and_type() -> None:
    printed = ending("with ir.InsertionPoint(module.body):\n    outcome(lambda: fly.coalesce(two))")
    assert (
        "'fly.coalesce' op operand #0 must be layout, composed_layout, memref or coord_tensor, but got 'i32'" in printed
    )


def test_inference_counts_operands() -> None:
    printed = ending("outcome(lambda: ir.Operation.create('fly.composition', operands=[two], infer_type=True))")
    assert "'fly.composition' op expected 2 operands, but found 1" in printed


def test_upstream_inference_is_guarded() -> None:
    printed = ending("with ir.InsertionPoint(module.body):\n    outcome(lambda: vector.interleave(two, two))")
    assert "'vector.interleave' op operand #0 must be" in printed


@pytest.mark.parametrize(
    "action",
    [
        "arith.SelectOp(mask, one, one)",
        "ir.Operation.create('arith.select', operands=[mask, one, one], results=[one.type])",
        "ir.Module.parse('func.func @f(%m: vector<4xi1>, %x: i32) { %0 = arith.select %m, %x, %x : vector<4xi1>, i32 '"
        "'return }')",
    ],
    ids=["builder", "operation", "text"],
)
def test_a_select_that_kills_the_verifier_is_refused(action: str) -> None:
    program = f"""
mask = ir.Operation.parse('%m = arith.constant dense<true> : vector<4xi1>').result
with ir.InsertionPoint(module.body):
    outcome(lambda: {action})
    arith.SelectOp(mask, mask, mask).operation.verify()
"""
    assert "has a condition of type 'vector<4xi1>', but a value of type 'i32'" in ending(program)


def test_an_attribute_of_another_kind_is_refused() -> None:
    """The printer of `vector.print` would read the property that stays empty."""
    program = """
with ir.InsertionPoint(module.body):
    outcome(lambda: vector.PrintOp(punctuation=ir.Attribute.parse("-1 : i8")))
    str(vector.PrintOp(punctuation=ir.Attribute.parse("#vector.punctuation<comma>")))
    str(vector.PrintOp())
"""
    assert "'vector.print' op has no attribute \"punctuation\" of the kind of -1 : i8" in ending(program)


@pytest.mark.parametrize(
    ("use", "error"),
    [
        ("ir.Operation.create('t.x', ip=False).move_after(two.owner)", "ValueError"),
        ("two.owner.move_before(ir.Operation.create('t.x', ip=False))", "ValueError"),
        ("two.owner.move_after(module.operation)", "ValueError"),
        ("two.owner.move_after(one.owner)", "returned"),
        ("ir.VectorType.get([4], two.type).get_dim_size(1)", "IndexError"),
        ("ir.VectorType.get([4], two.type).is_dynamic_dim(-1)", "IndexError"),
        ("ir.VectorType.get([4], two.type).get_dim_size(0)", "returned"),
        ("ir.AffineMap.get_permutation([])", "returned"),
    ],
)
def test_what_would_read_beyond_raises(use: str, error: str) -> None:
    assert ending(f"module.context.allow_unregistered_dialects = True\noutcome(lambda: {use})").startswith(error)


@pytest.mark.parametrize(
    "use",
    [
        "two.type", "str(two)", "list(two.uses)", "two.get_name()", "two.replace_all_uses_with(one)",
        "arith.addi(two, one, ip=ir.InsertionPoint(module.body))", "two.maybe_downcast()", "ir.OpResult(two)",
        "operands[0]", "list(operands[0:1])", "results[0].type",
    ],
)  # fmt: skip
def test_results_of_erased_ops_raise(use: str) -> None:
    program = f"operands, results = two.owner.operands, two.owner.results\ntwo.owner.erase()\noutcome(lambda: {use})"
    assert ending(program) == "RuntimeError the operation has been invalidated\n"


@pytest.mark.parametrize(
    "program",
    [
        "one.owner.erase()\nstr(module)\noutcome(module.operation.verify)",
        "list(module.body.operations)[1].erase()\nstr(two.type)",
        "with ir.InsertionPoint(module.body):\n    f = func.FuncOp('f', ([ir.F32Type.get()], []))\n"
        "    block = f.add_entry_block()\n    with ir.InsertionPoint(block):\n"
        "        inner = arith.addi(two, two)\nf.operation.erase()\nstr(inner.type)\nstr(list(two.uses))",
    ],
    ids=["uses", "other wrapper", "nested"],
)
def test_erased_operations_stay_in_memory(program: str) -> None:
    ending(program)


@pytest.mark.parametrize("step", [1, 7])
def test_hostile_bytecode_raises(step: int, tmp_path: Path) -> None:
    """Every `step`-th byte of a module's bytecode is changed, in processes of their own."""
    program = f"""
import io, os
with ir.InsertionPoint(module.body):
    layout = fly.static(ir.Type.parse("!fly.layout<(4,2):(2,1)>"))
    fly.composition(layout, layout)
stream = io.BytesIO()
module.operation.write_bytecode(stream)
code = stream.getvalue()
for position in range({step} - 1, len(code), {step}):
    child = os.fork()
    if not child:
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            try:
                str(ir.Module.parse(code[:position] + bytes([value]) + code[position + 1:]))
            except Exception:
                pass
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print("byte", position, os.waitstatus_to_exitcode(status))
"""
    assert ending(program) == ""


def test_bytecode_is_read_whole() -> None:
    """Attributes, properties, regions and locations come back."""
    printed = ending(
        """
import io
text = """
        + repr(
            "module attributes {a.b = dense<[1.0, -0.0]> : tensor<2xf32>} {\n"
            '  func.func @f(%x: !fly.layout<(4,2):(2,1)>) { return } loc("file.py":3:4)\n} loc(callsite("a" at "b"))'
        )
        + """
module.context.allow_unregistered_dialects = True
before = ir.Module.parse(text)
stream = io.BytesIO()
before.operation.write_bytecode(stream)
after = ir.Module.parse(stream.getvalue())
print(after.operation.get_asm(enable_debug_info=True) == before.operation.get_asm(enable_debug_info=True))
module.context.allow_unregistered_dialects = False
outcome(lambda: ir.Module.parse(stream.getvalue()[:-9]))
"""
    )
    same, error = printed.splitlines()
    assert same == "True"
    assert "damaged bytecode" in error


@pytest.mark.parametrize("text", [b'"a\xff"() : () -> ()', b'"a\\FF"() : () -> ()', b"\xff"])
def test_messages_quote_names_of_any_bytes(text: bytes) -> None:
    assert ending(f"outcome(lambda: ir.Module.parse({text!r}))").startswith("MLIRError")


def test_bytecode_is_read_where_children_are_not_waited_for() -> None:
    printed = ending(
        """
import io, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
stream = io.BytesIO()
module.operation.write_bytecode(stream)
print(str(ir.Module.parse(stream.getvalue())) == str(module))
"""
    )
    assert printed == "True\n"
