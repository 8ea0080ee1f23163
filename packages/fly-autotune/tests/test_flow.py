# SPDX-License-Identifier: Apache-2.0
"""Which configuration a call gets: remembered, default, or measured; and what is said on the way."""

import contextlib
import threading

import numpy as np
import pytest

from flydsl.autotune import Autotuner, Config, autotune

CONFIGS = [Config(BLOCK=1), Config(BLOCK=2), Config(BLOCK=3)]
X = np.zeros(4, np.float32)


def blocks(kernel):
    return [run.block for run in kernel.runs]


def test_the_first_call_measures_and_later_ones_use_the_best(kernel, bench, capsys):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    assert isinstance(tuned, Autotuner)
    assert tuned(X, 8) == 2  # what the function returned
    assert blocks(kernel) == [1, 2, 3, 2]
    assert capsys.readouterr().out.splitlines() == [
        "[autotune] tuning 3 configs...",
        "[autotune]   [1/3] Config(BLOCK=1) -> 5.000 ms",
        "[autotune]   [2/3] Config(BLOCK=2) -> 3.000 ms",
        "[autotune]   [3/3] Config(BLOCK=3) -> 4.000 ms",
        "[autotune] best: Config(BLOCK=2) (3.000 ms)",
    ]
    tuned(X, 8)
    tuned(X + 1, n=8)
    assert blocks(kernel)[4:] == [2, 2]
    assert capsys.readouterr().out == ""


def test_another_key_is_measured_anew(kernel, bench):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    tuned(X, 8)
    bench.times[2] = 9.0
    tuned(X, 9)
    assert blocks(kernel) == [1, 2, 3, 2, 1, 2, 3, 3]
    assert len(tuned.cache) == 2


def test_counts_reach_the_benchmark(kernel, bench):
    autotune(CONFIGS[:1], key=["n"], warmup=2, rep=7, do_bench=bench)(kernel)(X, 1)
    autotune(CONFIGS[1:2], key=["n"], do_bench=bench)(kernel)(X, 2)
    assert bench.calls == [(1, 2, 7), (2, 5, 25)]


def test_configurations_made_of_the_arguments(kernel, bench):
    seen = []

    def configs(*args, **kwargs):
        seen.append((args, kwargs))
        return [Config(BLOCK=3), Config(BLOCK=1)]

    tuned = autotune(configs, key=["n"], do_bench=bench)(kernel)
    tuned(X, n=8)
    tuned(X, n=8)
    assert blocks(kernel) == [3, 1, 3, 3]
    ((args, kwargs),) = seen
    assert args[0] is X
    assert kwargs == {"n": 8}


def test_pruning(kernel, bench):
    seen = []

    def prune(configs, named):
        seen.append(named)
        return [one for one in configs if one.kwargs["BLOCK"] <= named["n"]]

    tuned = autotune(CONFIGS, key=["n"], prune_configs_by=prune, do_bench=bench)(kernel)
    tuned(X, 1)
    assert blocks(kernel) == [1, 1]
    assert list(seen[0]) == ["x", "n"]
    assert seen[0]["x"] is X
    with pytest.raises(ValueError, match="prune_configs_by left none of the 3 configurations of kernel"):
        tuned(X, 0)


def test_a_candidate_that_raises_is_reported_and_skipped(kernel, bench, capsys):
    def fussy(x, n, BLOCK):
        if BLOCK == 2:
            raise ValueError("no such tile")
        return kernel(x, n, BLOCK=BLOCK)

    assert autotune(CONFIGS, key=["n"], do_bench=bench)(fussy)(X, 8) == 3
    assert "[autotune]   [2/3] Config(BLOCK=2) -> FAILED: no such tile" in capsys.readouterr().out


def test_all_candidates_fail():
    def broken(x, n, BLOCK):
        raise KeyError(BLOCK)

    tuned = autotune(CONFIGS, key=["n"], do_bench=lambda call, **_: call())(broken)
    with pytest.raises(
        RuntimeError, match=r"All autotune configs failed: broken\(\), 3 configs; the last: KeyError: 3"
    ) as e:
        tuned(X, 8)
    assert isinstance(e.value.__cause__, KeyError)
    assert tuned.cache == {}


@pytest.mark.parametrize("time", [float("nan"), float("inf"), None, "fast", [1.0, 2.0]])
def test_what_is_no_time(kernel, time):
    tuned = autotune(CONFIGS, key=["n"], do_bench=lambda call, **_: time)(kernel)
    with pytest.raises(RuntimeError, match="not a time in milliseconds"):
        tuned(X, 8)


def test_an_interrupt_ends_the_search(kernel):
    def interrupted(call, **_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        autotune(CONFIGS, key=["n"], do_bench=interrupted)(kernel)(X, 8)


def test_default_runs_without_measuring(kernel, bench, monkeypatch):
    seen = []

    def default(*args, **kwargs):
        seen.append((len(args), kwargs))
        return Config(BLOCK=3)

    tuned = autotune(CONFIGS, key=["n"], default=default, do_bench=bench)(kernel)
    assert tuned(X, n=8) == 3
    assert bench.calls == []
    assert seen == [(1, {"n": 8})]
    assert tuned.cache == {}  # a guess is not remembered
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    assert tuned(X, n=8) == 2
    monkeypatch.delenv("FLYDSL_AUTOTUNE")
    assert tuned(X, n=8) == 2  # a measurement counts more than the guess
    assert len(seen) == 1


def test_default_of_another_type(kernel, bench):
    tuned = autotune(CONFIGS, key=["n"], default=lambda *_: None, do_bench=bench)(kernel)
    with pytest.raises(TypeError, match="default gives Config objects, got NoneType"):
        tuned(X, 8)


def test_forced_tuning_measures_at_every_call(kernel, bench, monkeypatch):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    tuned(X, 8)
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "yes")
    bench.times[1] = 1.0
    assert tuned(X, 8) == 1
    assert tuned(X, 8) == 1
    assert len(bench.calls) == 9
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "0")
    assert tuned(X, 8) == 1
    assert len(bench.calls) == 9
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "perhaps")
    with pytest.raises(ValueError, match="FLYDSL_AUTOTUNE='perhaps'"):
        tuned(X, 8)


