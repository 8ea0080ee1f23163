# SPDX-License-Identifier: Apache-2.0
"""Offline artifacts: what identifies them, when they are written and read, and what is refused."""

import hashlib
import json

import numpy as np
import pytest

import flydsl.autotune as package
import flydsl.runtime as runtime
from flydsl.autotune import Config, autotune

CONFIGS = [Config(BLOCK=1), Config(BLOCK=2, waves_per_eu=2)]
X = np.zeros((4, 8), np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "configs"
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def make(kernel, bench, monkeypatch, tmp_path):
    """Makes a tuner; each has a cache folder of its own, so that only artifacts are shared."""
    count = iter(range(100))

    def make(configs=CONFIGS, **options):
        monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / f"cache{next(count)}"))
        options = {"key": ["n", "x"], "artifact_name": "norm", "do_bench": bench, **options}
        return autotune(configs, **options)(kernel)

    return make


@pytest.fixture
def written(folder, make, monkeypatch):
    """The file that a forced run wrote for (X, 8)."""
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    make()(X, 8)
    monkeypatch.delenv("FLYDSL_AUTOTUNE")
    (path,) = folder.iterdir()
    return path


def not_called(*_, **__):
    raise AssertionError("the artifact says it")


def test_format(written):
    device = runtime.current_device()
    identity = {
        "name": "norm",
        "key": {"n": 8, "x": [4, 8]},
        "device": {"name": device.name, "arch": device.arch, "compute_units": device.compute_units},
    }
    body = json.loads(written.read_text())
    assert body == {"version": 1, "identity": identity, "config": {"BLOCK": 2, "waves_per_eu": 2}}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    assert written.name == f"norm-{hashlib.sha256(text.encode()).hexdigest()}.json"
    assert "emulated" in device.name  # so no result of the emulator is taken for one of hardware


def test_it_is_read(written, make):
    tuned = make(do_bench=not_called)
    assert tuned.resolve_config(X, 8) == CONFIGS[1]
    written.unlink()
    assert tuned.resolve_config(X, 8) == CONFIGS[1]  # from memory
    assert "_artifact_" in tuned._make_key((X, 8), {})[-1]


def test_it_counts_more_than_the_default(written, make):
    tuned = make(default=lambda *_, **__: Config(BLOCK=3), do_bench=not_called)
    assert tuned(X, 8) == 2
    assert tuned(X, 9) == 3


def test_other_calls_have_none(written, make, bench):
    bench.calls.clear()
    make()(X, 9)
    make()(np.zeros((4, 9), np.float32), 8)
    make(artifact_name="other")(X, 8)
    assert len(bench.calls) == 6


def test_only_forced_tuning_writes(folder, make):
    make()(X, 8)
    assert not folder.exists()


def test_nothing_is_done_without_a_folder(make, monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    tuned = make([Config(BLOCK=1, pre_hook=lambda _: None)])
    assert tuned(X, 8) == 1
    assert "_artifact_" not in str(tuned._make_key((X, 8), {}))
    assert not list(tmp_path.rglob("norm-*"))


def test_nothing_is_done_without_a_name(folder, make, monkeypatch):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    make(artifact_name=None)(X, 8)
    assert not folder.exists()


def changed(body, path, value):
    *parents, last = path
    inner = body
    for name in parents:
        inner = inner[name]
    inner[last] = value
    return json.dumps(body)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (["version"], 2, "its version is 2, expected 1"),
        (["version"], True, "its version is True"),
        (["identity", "name"], "other", "it is for"),
        (["identity", "key", "n"], 9, "it is for"),
        (["identity", "device", "compute_units"], 1, "it is for"),
        (["identity"], None, "it is for None"),
        (["config"], None, "configuration"),
        (["config"], {"BLOCK": 1, "unknown": 3}, "'unknown', which is no parameter of kernel"),
        (["config"], {"BLOCK": 1, "n": 3}, "must not override call arguments: n"),
        (["config"], {"num_warps": "x"}, "num_warps"),
    ],
)
def test_mismatches_are_ignored_with_a_warning(written, make, bench, caplog, path, value, text):
    written.write_text(changed(json.loads(written.read_text()), path, value))
    bench.times[1] = 0.5
    assert make()(X, 8) == 1  # measured anew
    assert f"{written} is ignored" in caplog.text
    assert text in caplog.text


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 5000])
def test_damaged_files_are_ignored_with_a_warning(written, make, bench, caplog, content):
    written.write_bytes(content)
    bench.times[1] = 0.5
    assert make()(X, 8) == 1
    assert f"{written} is ignored" in caplog.text


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (Config(BLOCK=1, pre_hook=lambda _: None), "cannot serialize Config.pre_hook"),
        (Config(BLOCK=1, stream=(1, 2)), "must preserve their types in JSON"),
        (Config(BLOCK=1, stream=object()), "must preserve their types in JSON"),
        (Config(BLOCK=1, stream=float("nan")), "must preserve their types in JSON"),
    ],
)
def test_configurations_that_cannot_be_written(folder, make, monkeypatch, config, text):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    with pytest.raises(ValueError, match=text):
        make([config])(X, 8)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 65, "ä", "a\n"])
def test_names_that_make_no_file(make, name):
    with pytest.raises(ValueError, match="artifact_name must use 1-64 letters, digits"):
        make(artifact_name=name)


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "x" * 64])
def test_names_that_make_one(make, name):
    assert make(artifact_name=name).artifact_name == name


@pytest.mark.parametrize("key", [["n", "n"], ["m"]])
def test_keys_that_identify_no_call(make, key):
    with pytest.raises(ValueError, match="artifact keys must be unique kernel parameter names"):
        make(key=key)


def test_a_call_without_identity(folder, make, bench, monkeypatch):
    assert make()(X, object()) == 2  # nothing to read: it is measured
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    bench.calls.clear()
    with pytest.raises(ValueError, match="cannot generate offline config identity: the value of key 'n' is a object"):
        make()(X, object())
    monkeypatch.setattr(package, "_device_descriptor", lambda _: None)
    with pytest.raises(ValueError, match="cannot generate offline config identity: there is no device"):
        make()(X, 8)
    assert bench.calls == []  # said before anything was measured
