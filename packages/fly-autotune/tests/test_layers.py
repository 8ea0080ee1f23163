# SPDX-License-Identifier: Apache-2.0
"""How the compiler and the emulator are found: through what their wheels register, and nothing else."""

from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from launchers import scale

from flydsl.autotune import layers


@pytest.fixture
def registered(monkeypatch):
    """Lets a test say what is registered: entry points by name."""
    entries = []
    monkeypatch.setattr(metadata, "entry_points", lambda group, name: [one for one in entries if one.name == name])
    caches = (layers._entry_point, layers._loaded, layers.toolchain_hash, layers.prediction_model)
    for one in caches:
        one.cache_clear()
    yield entries
    for one in caches:
        one.cache_clear()


def entry(name, value, loaded=None):
    return SimpleNamespace(name=name, value=value, module=value, load=lambda: loaded)


def test_the_wheels_register_themselves():
    for name in ("compiler", "emulator"):
        (found,) = {one.value for one in metadata.entry_points(group=layers.GROUP, name=name)}
        protocol = getattr(layers, name.capitalize())
        for function in (one for one in vars(protocol) if not one.startswith("_")):
            assert callable(getattr(layers._loaded(name), function)), f"{found} lacks {function}"


def test_a_layer_that_is_not_registered_is_not_there(registered):
    assert layers.toolchain_hash() == layers.prediction_model() == ""
    assert layers.ambient_hints() == {}
    assert layers.source_digest(scale) is None
    with pytest.raises(ImportError, match="waves_per_eu: options of a compilation, but the compiler is not installed"):
        layers.compile_hints({"waves_per_eu": 2})
    with pytest.raises(RuntimeError, match="need the wheel fly-emulator"):
        layers.emulator_prediction()


def test_any_package_may_offer_a_compiler(registered):
    hints = {"waves_per_eu": 3}
    own = SimpleNamespace(toolchain_hash=lambda: "own", ambient_hints=lambda: hints, source_digest=lambda fn: "of it")
    registered.append(entry("compiler", "flydsl.autotune.own", own))  # beside a package that is imported
    assert layers.toolchain_hash() == "own"
    assert layers.ambient_hints() == hints
    assert layers.source_digest(None) == "of it"


def test_nothing_is_in_effect_of_a_compiler_that_nobody_imported(registered):
    registered.append(entry("compiler", "not.imported.tuning"))
    assert layers.ambient_hints() == {}
    assert layers.source_digest(scale) is None


def test_two_of_a_kind_are_refused(registered):
    registered += [entry("compiler", "one"), entry("compiler", "one")]  # one wheel on two paths
    assert layers.ambient_hints() == {}
    layers._entry_point.cache_clear()
    registered.append(entry("compiler", "other"))
    with pytest.raises(RuntimeError, match="several packages offer a compiler to the tuner: one, other"):
        layers.toolchain_hash()


def test_the_key_has_the_model_that_predicts(monkeypatch):
    from flydsl.autotune import Config, autotune

    tuned = autotune([Config(BLOCK=64, EACH=1)], key=["n"])(scale)
    arguments = (np.zeros(4, np.float32), np.zeros(4, np.float32), 4), {}
    keys = []
    for model in ("1", "2"):
        monkeypatch.setattr(layers, "prediction_model", lambda model=model: model)
        keys.append(tuned._make_key(*arguments))
    assert keys[0] != keys[1]
