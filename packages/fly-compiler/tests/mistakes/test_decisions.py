# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F841 - mistakes leave names unused
"""Mistakes about what is known while tracing and what only when the kernel runs."""

from __future__ import annotations

from teaching import teaches

import flydsl.expr as fx
from flydsl.compiler import DSLCompileError
from flydsl.expr import const_expr, range_constexpr


@teaches(DSLCompileError, "if needs a Boolean condition, got Int32", "`x != 0`")
def test_an_integer_as_condition(x: fx.Tensor, n: fx.Int32):
    if n:  # here
        x[0] = 1.0


@teaches(DSLCompileError, "while needs a Boolean condition, got Int32", "`x != 0`")
def test_an_integer_as_loop_condition(x: fx.Tensor, n: fx.Int32):
    while n:  # here
        n = n - 1


@teaches(RuntimeError, "cannot evaluate dynamic 'Boolean' as Python bool during tracing", "x.select(a, b)")
def test_bool_of_a_run_time_value(x: fx.Tensor, n: fx.Int32):
    large = bool(n > 3)  # here


@teaches(RuntimeError, "dynamic 'Int32' has no Python integer representation", "only known when the kernel runs")
def test_a_run_time_index_of_a_python_list(x: fx.Tensor, n: fx.Int32):
    x[0] = [1.0, 2.0, 3.0][n]  # here


@teaches(DSLCompileError, "cannot evaluate dynamic 'Int32' as Python bool", "match", "`if` / `elif` / `else`")
def test_match(x: fx.Tensor, n: fx.Int32):
    match n:  # here
        case 1:
            x[0] = 1.0


@teaches(DSLCompileError, "`in` is decided by Python", "(x == a) | (x == b)")
def test_membership(x: fx.Tensor, n: fx.Int32):
    if n in (1, 2):  # here
        x[0] = 1.0


@teaches(DSLCompileError, "const_expr() got a run-time Boolean", "Drop const_expr", "fx.Constexpr")
def test_const_expr_of_a_run_time_value(x: fx.Tensor, n: fx.Int32):
    if const_expr(n > 3):  # here
        x[0] = 1.0


@teaches(RuntimeError, "dynamic 'Int32' has no Python integer representation")
def test_range_constexpr_of_a_run_time_value(x: fx.Tensor, n: fx.Int32):
    for i in range_constexpr(n):  # here
        x[i] = 1.0


def helper(n):
    return 1 if n else 2  # not decorated, and rewritten all the same


@teaches(DSLCompileError, "conditional expression needs a Boolean condition, got Int32")
def test_a_mistake_in_a_helper_shows_both_lines(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.Float32(helper(n))  # here