def test_resolve_config_does_not_run_the_call(kernel, bench):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    assert tuned.resolve_config(X, 8) == Config(BLOCK=2)
    assert blocks(kernel) == [1, 2, 3]
    assert tuned.resolve_config(X, n=8) == Config(BLOCK=2)
    assert blocks(kernel) == [1, 2, 3]


def test_select_config(kernel, bench):
    seen = []

    def last(results):
        seen.extend(results)
        return results[-1]

    assert autotune(CONFIGS, key=["n"], select_config=last, do_bench=bench)(kernel)(X, 8) == 3
    assert seen == [(Config(BLOCK=1), 5.0), (Config(BLOCK=2), 3.0), (Config(BLOCK=3), 4.0)]


@pytest.mark.parametrize("choice", [None, Config(BLOCK=1), (Config(BLOCK=1), 1.0), (Config(BLOCK=9), 5.0)])
def test_select_config_returns_what_was_measured(kernel, bench, choice):
    tuned = autotune(CONFIGS, key=["n"], select_config=lambda _: choice, do_bench=bench)(kernel)
    with pytest.raises(ValueError, match=r"select_config must return one of the measured \(config, time\) pairs"):
        tuned(X, 8)
    assert tuned.cache == {}


def test_validate_hook_rejects(kernel, bench, capsys):
    seen = []

    @contextlib.contextmanager
    def validate(arguments):
        seen.append(arguments)
        before = len(kernel.runs)
        yield
        assert len(kernel.runs) == before + 1
        if arguments["BLOCK"] == 2:
            raise ArithmeticError("wrong sum")

    tuned = autotune(CONFIGS, key=["n"], validate_hook=validate, do_bench=bench)(kernel)
    assert tuned(X, 8) == 3
    assert blocks(kernel) == [1, 1, 2, 3, 3, 3]  # an untimed run, then the timed one
    assert "Config(BLOCK=2) -> FAILED: wrong sum" in capsys.readouterr().out
    assert seen[0] == {"x": X, "n": 8, "out": None, "BLOCK": 1, "stream": None} or seen[0]["x"] is X
    assert {name: value for name, value in seen[2].items() if name != "x"} == {
        "n": 8, "out": None, "BLOCK": 3, "stream": None,
    }  # fmt: skip


def test_methods(bench):
    class Layer:
        scale = 3

        @autotune(CONFIGS, key=["n"], do_bench=bench)
        def run(self, n, BLOCK):
            bench.last = BLOCK
            return self.scale * BLOCK * n

    assert Layer().run(5) == 30
    assert isinstance(Layer.run, Autotuner)


def test_it_looks_like_the_function(kernel):
    def documented(x, n, BLOCK=0):
        """Docs."""

    tuned = autotune(CONFIGS, key=["n"])(documented)
    assert tuned.__name__ == "documented"
    assert tuned.__doc__ == "Docs."
    assert tuned.fn is documented
    assert repr(tuned) == "<@autotune documented, 3 configs, key=['n']>"


def test_two_threads_tune_once(kernel, bench):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    threads = [threading.Thread(target=tuned, args=(X, 8)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(bench.calls) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"configs": 3}, TypeError, "configs gives a list of Config, got int"),
        ({"configs": [{"BLOCK": 1}]}, TypeError, "configs gives Config objects, got dict"),
        ({"key": ["m"]}, ValueError, r"key names 'm', which is no parameter of kernel\(x, n, out, BLOCK, stream\)"),
        ({"key": "n"}, TypeError, r"key is a list of parameter names, got the text 'n'"),
        ({"key": [1]}, TypeError, "got 1 in it"),
        ({"reset_to_zero": ["y"]}, ValueError, "reset_to_zero names 'y'"),
        ({"restore_value": ["y"]}, ValueError, "restore_value names 'y'"),
    ],
)
def test_mistakes_of_the_decorator(kernel, arguments, error, text):
    with pytest.raises(error, match=text):
        autotune(**{"configs": CONFIGS, **arguments})(kernel)


def test_what_is_no_function():
    with pytest.raises(TypeError, match="decorates a function, not int"):
        autotune(CONFIGS)(3)


def test_no_configurations(kernel, bench):
    with pytest.raises(ValueError, match=r"kernel\(\) has no configurations"):
        autotune([], key=["n"], do_bench=bench)(kernel)(X, 1)


def test_arguments_that_do_not_fit(kernel, bench):
    tuned = autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    with pytest.raises(TypeError, match=r"kernel\(\): got an unexpected keyword argument 'nn'"):
        tuned(X, nn=8)
    with pytest.raises(TypeError, match=r"kernel\(\): too many positional arguments"):
        tuned(X, 1, 2, 3, 4, 5)
    with pytest.raises(RuntimeError, match=r"the caller and Config\(BLOCK=3\) both give BLOCK"):
        tuned(X, 8, BLOCK=4)


def test_any_callable(bench):
    class Launcher:
        def __call__(self, n, **options):
            bench.last = options["BLOCK"]
            return options

    tuned = autotune(CONFIGS, key=["n", "mode"], do_bench=bench)(Launcher())
    assert tuned(3, mode="fast") == {"mode": "fast", "BLOCK": 2}
    assert tuned._make_key((3,), {"mode": "fast"}) != tuned._make_key((3,), {"mode": "slow"})
