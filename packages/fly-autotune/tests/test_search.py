# SPDX-License-Identifier: Apache-2.0
"""Spaces, methods, budgets, and searches that go on after they were ended."""

import json
import math

import numpy as np
import pytest

from flydsl.autotune import Config, Search, Space, autotune
from flydsl.autotune.database import Database
from flydsl.autotune.results import EVALUATED
from flydsl.autotune.search.methods import Halving

# -- spaces ------------------------------------------------------------------------------------------------------------


def test_a_space_is_what_its_constraints_leave_in_order():
    space = Space(
        "tiles", m=[16, 32], n=[16, 32, 64], waves_per_eu=[None, 2],
        constraints=[lambda m, n: m <= n, lambda n, N: N % n == 0, lambda waves_per_eu, m: not waves_per_eu or m > 16],
    )  # fmt: skip
    assert space.configs({"N": 96, "M": 1}) == [
        Config(m=16, n=16), Config(m=16, n=32), Config(m=32, n=32), Config(m=32, n=32, waves_per_eu=2),
    ]  # fmt: skip


def test_what_is_cut_off_is_not_walked_through():
    looked = []

    def first(a):
        looked.append(a)
        return a == 7

    axes = {name: list(range(50)) for name in "bcdef"}
    constraints = [first, *(eval(f"lambda {name}: {name} < 2") for name in axes)]
    assert len(Space("deep", a=list(range(100)), constraints=constraints, **axes).configs()) == 2**5
    assert looked == list(range(100))


def test_a_constraint_may_raise_and_an_empty_space_says_why():
    def fits(m):
        raise ValueError(f"{m} rows do not fit")

    with pytest.raises(ValueError, match=r"space 'tiles' has no configuration.*fits \(16 rows do not fit\): 1"):
        Space("tiles", m=[16, 32], constraints=[fits]).configs()
    with pytest.raises(ZeroDivisionError):  # what is wrong with a constraint is no refusal
        Space("tiles", m=[16], constraints=[lambda m: m / 0]).configs()


def test_equal_configurations_count_once():
    assert len(Space("twice", m=[1, 1, 2]).configs()) == 2


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Space("x"), ValueError, "it has no axes"),
        (lambda: Space("x", m=[]), ValueError, "axis m is a list of values"),
        (lambda: Space("x", m="ab"), ValueError, "axis m is a list of values"),
        (lambda: Space("x", m=[1], constraints=[3]), TypeError, "a constraint is a function"),
        (lambda: Space("x", m=[1], constraints=[lambda *m: m]), TypeError, "have to name what"),
        (
            lambda: Space("x", m=[1], constraints=[lambda k: k]).configs({"n": 1}),
            ValueError,
            "looks at k, which is neither",
        ),
        (lambda: Search([1]), TypeError, "a Space, or a list of Config"),
        (lambda: Search([], method="fast"), ValueError, "'fast' is not one of exhaustive, halving"),
        (lambda: Search([], evaluations=0), ValueError, "evaluations is a number from 1 on"),
        (lambda: Search([], seconds=0), ValueError, "seconds is a time above 0"),
        (lambda: Search([], estimate=3), TypeError, "estimate is a function"),
    ],
)
def test_what_is_no_search(make, error, said):
    with pytest.raises(error, match=said):
        make()


# -- methods -----------------------------------------------------------------------------------------------------------

AXES = {"m": [1, 2, 4, 8, 16], "n": [1, 2, 4, 8, 16], "stages": [1, 2, 3, 4]}


def cost(m, n, stages):
    """Milliseconds: the best is m = 8, n = 4, three stages; m = 16 with n = 16 does not run."""
    if (m, n) == (16, 16):
        raise ValueError("too large")
    return 1 + (math.log2(m) - 3) ** 2 + (math.log2(n) - 2) ** 2 + 0.3 * (stages - 3) ** 2


def rough(config, named):
    """Knows about m and n by half, about stages nothing."""
    return 1 + abs(math.log2(config.kwargs["m"]) - 2.4) + abs(math.log2(config.kwargs["n"]) - 1.5)


class Tuned:
    """A tuned function of `cost`, that counts."""

    def __init__(self, fails_at=None, **search):
        self.evaluated = []
        self.fails_at = fails_at

        def product(x, m, n, stages):
            self.evaluated.append((m, n, stages))
            if len(self.evaluated) == self.fails_at:
                raise KeyboardInterrupt  # as a kill, but for the process
            self.last = cost(m, n, stages)

        product.source_digest = "the same in all tests"
        space = search.pop("space", None) or Space("products", **AXES)
        self.tuned = autotune(Search(space, **search), key=["x"], do_bench=lambda call, **_: call() or self.last)(
            product
        )

    def __call__(self):
        return self.tuned.resolve_config(5)


@pytest.mark.parametrize(
    ("method", "within"), [("exhaustive", 1.0), ("halving", 1.3), ("bayesian", 1.6), ("evolution", 2.0)]
)
def test_methods_find_what_is_good_in_a_fifth(method, within):
    run = Tuned(method=method, estimate=rough)
    best = run()
    count = 100 if method == "exhaustive" else 20
    assert len(run.evaluated) == len(set(run.evaluated)) == count
    assert cost(**best.kwargs) <= within
    again = Tuned(method=method, estimate=rough)
    assert again() == best
    assert again.evaluated == []  # it was remembered


@pytest.mark.parametrize("method", ["halving", "bayesian", "evolution"])
def test_without_an_estimate(method):
    run = Tuned(method=method, evaluations=30)
    assert cost(**run().kwargs) <= 2.5
    assert len(run.evaluated) == 30


