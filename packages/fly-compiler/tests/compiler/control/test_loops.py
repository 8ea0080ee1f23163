# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: B007 - the spelling of the constructs is what these tests are about
"""Run-time loops: what they carry, how they are left, and what Python loops stay."""

from __future__ import annotations

import re

import pytest

import flydsl.expr as fx
from flydsl.compiler.diagnostics import DSLCompileError
from flydsl.expr.numeric import Float32, Index, Int32, Int64


def test_range_is_a_run_time_loop_even_for_literals(trace, use):
    def function(x):
        for i in range(4):
            x = x + 1.0
            use(i)
        use(x)

    text = trace(function, [Float32]).text
    assert re.search(r"scf.for .* iter_args\(.*\) -> \(f32\)", text)


def test_range_constexpr_and_other_iterables_are_python(trace, use):
    def function(x):
        for i in fx.range_constexpr(3):
            for j, k in enumerate([1, 2]):
                use(x + float(i + j + k))

    text = trace(function, [Float32]).text
    assert "scf" not in text
    assert text.count("gpu.printf") == 6


def test_start_stop_step_and_negative_steps(trace, use):
    def function(n):
        for i in range(2, n, 3):
            use(i)
        for i in range(n, 0, -2):
            use(i)

    text = trace(function, [Int32]).text
    assert "to %arg0 step %c3_i32" in text
    assert text.count("scf.for") == 2


@pytest.mark.parametrize(
    ("kind", "message"),
    [(Int64, "for-loop stop must be i32, got i64"), (Float32, "for-loop stop must be i32, got f32")],
)
def test_bounds_are_i32(trace, use, kind, message):
    def function(n):
        for i in range(n):
            use(i)

    with pytest.raises(TypeError, match=message):
        trace(function, [kind])


def test_index_bounds_are_converted_with_a_warning(trace, use, caplog):
    def function(n):
        for i in range(n):
            use(i)

    with caplog.at_level("WARNING", logger="flydsl"):
        trace(function, [Index])
    assert "for-loop stop is an Index" in caplog.text


def test_a_zero_step_is_refused(trace, use):
    def function(n):
        for i in range(0, n, 0):
            use(i)

    with pytest.raises(ValueError, match=r"must not be zero"):
        trace(function, [Int32])


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"unroll": 4}, "count = 4"),
        ({"unroll": 1}, "disable = true"),
        ({"unroll_full": True}, "full = true"),
        ({"unroll": -1}, None),
    ],
)
def test_unroll_hints(trace, use, keywords, expected):
    def function(n):
        for i in range(0, n, 1, **keywords):
            use(i)

    text = trace(function, [Int32]).text
    assert (expected in text) if expected else ("llvm.loop_annotation" not in text)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"unroll": "4"}, TypeError),
        ({"unroll": True}, TypeError),
        ({"unroll_full": 1}, TypeError),
        ({"unroll": 0}, ValueError),
        ({"unroll": 2, "unroll_full": True}, ValueError),
        ({"step": 2}, TypeError),
    ],
)
def test_bad_unroll_hints(trace, use, keywords, error):
    def function(n):
        for i in range(0, n, 1, **keywords):
            use(i)

    with pytest.raises(error, match=r"unroll|keyword"):
        trace(function, [Int32])


def test_the_loop_variable_is_gone_after_the_loop(trace, use):
    def function(n):
        for i in range(n):
            use(i)
        use(i)

    with pytest.raises(NameError, match=r"only inside this run-time loop"):
        trace(function, [Int32])


def test_a_loop_variable_bound_before_keeps_its_last_value(trace, use):
    def function(n):
        i = n
        for i in range(n):
            use(i)
        use(i)

    assert "iter_args" in trace(function, [Int32]).text


def test_carried_variables_keep_their_type(trace):
    def function(n, x):
        for _ in range(n):
            x = n
        return x

    with pytest.raises(TypeError, match=r"for-body: carried variable 'x' does not match .* Float32, produced Int32"):
        trace(function, [Int32, Float32])


