# SPDX-License-Identifier: Apache-2.0
"""Searches on executors: local processes, and a Dask cluster of which a worker is killed; of Ray where it is
installed."""

import os
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from sweep_problems import BLOCKS, made_up, scaling

from flydsl.autotune import Config, Problem, sweep
from flydsl.autotune.database import Database
from flydsl.autotune.results import BEST, EVALUATED


def problem(name, **arguments):
    return Problem(f"sweep_problems:{name}", arguments)


def done(folder, what="ended"):
    """How often each BLOCK was evaluated."""
    return Counter(int(path.name.split("-")[1]) for path in Path(folder).glob(f"{what}-*"))


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def processes():
    """A pool of two processes, started anew as on another machine."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


def rows(cache_folder, *roles):
    return Database(cache_folder).results(roles=roles)


def test_processes_evaluate_each_once(processes, notes, cache_folder, capsys):
    best, milliseconds, measure = sweep(problem("made_up", folder=str(notes)), processes, width=2)
    assert (best, milliseconds, measure) == (Config(BLOCK=6), 1.0, "own")
    assert done(notes) == dict.fromkeys({*BLOCKS} - {3}, 1)
    evaluated = rows(cache_folder, EVALUATED)
    assert sorted(one.config["BLOCK"] for one in evaluated) == list(BLOCKS)
    assert [(one.config["BLOCK"], one.error) for one in evaluated if one.error] == [(3, "no such block")]
    assert [one.config["BLOCK"] for one in rows(cache_folder, BEST)] == [6]
    assert "8 of 8 configs, exhaustive, 2 at once" in capsys.readouterr().out
    # A call on such a device has the result, without an evaluation.
    tuned, arguments = made_up(str(notes))
    assert tuned.resolve_config(*arguments) == Config(BLOCK=6)
    assert sum(done(notes).values()) == 7


def test_a_broken_pool_loses_nothing_and_the_next_goes_on(notes, cache_folder):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        killer = threading.Thread(target=kill_who_waits, args=(notes, 5, cache_folder, 1))
        killer.start()
        with pytest.raises(RuntimeError, match=r"the search ended .BrokenProcessPool.*which are kept"):
            sweep(problem("made_up", folder=str(notes), waits_for=5), pool, width=2)
        killer.join()
    known = {one.config["BLOCK"] for one in rows(cache_folder, EVALUATED)}
    assert known
    assert 5 not in known
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        best, _, _ = sweep(problem("made_up", folder=str(notes), waits_for=5), pool, width=2)
    assert best == Config(BLOCK=6)
    assert all(done(notes, "begun")[block] == 1 for block in known)
    assert len(rows(cache_folder, EVALUATED)) == len(BLOCKS)


def kill_who_waits(notes, block, cache_folder, count):
    """Kill the process that waits in the evaluation of a block, once so many others are in the database.

    What a worker has found and nobody has fetched yet goes with it, so the others must have been fetched.
    """
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        waiting = list(Path(notes).glob(f"begun-{block}-*"))
        if waiting and cache_folder.exists() and len(rows(cache_folder, EVALUATED)) >= count:
            os.kill(int(waiting[0].name.split("-")[2]), signal.SIGKILL)
            return
        time.sleep(0.05)


def test_a_dask_cluster_of_which_a_worker_is_killed(notes, cache_folder, monkeypatch):
    distributed = pytest.importorskip("distributed")
    import dask

    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(cache_folder))
    patient = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        killer = threading.Thread(target=kill_who_waits, args=(notes, 4, cache_folder, len(BLOCKS) - 1))
        killer.start()
        best, milliseconds, _ = sweep(
            problem("made_up", folder=str(notes), waits_for=4), client.get_executor(), measure="own", width=3
        )
        killer.join()
    assert (best, milliseconds) == (Config(BLOCK=6), 1.0)
    assert done(notes, "begun")[4] == 2  # it was killed in the middle of the first
    assert done(notes) == dict.fromkeys({*BLOCKS} - {3}, 1)  # nothing was done twice
    assert sorted(one.config["BLOCK"] for one in rows(cache_folder, EVALUATED)) == list(BLOCKS)  # or lost


class RayExecutor(Executor):
    """As docs/autotune.md shows it: an executor of the Ray cluster that this process is connected to."""

    def submit(self, fn, /, *args, **kwargs):
        ray = pytest.importorskip("ray")
        return ray.remote(num_cpus=1)(called).remote(fn, *args, **kwargs).future()


def called(fn, *args, **kwargs):  # ray.remote takes functions only, and a sweep sends partial ones
    return fn(*args, **kwargs)


def test_a_ray_cluster_of_which_a_worker_is_killed(notes, cache_folder, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not a part of the developer environment")
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(cache_folder))
    workers = {"env_vars": {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env=workers)
    try:
        killer = threading.Thread(target=kill_who_waits, args=(notes, 4, cache_folder, len(BLOCKS) - 1), daemon=True)
        killer.start()
        best, milliseconds, _ = sweep(
            problem("made_up", folder=str(notes), waits_for=4), RayExecutor(), measure="own", width=3
        )
        killer.join()
    finally:
        ray.shutdown()
    assert (best, milliseconds) == (Config(BLOCK=6), 1.0)
    assert done(notes, "begun")[4] == 2  # it was killed in the middle of the first
    assert done(notes) == dict.fromkeys({*BLOCKS} - {3}, 1)  # nothing was done twice
    assert sorted(one.config["BLOCK"] for one in rows(cache_folder, EVALUATED)) == list(BLOCKS)  # or lost


def test_what_is_sent_again_is_not_done_again(processes, notes, cache_folder, monkeypatch):
    """As an executor does with what a worker had ended when it died, and had not answered."""

    class Again(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            processes.submit(fn, *args, **kwargs).result()
            return processes.submit(fn, *args, **kwargs)

    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(cache_folder))
    sweep(problem("made_up", folder=str(notes)), Again(1), width=1)
    assert done(notes, "begun") == dict.fromkeys(BLOCKS, 1)  # the one that fails, too
    sweep(problem("made_up", folder=str(notes)), Again(1), width=1)
    assert done(notes, "begun") == dict.fromkeys(BLOCKS, 2)  # another sweep begins anew


def test_predictions_are_the_same_on_a_worker(cache_folder):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        best, milliseconds, measure = sweep(problem("scaling", count=1000), pool, measure="predicted", width=2)
    assert measure == "predicted"
    assert len(rows(cache_folder, EVALUATED)) == 3  # one of the four cannot run: it was not compiled
    (row,) = rows(cache_folder, BEST)
    tuned, arguments = scaling(1000)
    assert tuned.resolve_config(*arguments) == best
    assert milliseconds == row.milliseconds
    # The tensors lie elsewhere here, so a few more or fewer lines of memory are touched.
    assert tuned.evaluate(best, arguments).milliseconds == pytest.approx(milliseconds, rel=0.01)
    assert row.measure == "predicted"


def test_who_predicts_does_not_measure(cache_folder):
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match=r"'device'.*have times that are 'predicted'"):
        sweep(problem("scaling", count=1000), pool, measure="device")
    assert not cache_folder.exists() or not rows(cache_folder, BEST, EVALUATED)


class Mixed(ThreadPoolExecutor):
    """Workers in turn of two kinds: the variable KIND tells them apart, as a device does."""

    def __init__(self, kinds):
        super().__init__(1)
        self.kinds = kinds

    def submit(self, fn, /, *args, **kwargs):
        def on_a_worker():
            os.environ["KIND"] = self.kinds.pop(0) if len(self.kinds) > 1 else self.kinds[0]
            from flydsl.autotune.search import sweep as module

            module._made.clear()
            return fn(*args, **kwargs)

        return super().submit(on_a_worker)


def test_results_of_other_workers_are_not_mixed_in(notes, cache_folder, monkeypatch):
    monkeypatch.setenv("KIND", "")
    kinds = ["gpu"] + ["cpu", "gpu"] * 20
    sweep(problem("made_up", folder=str(notes), kind="KIND"), Mixed(kinds), width=1)
    assert {one.key[1] for one in rows(cache_folder, BEST, EVALUATED)} == {"gpu"}
    assert done(notes) == dict.fromkeys({*BLOCKS} - {3}, 1)


def test_workers_of_another_kind_alone_end_it(notes, cache_folder, monkeypatch):
    monkeypatch.setenv("KIND", "")
    with pytest.raises(RuntimeError, match=r"workers of another kind.*they have own: cpu"):
        sweep(problem("made_up", folder=str(notes), kind="KIND"), Mixed(["gpu", "cpu"]), width=1)
    assert not done(notes, "begun")


def test_lists_and_what_pickle_does_not_know():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = sweep(problem("listed"), pool, width=1)
    assert found == (Config(BLOCK=2), 1.0, "own")


@pytest.mark.parametrize("target", ["", "module", ":name", "module:"])
def test_targets(target):
    with pytest.raises(ValueError, match=r"target is 'package.module:function'"):
        Problem(target)


@pytest.mark.parametrize(("values", "said"), [({"measure": "guessed"}, "measure 'guessed'"), ({"width": 0}, "width")])
def test_what_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        sweep(problem("listed"), ThreadPoolExecutor(1), **values)
