# SPDX-License-Identifier: Apache-2.0
"""The entry points of the tuned RMSNorm: with the default, with a search, and where the tuner is missing."""

import json
import sys

import pytest
from rows import check, rmsnorm, row, rows

import flydsl.autotune  # noqa: F401 - a test environment without it would test nothing
from flydsl.kernels.norm import rmsnorm_autotune
from flydsl.kernels.norm.rmsnorm_autotune import rmsnorm_autotuned, rmsnorm_direct


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    """A cache folder of the test's own, and a tuner that knows nothing."""
    for name in ("FLYDSL_AUTOTUNE", "FLYDSL_AUTOTUNE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "autotune"))
    rmsnorm_autotune._tuner.cache_clear()
    yield tmp_path
    rmsnorm_autotune._tuner.cache_clear()


@pytest.mark.parametrize("threads", [128, 256, 512])
def test_direct(threads, run):
    x, gamma = rows(3, 4096, "bf16"), row(4096, "bf16")
    y = run.empty(x)
    run(rmsnorm_direct, x, gamma, y, 3, 4096, "bf16", threads, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")


@pytest.mark.parametrize("n", [300, 2304])
def test_default_configuration(n, run, capsys):
    x, gamma = rows(3, n, "bf16"), row(n, "f32")
    y = run.empty(x)
    run(rmsnorm_autotuned, x, gamma, y, 3, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")
    assert "[autotune]" not in capsys.readouterr().out


def test_a_search(run, monkeypatch, capsys, nothing_known):
    x, gamma = rows(2, 4096, "bf16"), row(4096, "bf16")
    y = run.empty(x)
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CONFIG_DIR", str(nothing_known / "configs"))
    run(rmsnorm_autotuned, x, gamma, y, 2, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")
    said = capsys.readouterr().out
    assert "[autotune] tuning 7 configs..." in said
    assert "FAILED" not in said
    (entry,) = json.loads((nothing_known / "autotune" / "rmsnorm_direct.json").read_text()).values()
    (artifact,) = (nothing_known / "configs").iterdir()
    assert artifact.name.startswith("rmsnorm-")
    body = json.loads(artifact.read_text())
    assert body["identity"]["key"] == {"m_in": 2, "N": 4096, "dtype_str": "bf16", "weight_dtype_str": "bf16"}
    assert body["config"] == entry
    # What was found is used from then on.
    monkeypatch.delenv("FLYDSL_AUTOTUNE")
    chosen = rmsnorm_autotune._tuner().resolve_config(x, gamma, y, 2, 4096, "bf16", weight_dtype_str="bf16")
    assert chosen.to_dict() == entry
    run(rmsnorm_autotuned, x, gamma, y, 2, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")


def test_short_rows_are_not_searched(run, monkeypatch, capsys):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    x, gamma = rows(2, 2048, "f16"), row(2048, "f16")
    y = run.empty(x)
    run(rmsnorm_autotuned, x, gamma, y, 2, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "f16")
    assert "[autotune]" not in capsys.readouterr().out


def test_without_the_tuner(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "flydsl.autotune", None)  # as where it is not installed
    x, gamma = rows(1, 2304, "f32"), row(2304, "f32")
    y = run.empty(x)
    run(rmsnorm_autotuned, x, gamma, y, 1, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "f32")
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    with pytest.raises(ImportError, match=r"FLYDSL_AUTOTUNE asks for fly-autotune.*fly-kernels\[autotune\]"):
        rmsnorm_autotuned(x, gamma, y, 1)
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "0")
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CONFIG_DIR", "configs")
    with pytest.raises(ImportError, match="FLYDSL_AUTOTUNE_CONFIG_DIR asks for fly-autotune"):
        rmsnorm_autotuned(x, gamma, y, 1)


def test_unknown_dtype():
    x = rows(1, 64, "f32").int()
    with pytest.raises(ValueError, match=r"input is torch\.int32"):
        rmsnorm_autotuned(x, x, x, 1)
