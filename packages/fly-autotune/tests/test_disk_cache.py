# SPDX-License-Identifier: Apache-2.0
"""Results on disk: their file, reloading them, damaged files, and several processes at once."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from flydsl.autotune import Config, autotune

CONFIGS = [Config(BLOCK=1), Config(BLOCK=2, num_warps=4, waves_per_eu=2), Config(BLOCK=3)]
X = np.zeros(4, np.float32)


def not_called(*_, **__):
    raise AssertionError("this was known")


def make(kernel, bench, configs=CONFIGS):
    return autotune(configs, key=["n"], do_bench=bench)(kernel)


@pytest.fixture
def kernel(kernel):
    """With `num_warps` as a parameter."""
    run = kernel

    def kernel(x, n, BLOCK=0, num_warps=1):
        return run(x, n, BLOCK=BLOCK), num_warps

    return kernel


def test_format(kernel, bench, cache_folder):
    tuned = make(kernel, bench)
    tuned(X, 8)
    text = (cache_folder / "kernel.json").read_text()
    ((key, entry),) = json.loads(text).items()
    assert tuple(json.loads(key)) == tuned._make_key((X, 8), {})
    assert entry == {"BLOCK": 2, "num_warps": 4, "waves_per_eu": 2}
    assert [path.name for path in cache_folder.iterdir() if path.suffix == ".json"] == ["kernel.json"]


def test_reload(kernel, bench):
    make(kernel, bench)(X, 8)
    again = make(kernel, not_called)
    assert again(X, 8) == (2, 4)
    assert again.cache == {again._make_key((X, 8), {}): CONFIGS[1]}


def test_results_are_added(kernel, bench, cache_folder):
    one, other = make(kernel, bench), make(kernel, bench)
    one(X, 8)
    other(X, 9)  # made before the first wrote
    assert len(json.loads((cache_folder / "kernel.json").read_text())) == 2
    again = make(kernel, not_called)
    again(X, 8)
    again(X, 9)


def test_what_another_process_found_is_seen(kernel, bench):
    late = make(kernel, not_called)
    make(kernel, bench)(X, 8)
    assert late(X, 8) == (2, 4)


def test_a_configuration_that_was_withdrawn_is_not_used(kernel, bench):
    make(kernel, bench)(X, 8)  # CONFIGS[1] is the best
    fewer = make(kernel, bench, [CONFIGS[0], CONFIGS[2]])
    assert fewer.cache == {}
    assert fewer(X, 8) == (3, 1)
    assert make(kernel, not_called)(X, 8) == (3, 1)  # as good an answer for those who offer more


def test_configurations_made_of_the_arguments_are_taken_as_they_were_written(kernel, bench):
    make(kernel, bench, lambda *_: CONFIGS)(X, 8)
    assert make(kernel, not_called, not_called)(X, 8) == (2, 4)


def test_the_folder_is_that_of_the_call(kernel, bench, tmp_path, monkeypatch):
    tuned = make(kernel, bench)
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "another" / "one"))
    tuned(X, 8)
    assert (tmp_path / "another" / "one" / "kernel.json").exists()


def test_default_folder(monkeypatch):
    from pathlib import Path

    from flydsl.autotune import variables

    monkeypatch.delenv("FLYDSL_AUTOTUNE_CACHE_DIR")
    assert variables.CACHE_DIR.get() == Path.home() / ".flydsl" / "autotune"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "null", '{"a": {"BLOCK": 1}}', '{"[1]": {"BLOCK": 1}}', "\x00\xff", "[" * 5000]
)
def test_damaged_files(kernel, bench, cache_folder, content):
    cache_folder.mkdir()
    (cache_folder / "kernel.json").write_bytes(content.encode("latin-1"))
    assert make(kernel, bench)(X, 8) == (2, 4)
    assert make(kernel, not_called)(X, 8) == (2, 4)  # it was replaced


@pytest.mark.parametrize("entry", [None, 3, [], {"num_warps": "x"}, {"pre_hook": 1}])
def test_damaged_entries(kernel, bench, cache_folder, entry):
    make(kernel, bench)(X, 8)
    path = cache_folder / "kernel.json"
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), entry)))
    assert make(kernel, not_called)(X, 8) == (2, 4)  # the database knows
    (cache_folder / "results.sqlite").unlink()
    bench.calls.clear()
    assert make(kernel, bench)(X, 8) == (2, 4)
    assert len(bench.calls) == 3


def test_a_folder_that_cannot_be_made(kernel, bench, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "file" / "folder"))
    tuned = make(kernel, bench)
    assert tuned(X, 8) == (2, 4)
    assert tuned(X, 8) == (2, 4)
    assert len(bench.calls) == 3
    assert "kernel.json cannot be written" in caplog.text


@pytest.mark.parametrize("value", [(1, 2), object(), float("inf"), {1: 2}])
def test_values_that_json_does_not_preserve(kernel, cache_folder, caplog, value):
    def kernel(n, BLOCK):
        return BLOCK

    tuned = make(kernel, lambda call, **_: 1.0, [Config(BLOCK=value)])
    assert tuned(8) is value
    assert tuned(8) is value
    assert not (cache_folder / "kernel.json").exists()
    assert "not kept on disk" in caplog.text


def test_names_stay_in_the_folder(bench, cache_folder):
    def run(n, BLOCK):
        bench.last = BLOCK

    run.__name__ = "../../up"
    make(run, bench, CONFIGS[:1])(3)
    assert (cache_folder / ".._.._up.json").exists()


WRITER = """
import sys
from flydsl.autotune import Config, autotune

def kernel(n, BLOCK):
    return BLOCK

tuned = autotune([Config(BLOCK=1)], key=["n"], do_bench=lambda call, **_: 1.0)(kernel)
for n in range(int(sys.argv[1]), 60, 3):
    tuned.resolve_config(n)
"""


def test_processes_write_beside_each_other(cache_folder, tmp_path):
    program = tmp_path / "writer.py"
    program.write_text(textwrap.dedent(WRITER))
    processes = [
        subprocess.Popen([sys.executable, str(program), str(first)], stdout=subprocess.DEVNULL, env={**os.environ})
        for first in range(3)
    ]
    assert [process.wait(timeout=600) for process in processes] == [0, 0, 0]
    written = json.loads((cache_folder / "kernel.json").read_text())
    assert sorted(int(json.loads(key)[0]) for key in written) == list(range(60))
    assert not [path for path in cache_folder.iterdir() if path.name.startswith(".kernel")]
