# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: SIM102, SIM108, SIM222, SIM223 - the spelling of the constructs is what these tests are about
"""`if`, conditional expressions and boolean operators on run-time values."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import flydsl.expr as fx
from flydsl.compiler.diagnostics import DSLCompileError
from flydsl.expr.numeric import Boolean, Float32, Int32, Int64


def test_static_conditions_emit_nothing(trace, use):
    def function(n):
        if fx.Int32(3) > 2:
            use(n)
        else:
            raise AssertionError("not taken")

    assert "scf" not in trace(function, [Int32]).text


def test_a_variable_bound_before_is_carried(trace, use):
    def function(n, x):
        y = x
        if n > 3:
            y = x + 1.0
        use(y)

    text = trace(function, [Int32, Float32]).text
    assert "scf.if" in text
    assert "-> (f32)" in text


def test_a_variable_of_both_branches_may_be_used_after(trace, use):
    def function(n, x):
        if n > 3:
            y = x + 1.0
        elif n > 2:
            y = x * 2.0
        else:
            y = x / 3.0
        use(y)

    assert trace(function, [Int32, Float32]).text.count("scf.if") == 2


def test_branches_of_different_types_name_variable_types_and_lines(trace):
    def function(n, x):
        if n > 3:
            y = x + 1.0
        else:
            y = n
        return y

    first = function.__code__.co_firstlineno
    with pytest.raises(TypeError) as caught:
        trace(function, [Int32, Float32])
    text = str(caught.value)
    assert "'y'" in text
    assert f"expected dtype Float32 (line {first + 2}), produced Int32 (line {first + 4})" in text
    assert "if n > 3:" in text


def test_a_literal_does_not_fit_another_type(trace):
    def function(n, x):
        y = x
        if n > 3:
            y = 1
        return y

    match = r"then-branch: carried variable 'y' does not match the region entry: expected dtype Float32, produced Int32"
    with pytest.raises(TypeError, match=match):
        trace(function, [Int32, Float32])


def test_none_before_lists_the_variables(trace):
    def function(n):
        a = b = None
        if n > 3:
            a, b = n, n + 1
        return a, b

    with pytest.raises(TypeError, match=r"'a', 'b' is None before .*typed value.*const_expr"):
        trace(function, [Int32])


def test_a_variable_of_one_branch_has_no_value_after(trace, use):
    def function(n):
        if n > 3:
            y = n + 1
        use(y)

    first = function.__code__.co_firstlineno
    with pytest.raises(NameError, match=rf"only the then branch \(line {first + 2}\) of this run-time `if`"):
        trace(function, [Int32])


def test_a_condition_has_to_be_boolean(trace, use):
    def function(n):
        if n:
            use(n)

    with pytest.raises(DSLCompileError, match=r"(?s)needs a Boolean condition, got Int32.*x != 0.*if n:") as caught:
        trace(function, [Int32])
    assert caught.value.diagnostics[0].frames[0].line == function.__code__.co_firstlineno + 1


def test_a_vector_condition_is_refused(trace, use):
    def function(n):
        if fx.full(4, n, fx.Int32) > 2:
            use(n)

    with pytest.raises(DSLCompileError, match=r"reduce it to one Boolean"):
        trace(function, [Int32])


def test_containers_are_carried_element_by_element(trace, use):
    def function(n, x):
        items = [x, x]
        table = {"a": n, "b": (x, x)}
        space = SimpleNamespace(v=x)
        alias = items
        if n > 3:
            items[0] = x + 1.0
            items.append(items.pop())
            table = {"b": (x, x * 2.0), "a": n + 1}
            space.v = x * 3.0
        for one in (items[0], items[1], alias[0], table["a"], table["b"][1], space.v):
            use(one)
        return items, alias, table

    items, alias, table = trace(function, [Int32, Float32]).result
    assert alias is items
    assert list(table) == ["a", "b"]
    assert [type(one) for one in (items[0], table["a"], table["b"][1])] == [Float32, Int32, Float32]


def test_edits_of_one_branch_do_not_reach_the_other(trace, use):
    def function(n, x):
        items = [x]
        if n > 3:
            items[0] = x + 1.0
        else:
            use(items[0])
        use(items[0])

    text = trace(function, [Int32, Float32]).text
    assert 'gpu.printf "%d", %arg1' in text


@pytest.mark.parametrize("change", ["append", "key"])
def test_containers_keep_their_structure(trace, change):
    def function(n, x):
        items, table = [x], {"a": x}
        if n > 3:
            if change == "append":
                items.append(x)
            else:
                table["b"] = x
        return items, table

    with pytest.raises(TypeError, match=r"list of 1, produced list of 2|dict of 1 \['a'\], produced dict of 2"):
        trace(function, [Int32, Float32])


def test_attributes_of_objects_are_carried(trace, use):
    class State:
        pass

    state = State()

    def function(n, x):
        state.acc = x
        if n > 3:
            state.acc = x + 1.0
        use(state.acc)

    assert "-> (f32)" in trace(function, [Int32, Float32]).text


def test_nonlocal_writes_of_nested_functions_are_carried(trace, use):
    def function(n, x):
        total = x

        def add(value):
            nonlocal total
            total = total + value

        if n > 3:
            add(x)
        use(total)

    assert "-> (f32)" in trace(function, [Int32, Float32]).text


def test_unchanged_python_values_stay_python_values(trace):
    def function(n):
        mode, size = "fast", 4
        if n > 3:
            if fx.const_expr(mode == "slow"):
                mode, size = "other", 5
        return mode, size

    assert trace(function, [Int32]).result == ("fast", 4)


def test_signedness_and_shape_come_back(trace):
    def function(n, x):
        v = fx.full((2, 2), x, fx.Float32)
        u = fx.Uint32(n)
        if n > 3:
            v = v + 1.0
            u = u + fx.Uint32(1)
        return v, u

    v, u = trace(function, [Int32, Float32]).result
    assert v.shape == (2, 2)
    assert type(u) is fx.Uint32


def test_conditional_expressions(trace, use):
    def function(n, x):
        use(x if n > 3 else x + 1.0)
        use((x, [n])[1][0] if n > 3 and n < 9 else n + 1)
        return 1 if fx.const_expr(True) else 2

    traced = trace(function, [Int32, Float32])
    assert traced.result == 1


def test_arms_of_different_types(trace):
    def function(n, x):
        return x if n > 3 else 2

    with pytest.raises(TypeError, match=r"expected dtype Float32, produced Int32"):
        trace(function, [Int32, Float32])


def test_boolean_operators(trace, use):
    def function(n, m):
        use(n > 1 and m > 2)
        use(n and 3)
        use(not n or m > 1)
        use(0 < n < m <= 7)
        return (True and n), (False and n), (False or n), (True or n)

    first, second, third, fourth = trace(function, [Int32, Int32]).result
    assert isinstance(first, Int32)
    assert second is False
    assert isinstance(third, Int32)
    assert fourth is True


def test_const_expr_of_a_run_time_value(trace, use):
    def function(n):
        if fx.const_expr(n > 3):
            use(n)

    with pytest.raises(DSLCompileError, match=r"const_expr\(\) got a run-time Boolean"):
        trace(function, [Int32])


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("match n:\n        case 1: pass", "dynamic 'Int32' as Python bool during tracing: match is decided by Python"),
        ("n in (1, 2)", "during tracing: `in` is decided by Python"),
        ("[x for x in (1, 2) if n > x]", "during tracing: the filter of a comprehension is decided by Python"),
        ("(y := n) if n > 2 else n", None),
        ("n > 1 and (y := n)", "operand that assigns with `:=`"),
    ],
)
def test_what_cannot_be_decided_at_run_time_is_refused_by_name(trace, statement, match, tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(f"def f(n):\n    {statement}\n")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    if match is None:
        match = "conditional expression whose arms assign"
    with pytest.raises(DSLCompileError, match=match) as caught:
        trace(namespace["f"], [Int32])
    assert f'File "{path}", line 2' in str(caught.value)
    assert "^" in str(caught.value)


def test_assigning_a_global_at_run_time_is_refused(trace):
    def function(n):
        global _never
        if n > 3:
            _never = n

    with pytest.raises(DSLCompileError, match=r"global variable '_never'"):
        trace(function, [Int32])


def test_early_return_guards_what_follows(trace, use):
    def function(n):
        if n > 3:
            return
        use(n)

    text = trace(function, [Int32]).text
    body = text[text.index("scf.if") :]
    assert "else" in body
    assert body.index("else") < body.index("gpu.printf")


def test_return_values_of_both_branches_join(trace, use):
    def pick(n, x):
        if n > 3:
            return x + 1.0
        return x

    def function(n, x):
        use(pick(n, x))

    assert "-> (f32)" in trace(function, [Int32, Float32]).text


def test_return_values_have_one_type(trace):
    def pick(n, x):
        if n > 3:
            return x
        return n

    def function(n, x):
        return pick(n, x)

    with pytest.raises(TypeError, match=r"'return value' does not match"):
        trace(function, [Int32, Float32])


def test_helpers_without_decorator_are_rewritten(trace, use):
    class Tool:
        def clamp(self, n):
            if n > 7:
                n = Int32(7)
            return n

        def __call__(self, n):
            return self.clamp(n)

    def function(n):
        use(Tool()(n))

    assert "arith.minsi" in (text := trace(function, [Int32]).text) or "scf.if" in text or "arith.select" in text


def test_a_raised_error_leaves_no_half_built_operation(trace, use):
    def function(n):
        try:
            if n > 3:
                raise ValueError("while tracing")
        except ValueError:
            use(n)

    assert "scf" not in trace(function, [Int32]).text


def test_wide_values_keep_their_width(trace):
    def function(n):
        if n > 3:
            a, b = 1, 2**40
        else:
            a, b = 2, 2**41
        return a, b

    a, b = trace(function, [Int32]).result
    assert (type(a), type(b)) == (Int32, Int64)
    assert type(trace(lambda n: not n, [Int32]).result) is Boolean
