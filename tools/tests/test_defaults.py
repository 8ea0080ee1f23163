# SPDX-License-Identifier: Apache-2.0
"""What a search finds goes to its row of the table of defaults, and nothing else changes."""

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import row_defaults
import tuning

KERNELS = Path(__file__).resolve().parents[2] / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels"


@pytest.fixture
def path(monkeypatch, tmp_path):
    """A copy of the table that the tool writes to. Neither a device nor the packages are needed for that."""
    spec = importlib.util.spec_from_file_location("defaults", KERNELS / "common" / "defaults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("flydsl", "flydsl.emulator", "flydsl.kernels", "flydsl.kernels.common"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "flydsl.kernels.common.defaults", module)
    model = SimpleNamespace(prediction_model=lambda: "0.1.0+test")
    monkeypatch.setitem(sys.modules, "flydsl.emulator.predicting", model)
    copied = tmp_path / "defaults.json"
    copied.write_text((KERNELS / "defaults.json").read_text())
    for tool in (row_defaults, tuning):
        monkeypatch.setattr(tool, "DEFAULTS", copied)
    return copied


@pytest.mark.parametrize("more", [{}, {"config": {"elements": 32}, "rows_over_best": [1.5, 1.25]}])
def test_a_finding_takes_the_row_of_its_class(path, more):
    before = path.read_text().splitlines()
    finding = {"kernel": "softmax", "bits": 16, "columns": 1024, **more, "over_best": [1.0, 1.125]}
    row_defaults.export("gfx950", finding)
    after = path.read_text().splitlines()
    (changed,) = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert '"kernel": "softmax", "bits": 16, "columns": 1024' in changed[0]
    assert changed[1].strip().startswith('{"kernel": "softmax", "bits": 16, "columns": 1024')
    assert '"over_best": [1.0, 1.125], "model": "0.1.0+test"}' in changed[1]
    assert ('"rows_over_best"' in changed[1]) == bool(more)


def test_a_class_that_was_not_looked_at_gets_a_row(path):
    before = path.read_text().splitlines()
    row_defaults.export("gfx950", {"kernel": "softmax", "bits": 16, "columns": 32768, "over_best": [1.0, 1.0]})
    after = path.read_text().splitlines()
    assert len(after) == len(before) + 1
    assert set(before) <= set(after)


def test_gemms_of_an_export_of_results_become_defaults(path, tmp_path):
    """What `python -m flydsl.autotune export` wrote, of databases of several machines; other functions are left out."""
    config = {"split_k": 2, "tile_m": 16, "tile_n": 128, "waves": [2, 4]}
    found = {
        "function": "gemm", "role": "best", "shape": "fp8 16 500 2048", "architecture": "gfx942", "config": config,
        "milliseconds": 0.0125, "measure": "device", "model": "",
    }  # fmt: skip
    predicted = {**found, "architecture": "gfx950", "measure": "predicted", "model": "0.1.0+test"}
    others = [{**found, "function": "softmax", "shape": "f16 8 64"}, {**found, "role": "evaluated"}]
    (tmp_path / "tuned.json").write_text(json.dumps([found, predicted, *others]))
    before = path.read_text().splitlines()
    tuning.take(tmp_path / "tuned.json")
    after = path.read_text().splitlines()
    measured, modelled = sorted((line.strip(" ,") for line in set(after) - set(before)), key=len)
    row = {"in_dtype": "fp8", "shape": [16, 500, 2048], "milliseconds": 0.0125}
    row["config"] = {"tile_m": 16, "tile_n": 128, "split_k": 2, "waves": [2, 4]}
    assert json.loads(measured) == row
    assert json.loads(modelled) == {**row, "model": "0.1.0+test"}
    assert set(before) <= set(after)
