# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F841 - the spelling of the constructs is what these tests are about
"""On Python values, a rewritten function does what the original does: same results, same evaluations, same errors."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import pytest

import flydsl.expr as fx
from flydsl.frontend.rewrite import is_rewrite_of, rewrite_function


def rewritten(function):
    return rewrite_function(function, decorated=False)


def check(function, *ranges):
    """Compare a function with its rewritten form over the product of argument ranges."""
    other = rewritten(function)
    for values in itertools.product(*ranges):
        assert other(*values) == function(*values), values


def test_branches_and_returns():
    def function(a, b):
        if a > 2:
            if b:
                return "early"
            c = 1
        elif a > 0:
            c = 2
        else:
            return None
        return c + a

    check(function, range(-1, 5), (0, 1))


def test_break_continue_and_else():
    def function(n, stop, skip):
        total, last = 0, None
        for i in range(n):
            if i == skip:
                continue
            if i == stop:
                break
            total += i
            last = i
        else:
            total = -total
        return total, last

    check(function, range(6), range(-1, 6), range(-1, 6))


def test_nested_loops_leave_the_right_one():
    def function(n, m):
        seen = []
        for i in range(n):
            for j in [0, 1, 2, 3]:
                if j == m:
                    break
                if (i + j) % 2:
                    continue
                seen.append((i, j))
            else:
                seen.append("whole")
            if i == m:
                break
        return seen

    check(function, range(5), range(5))


def test_return_out_of_nested_loops():
    def function(n, wanted):
        for i in range(n):
            j = 0
            while j < n:
                if i * j == wanted:
                    return i, j
                j += 1
        return None

    check(function, range(5), range(10))


def test_while_with_else():
    def function(n, stop):
        i = 0
        while i < n:
            i += 1
            if i == stop:
                break
        else:
            i = -i
        return i

    check(function, range(5), range(6))


def test_returns_in_with_and_try():
    log = []

    @contextmanager
    def scope(name):
        log.append(f"enter {name}")
        yield
        log.append(f"leave {name}")

    def function(a):
        with scope("outer"):
            if a == 1:
                return "one"
            try:
                if a == 2:
                    return "two"
                if a == 3:
                    raise ValueError("three")
            except ValueError as error:
                return str(error)
            else:
                log.append("else")
            finally:
                log.append("finally")
        return "end"

    other = rewritten(function)
    for value in range(5):
        log.clear()
        expected, trail = function(value), list(log)
        log.clear()
        assert (other(value), log) == (expected, trail)


def test_short_circuits_and_chains_evaluate_what_python_evaluates():
    calls = []

    def note(value):
        calls.append(value)
        return value

    def function(a, b, c):
        first = (note(a) and note(b)) or not note(c)
        second = note(a) < note(b) < note(c)
        third = note(a) if note(b) else note(c)
        return first, second, third

    other = rewritten(function)
    for values in itertools.product(range(3), repeat=3):
        calls.clear()
        expected, trail = function(*values), list(calls)
        calls.clear()
        assert (other(*values), calls) == (expected, trail)


def test_closures_defaults_and_cells_are_shared():
    count = 0

    def function(step=2, *, twice=False):
        nonlocal count
        if step:
            count += step
        return count * 2 if twice else count

    other = rewritten(function)
    assert other() == 2
    assert function() == 4
    assert other(twice=True) == 12
    assert count == 6


def test_nested_functions_see_variables_assigned_in_branches():
    def function(a):
        def read():
            return value

        value = 0
        if a:
            value = 5
        for i in range(a):
            value += i
        return read()

    check(function, range(5))


def test_walrus_comprehensions_match_and_del():
    def function(a):
        if (doubled := a * 2) > 4:
            found = [x for x in range(doubled) if x % 2 and x < 7]
        else:
            found = [y := a, a + 1 if a else -1]
        match a:
            case 0:
                found.append("zero")
            case 1 | 2:
                found.append("few")
            case _:
                del found[0]
        return found, doubled

    check(function, range(6))


def test_names_unbound_by_python_stay_unbound():
    def function(a):
        if a:
            b = 1
        return b

    with pytest.raises(NameError):
        rewritten(function)(0)
    assert rewritten(function)(1) == 1


class Counter:
    __secret = 3

    def __init__(self):
        self.total = 0

    def add(self, n):
        for i in range(n):
            if i % 2:
                self.total += self.__secret
        return self.total

    def add_all(self, *values, scale=1):
        for value in values:
            self.add(value * scale)
        return super().__repr__() != "" and self.total


def test_methods_private_names_and_super():
    assert rewritten(Counter.add)(Counter(), 5) == 6
    assert rewritten(Counter.add_all)(Counter(), 2, 3, scale=2) == Counter().add_all(2, 3, scale=2)


def test_lambdas_on_one_line_are_told_apart():
    pair = (lambda x: "yes" if x else "no", lambda x: x and "and")
    assert [rewritten(one)(1) for one in pair] == ["yes", "and"]


def test_global_statement():
    def function(a):
        global _SET_BY_TEST
        if a:
            _SET_BY_TEST = a
        return _SET_BY_TEST

    assert rewritten(function)(7) == 7
    assert globals()["_SET_BY_TEST"] == 7


def test_rewriting_twice_is_rewriting_once():
    def function(a):
        return 1 if a else 2

    once = rewritten(function)
    assert rewritten(once) is once


def test_annotated_assignments():
    def function(n, flag):
        total: int = 0
        later: int
        for i in range(n):
            part: object = 2 * i
            inner: int
            inner = part + 1
            if inner > 3 and flag:
                total: int = total + inner
        later = total
        return later

    check(function, range(5), (False, True))


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


class Named:
    def factorial(self, n):
        """Has the name of a global, which is what its body calls."""
        return factorial(n) + self.extra

    extra = 1


def test_a_function_that_names_itself():
    check(factorial, range(5))
    assert rewritten(factorial).__code__.co_name == "factorial"
    assert rewritten(Named.factorial)(Named(), 4) == 25

    def inner(n):
        return n if n < 1 else inner(n - 1) + 2

    check(inner, range(4))


def const_expr(value):
    return value + 2


class Holder:
    def const_expr(self, value):
        return value + 2


HOLDER = Holder()


def test_const_expr_of_the_users_is_a_function_like_others():
    """The name alone says nothing: what it stands for does."""

    def of_module():
        return const_expr(1)

    def of_object():
        return HOLDER.const_expr(1)

    def decides():
        if const_expr(-2):
            return 4
        return 3

    def inner():
        def const_expr(value):
            return value + 2

        return const_expr(1)

    for one in (of_module, of_object, decides, inner):
        assert rewritten(one)() == one() == 3


def test_const_expr_is_looked_up_anew(monkeypatch):
    def function():
        return const_expr(1)

    before = rewritten(function)
    assert before() == 3
    monkeypatch.setitem(globals(), "const_expr", fx.const_expr)
    assert not is_rewrite_of(before, function)
    assert rewritten(function)() == 1
    monkeypatch.setitem(globals(), "const_expr", lambda value: value + 4)
    assert rewritten(function)() == 5
