# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: B007, F823, F841 - mistakes leave names unused
"""Mistakes about variables that run-time control flow carries."""

from __future__ import annotations

from teaching import teaches

import flydsl.expr as fx
from flydsl.frontend.rewrite.syntax import RewriteError


@teaches(TypeError, "'v'", "expected dtype Float32, produced Int32", "fx.Float32(...)")
def test_another_type_in_a_branch(x: fx.Tensor, n: fx.Int32):
    v = fx.Float32(0.0)
    if n > 3:  # here
        v = 1
    x[0] = v


@teaches(TypeError, "for-body", "'total'", "expected dtype Int32, produced Float32", ".to(fx.Int32)")
def test_another_type_after_an_iteration(x: fx.Tensor, n: fx.Int32):
    total = fx.Int32(0)
    for _ in range(n):  # here
        total = total + 1.5


@teaches(NameError, "'v'", "only the then branch", "before the `if`")
def test_a_variable_of_one_branch(x: fx.Tensor, n: fx.Int32):
    if n > 3:  # here
        v = fx.Float32(1.0)
    x[0] = v


@teaches(TypeError, "variable 'v' is None", "fx.Float32(0.0)", "const_expr")
def test_none_before_a_branch(x: fx.Tensor, n: fx.Int32):
    v = None
    if n > 3:  # here
        v = fx.Float32(1.0)


@teaches(TypeError, "one loop variable", "init=[...]")
def test_two_loop_variables(x: fx.Tensor, n: fx.Int32):
    for i, total in range(n):  # here
        pass


@teaches(TypeError, "init= has 1 values, but yield gives 2")
def test_another_number_of_states(x: fx.Tensor, n: fx.Int32):
    for i, state in range(0, n, 1, init=[fx.Int32(0)]):  # here
        yield [state[0], state[0]]


@teaches(RewriteError, "nested function 'add' writes the variable 'total'", "`total = add(total)`", "nonlocal total")
def test_writing_a_variable_of_the_function_around(x: fx.Tensor, n: fx.Int32):
    total = fx.Int32(0)

    def add(k):
        total = total + k  # here

    add(n)


@teaches(RewriteError, "generator", "init=")
def test_yield_without_a_loop(x: fx.Tensor, n: fx.Int32):  # here
    yield n


@teaches(TypeError, "P lacks a value for 'b'")
def test_a_struct_without_a_field(x: fx.Tensor, n: fx.Int32):
    @fx.struct
    class P:
        a: fx.Int32
        b: fx.Float32

    P(1)  # here