def test_none_before_a_loop(trace):
    def function(n):
        x = None
        for i in range(n):
            x = i
        return x

    with pytest.raises(TypeError, match=r"for-body: variable 'x' is None before"):
        trace(function, [Int32])


def test_lists_in_loops_keep_their_identity(trace, use):
    def function(n, x):
        acc = [x, x]
        same = acc
        for _ in range(n):
            for j in fx.range_constexpr(2):
                acc[j] = acc[j] + float(j)
        use(same[0])
        use(same[1])

    traced = trace(function, [Int32, Float32])
    assert "-> (f32, f32)" in traced.text or "-> (f32)" in traced.text


def test_python_values_that_a_loop_leaves_alone_stay_python(trace):
    def function(n):
        size = 4
        for _ in range(n):
            if fx.const_expr(False):
                size = 5
        return size

    assert trace(function, [Int32]).result == 4


def test_break_ends_the_loop(trace, use):
    def function(n, x):
        for i in range(n):
            if i == 5:
                break
            x = x + 1.0
        use(x)

    text = trace(function, [Int32, Float32]).text
    assert "scf.while" in text
    assert "scf.condition" in text


def test_continue_guards_the_rest(trace, use):
    def function(n):
        for i in range(n):
            if i == 5:
                continue
            use(i)

    text = trace(function, [Int32]).text
    assert "scf.for" in text
    assert text.index("scf.if") < text.index("gpu.printf")


def test_return_out_of_a_loop_with_a_value(trace, use):
    def find(n, x):
        for i in range(n):
            if i > 5:
                return x + 1.0
        return x

    def function(n, x):
        use(find(n, x))

    text = trace(function, [Int32, Float32]).text
    assert "scf.while" in text
    assert "ub.poison" in text


def test_else_of_a_loop_runs_unless_it_was_left(trace, use):
    def function(n):
        for i in range(n):
            if i == 5:
                break
        else:
            use(n)

    text = trace(function, [Int32]).text
    assert text.rindex("scf.if") < text.index("gpu.printf")


def test_unrolled_loops_can_be_left_at_run_time(trace, use):
    def function(n):
        last = n
        for i in fx.range_constexpr(3):
            last = fx.Int32(i)
            if n == i:
                break
            use(last)
        use(last)

    text = trace(function, [Int32]).text
    assert text.count("gpu.printf") == 4
    assert "scf.if" in text


def test_while_carries_and_tests_anew(trace, use):
    def function(n):
        i = 0
        while i < n:
            i += 2
        use(i)

    text = trace(function, [Int32]).text
    assert "scf.while" in text
    assert "arith.cmpi slt" in text


def test_while_true_needs_a_way_out(trace, use):
    def function(n):
        while True:
            n = n + 1

    with pytest.raises(DSLCompileError, match=r"never ends"):
        trace(function, [Int32])

    def leaves(n):
        while True:
            n = n + 1
            if n > 9:
                break
        use(n)

    assert "scf.while" in trace(leaves, [Int32]).text


def test_while_constexpr_is_python(trace, use):
    def function(n):
        i = 0
        while fx.const_expr(i < 3):
            i += 1
            use(n)

    text = trace(function, [Int32]).text
    assert "scf" not in text
    assert text.count("gpu.printf") == 3


def test_walrus_in_a_condition(trace, use):
    def function(n):
        i = fx.Int32(0)
        while (i := i + 1) < n:
            use(i)
        use(i)

    assert "scf.while" in trace(function, [Int32]).text


def test_loops_over_python_integers_in_helpers_stay_python(trace, use):
    def helper(n, count):
        found = []
        for i in range(count):
            found.append(n + i)
        i = 0
        while i < count:
            i += 1
        return found, i

    def function(n):
        values, count = helper(n, 3)
        assert count == 3
        for one in values:
            use(one)

    text = trace(function, [Int32]).text
    assert "scf" not in text
    assert text.count("gpu.printf") == 3


