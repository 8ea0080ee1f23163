# SPDX-License-Identifier: Apache-2.0
"""Control flow as functions of names and values: `flydsl.compiler.ast_rewriter`."""

import ast

import pytest

from flydsl._mlir import ir
from flydsl.compiler import ast_rewriter
from flydsl.compiler.ast_rewriter import (
    ASTRewriter,
    CanonicalizeWhile,
    InsertEmptyYieldForSCFFor,
    ReplaceIfWithDispatch,
    RewriteBoolOps,
)
from flydsl.expr import Boolean, Float32, Int32

scf_if = ReplaceIfWithDispatch.scf_if_dispatch
scf_ifexp = ReplaceIfWithDispatch.scf_ifexp_dispatch
scf_for = InsertEmptyYieldForSCFFor.scf_for_dispatch
scf_while = CanonicalizeWhile.scf_while_dispatch


@pytest.fixture
def build():
    """Call a function with (Boolean, Int32, Float32, Float32) in a `func.func`; return its result and the text."""

    def run(body):
        with ir.Context(), ir.Location.unknown():
            text = "func.func @f(%c: i1, %n: i32, %x: f32, %y: f32) { return }"
            module = ir.Module.parse(text)
            block = module.body.operations[0].regions[0].blocks[0]
            with ir.InsertionPoint.at_block_terminator(block):
                c, n, x, y = block.arguments
                result = body(Boolean(c), Int32(n), Float32(x), Float32(y))
            assert module.operation.verify()
            return result, str(module)

    return run


@pytest.mark.parametrize(
    "then",
    [
        lambda v: {"v": v + 1.0},
        lambda v: [v + 1.0],
        lambda v: v + 1.0,
        lambda names, v: {names[0]: v + 1.0},
    ],
)
def test_what_a_branch_may_return(build, then):
    def body(c, n, x, y):
        return scf_if(c, then, lambda v: {"v": v}, result_names=("v",), result_values=(x,))

    result, text = build(body)
    assert isinstance(result, Float32)
    assert "scf.if %arg0 -> (f32)" in text
    assert "arith.addf" in text


def test_several_variables_come_back_as_a_tuple(build):
    def body(c, n, x, y):
        return scf_if(c, lambda a, b: {"a": b, "b": a}, result_names=("a", "b"), result_values=(x, y))

    result, text = build(body)
    assert [type(one) for one in result] == [Float32, Float32]
    assert "scf.yield %arg3, %arg2" in text
    assert "scf.yield %arg2, %arg3" in text


def test_a_python_condition_emits_nothing(build):
    def body(c, n, x, y):
        taken = scf_if(True, lambda a: {"a": 5}, lambda a: {"a": 6}, result_names=("a",), result_values=(3,))
        kept = scf_if(False, lambda a: {"a": 5}, None, state_names=("a",), state_values=(3,))
        return taken, kept, scf_if(True, lambda: "ignored"), scf_ifexp(False, lambda: 1, lambda: 2)

    result, text = build(body)
    assert result == (5, 3, None, 2)
    assert "scf" not in text


def test_a_python_number_gets_a_type(build):
    def body(c, n, x, y):
        return scf_if(c, lambda v: {"v": v + 1}, None, result_names=("v",), result_values=(7,), auto_else=True)

    result, _ = build(body)
    assert isinstance(result, Int32)


def test_types_have_to_agree(build):
    with pytest.raises(TypeError, match=r"then-branch: carried variable 'v' does not match the region entry"):
        build(lambda c, n, x, y: scf_if(c, lambda v: {"v": 1}, None, result_names=("v",), result_values=(x,)))
    with pytest.raises(TypeError, match="variable 'v' is None before"):
        build(lambda c, n, x, y: scf_if(c, lambda v: {"v": x}, None, result_names=("v",), result_values=(None,)))
    with pytest.raises(TypeError, match="returned 1 values for a, b"):
        build(lambda c, n, x, y: scf_if(c, lambda a, b: [a], None, result_names=("a", "b"), result_values=(x, y)))
    with pytest.raises(TypeError, match="conditional expression: carried variable"):
        build(lambda c, n, x, y: scf_ifexp(c, lambda: x, lambda: 2))
    with pytest.raises(ValueError, match=r"2 names \(a, b\) for 1 values"):
        build(lambda c, n, x, y: scf_if(c, lambda a, b: [a], None, result_names=("a", "b"), result_values=(x,)))