@pytest.mark.parametrize("method", ["exhaustive", "halving", "bayesian", "evolution"])
def test_more_evaluations_than_candidates(method):
    run = Tuned(space=[Config(m=m, n=1, stages=1) for m in (1, 2, 4)], method=method, evaluations=50)
    run()
    assert sorted(run.evaluated) == [(1, 1, 1), (2, 1, 1), (4, 1, 1)]


@pytest.mark.parametrize("method", ["exhaustive", "halving", "bayesian", "evolution"])
def test_what_constraints_refuse_is_never_called(method):
    space = Space("products", constraints=[lambda m, n: m * n <= 2, lambda x: x == 5], **AXES)
    run = Tuned(space=space, method=method, evaluations=10)
    run()
    assert len(run.evaluated) == 10
    assert all(m * n <= 2 for m, n, _ in run.evaluated)


def test_halving_corrects_an_estimate_that_is_wrong_about_an_axis():
    candidates = Space("products", **AXES).configs()
    estimates = [1 + 0.01 * one.kwargs["stages"] for one in candidates]  # more stages are worse: they are not
    method = Halving(candidates, 20, estimates)
    stages = []
    while (config := method.ask()) is not None:
        stages.append(config.kwargs["stages"])
        method.tell(config, 10.0 if config.kwargs["stages"] == 1 else 1.0)
    assert len(stages) == 20
    assert 1 in stages[:10]
    assert 1 not in stages[10:]


def test_halving_asks_for_nothing_before_it_was_told():
    method = Halving([Config(m=m) for m in range(8)], 4, None)
    first = [method.ask(), method.ask()]
    assert None not in first
    assert method.ask() is None
    method.tell(first[0], 1.0)
    assert method.ask() is None
    method.tell(first[1], None)  # it failed
    assert method.ask() not in (None, *first)


def test_optuna_missing_is_said(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"method 'bayesian' needs Optuna: pip install 'fly-autotune\[search\]'"):
        Tuned(method="bayesian")()


# -- budgets, progress, ends and new beginnings ------------------------------------------------------------------------


def test_seconds_end_a_search_with_what_it_has(monkeypatch):
    from flydsl.autotune.search import run as module

    clock = iter(range(0, 10000, 2))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    run = Tuned(method="exhaustive", seconds=20)
    best = run()
    assert 1 <= len(run.evaluated) < 20
    assert cost(**best.kwargs) == min(cost(*one) for one in run.evaluated)


def test_progress_shows_the_best_so_far(capsys):
    Tuned(method="halving", estimate=rough, evaluations=3)()
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "[autotune] tuning 'products', 3 of 100 configs, halving..."
    assert len(lines) == 3
    assert all("| best so far" in line and line.startswith("[autotune]   [") for line in lines)
    assert last.startswith("[autotune] best: Config(")


@pytest.mark.parametrize("method", ["exhaustive", "halving", "bayesian", "evolution"])
def test_a_search_that_was_ended_goes_on(method, cache_folder, capsys):
    whole = Tuned(method=method, estimate=rough, evaluations=20)
    best = whole()
    Database(cache_folder).remove(Database(cache_folder).results(roles=["best", "evaluated"]))
    ended = Tuned(method=method, estimate=rough, evaluations=20, fails_at=9)
    with pytest.raises(KeyboardInterrupt):
        ended()
    assert len(Database(cache_folder).results(roles=[EVALUATED])) == 8
    capsys.readouterr()
    rest = Tuned(method=method, estimate=rough, evaluations=20)
    assert rest() == best
    assert ended.evaluated[:8] + rest.evaluated == whole.evaluated  # nothing twice, nothing else
    assert capsys.readouterr().out.count(", known") == 8


def test_failures_are_remembered_too(cache_folder, capsys):
    space = [Config(m=16, n=16, stages=1), Config(m=1, n=1, stages=1), Config(m=2, n=1, stages=1)]
    with pytest.raises(KeyboardInterrupt):
        Tuned(space=space, fails_at=3)()
    rest = Tuned(space=space)
    rest()
    assert rest.evaluated == [(2, 1, 1)]
    assert "FAILED: too large, known" in capsys.readouterr().out


def test_forced_tuning_begins_anew_after_a_search_that_ended_by_itself(monkeypatch):
    run = Tuned(evaluations=10)
    run()
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    run()
    assert run.evaluated[:10] == run.evaluated[10:]


def test_another_problem_knows_nothing_of_it():
    run = Tuned(evaluations=10, fails_at=5)
    with pytest.raises(KeyboardInterrupt):
        run()
    run.tuned.resolve_config(6)
    assert len(run.evaluated) == 5 + 10


def test_a_configuration_that_left_the_space_is_not_used():
    Tuned(space=Space("products", m=[8], n=[4], stages=[3]))()
    run = Tuned(space=Space("products", m=[1, 2], n=[1], stages=[1]))
    assert run() == Config(m=2, n=1, stages=1)


def test_the_result_is_in_the_file_of_the_function(cache_folder):
    Tuned(evaluations=5)()
    (config,) = json.loads((cache_folder / "product.json").read_text()).values()
    assert set(config) == {"m", "n", "stages"}


def test_a_sampled_search_predicts_the_same_and_the_call_is_whole():
    from launchers import scale

    a, b, n = np.ones(4096, np.float32), np.zeros(4096, np.float32), 4096
    times = []
    for sampled in (False, True):
        b[:] = 0
        space = Space("scale", BLOCK=[64], EACH=[1])
        tuned = autotune(Search(space, sampled=sampled), key=["n"])(scale)
        times.append(tuned.evaluate(Config(BLOCK=64, EACH=1), (a, b, n)).milliseconds)
    assert times[0] == pytest.approx(times[1], rel=1e-6)
    tuned(a, b, n)
    assert (b == 2).all()