def test_run_time_bounds_in_helpers_make_loops(trace, use):
    def helper(n):
        total = Int32(0)
        for i in range(n):
            total = total + i
        return total

    def function(n):
        use(helper(n))

    assert "scf.for" in trace(function, [Int32]).text


# -- explicit state ----------------------------------------------------------------------------------------------------


def test_explicit_state_with_plain_integers_makes_a_loop(trace, use):
    def function(x):
        for _, state in range(0, 15, 1, init=[x]):
            results = yield [state[0] + x]
        use(results)

    text = trace(function, [Float32]).text
    assert re.search(r"scf.for .* = %c0 to %c15 step %c1 iter_args", text)


def test_explicit_state_of_several_values(trace, use):
    def function(n, x):
        for i, (a, b) in range(fx.Index(0), fx.Index(n), fx.Index(2), init=[x, n]):
            results = yield a + x, b
            del i
        use(results[0])
        use(results[1])

    def fixed(n, x):
        for _, (a, b) in range(fx.Index(0), fx.Index(n), fx.Index(2), init=[x, n]):
            results = yield a + x, b
        use(results[0])
        use(results[1])

    with pytest.raises(SyntaxError, match=r"yield"):
        trace(function, [Int32, Float32])
    assert "-> (f32, i32)" in trace(fixed, [Int32, Float32]).text or "scf.for" in trace(fixed, [Int32, Float32]).text


def test_explicit_state_keeps_number_and_type(trace):
    def count(x):
        for _, state in range(0, 3, 1, init=[x]):
            yield [state[0], state[0]]

    def kind(n, x):
        for _, state in range(0, 3, 1, init=[x]):
            yield [n]

    with pytest.raises(TypeError, match=r"init= has 1 values, but yield gives 2"):
        trace(count, [Float32])
    with pytest.raises(TypeError, match=r"value 0 is i32, but init= started it as f32"):
        trace(kind, [Int32, Float32])


def test_other_variables_of_an_explicit_loop_are_carried_too(trace, use):
    def function(n, x):
        steps = n
        for _, state in range(0, 3, 1, init=[x]):
            steps = steps + 1
            scratch = state[0] * x
            results = yield [scratch]
        use(steps)
        use(results)

    text = trace(function, [Int32, Float32]).text
    assert "-> (f32, i32)" in text


def test_temporaries_of_an_explicit_loop_may_change_type(trace, use):
    def function(n, x):
        scratch = n
        for _, state in range(0, 3, 1, init=[x]):
            scratch = state[0] * x
            results = yield [scratch]
        use(results)
        use(scratch)

    with pytest.raises(NameError, match=r"init="):
        trace(function, [Int32, Float32])


def test_annotated_assignments_in_run_time_loops(trace, use):
    def function(n):
        total: fx.Int32 = fx.Int32(0)
        for i in range(n):
            part: object = fx.Int32(i) * 2
            later: fx.Int32
            later = part + 1
            if later > 3:
                total: fx.Int32 = total + later
        use(total)

    assert trace(function, [fx.Int32]).text.count("scf.for") == 1


def test_a_step_of_unknown_sign_counts_down_by_a_mirrored_loop(trace, use):
    def function(n, step):
        for i in range(10, n, step):
            use(i)

    assert trace(function, [Int32, Int32]).text.count("arith.xori") == 4, "three bounds, and the variable in the body"


class Sum:
    """A helper of plain Python that keeps a value of the kernel."""

    def __init__(self):
        self.total, self.width = Float32(0.0), 4

    def add(self, value):
        self.total = self.total + value


def test_attributes_that_a_method_assigns_are_carried(trace, use):
    def function(n, x):
        found = Sum()
        for i in range(n):
            found.add(x)
            assert found.width == 4, "a number of Python stays one"
        if n > 3:
            found.add(x)
        use(found.total)

    text = trace(function, [Int32, Float32]).text
    assert re.search(r"scf.for .* iter_args\(.*\) -> \(f32\)", text)
    assert re.search(r"scf.if .* -> \(f32\)", text)