def test_conditional_expressions_of_containers(build):
    result, text = build(lambda c, n, x, y: scf_ifexp(c, lambda: [x, 1], lambda: [y, 2]))
    assert [type(one) for one in result] == [Float32, Int32]
    assert "-> (f32, i32)" in text


def test_loops(build):
    def body(c, n, x, y):
        assert scf_for(0, 4, 1, lambda i, names: None) is None
        a, b = scf_for(
            0, n, 2, lambda i, names, a, b: {"a": b, "b": a}, result_names=("a", "b"), result_values=(x, y), unroll=4
        )
        return scf_for(0, n, 1, lambda i, names, s: s + a * b, result_names=("s",), result_values=(x,))

    result, text = build(body)
    assert isinstance(result, Float32)
    assert text.count("scf.for") == 3
    assert "count = 4" in text


def test_loop_errors(build):
    carried = {"result_names": ("a",), "result_values": (None,)}
    with pytest.raises(TypeError, match="'a' is None before"):
        build(lambda c, n, x, y: scf_for(0, n, 1, lambda i, names, a: {"a": x}, **carried))
    carried["result_values"] = (1.0,)
    with pytest.raises(TypeError, match="for-body: carried variable 'a'"):
        build(lambda c, n, x, y: scf_for(0, n, 1, lambda i, names, a: {"a": 1}, **carried))
    with pytest.raises(TypeError, match="unroll= takes a Python int"):
        build(lambda c, n, x, y: scf_for(0, n, 1, lambda i, names: None, unroll=1.5))


def test_while(build):
    def body(c, n, x, y):
        return scf_while(lambda i: i < n, lambda i: {"i": i + 1}, result_names=("i",), result_values=(0,))

    result, text = build(body)
    assert isinstance(result, Int32)
    assert "scf.while" in text
    assert "scf.condition" in text
    _, text = build(lambda c, n, x, y: scf_while(lambda: False, lambda: None))
    assert "scf.condition(%false)" in text


def test_boolean_operators(build):
    def body(c, n, x, y):
        both = RewriteBoolOps.dsl_and_(c, n)
        assert isinstance(both, Boolean)
        assert isinstance(RewriteBoolOps.dsl_not_(n), Boolean)
        return RewriteBoolOps.dsl_and_(1, 3), RewriteBoolOps.dsl_or_(0, "x"), RewriteBoolOps.dsl_not_(3)

    result, text = build(body)
    assert result == (3, "x", False)
    assert "arith.andi" in text


def test_which_names_statements_assign():
    source = "(a, b) = f()\nc += 1\nd: int = 3\n(e := 4)\nl.append(x)\nq[0] = 1\nz.w = 2"
    body = ast.parse(source).body
    found = ast_rewriter._collect_assigned_vars(body, [set("abcdelqzx")])
    assert found[:5] == list("abcde")
    assert sorted(found) == sorted("abcdelqz")
    more = ast_rewriter._collect_assigned_vars(body[:1], ["a", "k"], ast.parse("k = 2").body)
    assert more == ["a", "k"]


def module_level(flag):
    if flag:
        return 1
    return 2


def test_a_rewritten_function_keeps_its_meaning():
    rewritten = ASTRewriter.transform(module_level)
    assert (rewritten(True), rewritten(False)) == (1, 2)
    assert rewritten.__code__ is not module_level.__code__
