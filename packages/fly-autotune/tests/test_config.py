# SPDX-License-Identifier: Apache-2.0
"""`Config`: what it passes on, and the way to a dict and back."""

import pytest

from flydsl.autotune import Config


def test_arguments_and_options():
    config = Config(BLOCK=64, vec_width=4, num_warps=2, waves_per_eu=3, maxnreg=128)
    assert config.all_kwargs() == {"BLOCK": 64, "vec_width": 4, "num_warps": 2}
    assert config.compiler_opts() == {"waves_per_eu": 3, "maxnreg": 128}
    assert repr(config) == "Config(BLOCK=64, vec_width=4, num_warps=2, waves_per_eu=3, maxnreg=128)"


def test_what_is_not_set_is_not_there():
    config = Config(BLOCK=64)
    assert config.all_kwargs() == {"BLOCK": 64}
    assert config.compiler_opts() == {}
    assert config.to_dict() == {"BLOCK": 64}
    assert (config.num_warps, config.waves_per_eu, config.maxnreg, config.pre_hook) == (None, None, None, None)


def test_waves_per_eu_of_zero_is_an_option():
    assert Config(waves_per_eu=0).compiler_opts() == {"waves_per_eu": 0}


@pytest.mark.parametrize(
    "config", [Config(), Config(a=1), Config(a="x", num_warps=4), Config(waves_per_eu=2), Config(b=[1, 2], maxnreg=96)]
)
def test_round_trip(config):
    assert Config.from_dict(config.to_dict()) == config
    assert Config.from_dict(config.to_dict()).to_dict() == config.to_dict()


def test_a_hook_is_not_written_down():
    assert Config(a=1, pre_hook=print).to_dict() == {"a": 1}


def test_equal_configs():
    assert Config(a=1) == Config(a=1)
    assert hash(Config(a=1)) == hash(Config(a=1))
    assert Config(a=1) != Config(a=2)
    assert Config(a=1) != Config(a=1, waves_per_eu=1)
    assert Config(a=1) != {"a": 1}


def test_positional_arguments():
    with pytest.raises(TypeError, match="positional"):
        Config(64)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"num_warps": 1.5}, TypeError, r"Config\(num_warps=\.\.\.\) is an integer, got float"),
        ({"num_warps": True}, TypeError, "got bool"),
        ({"num_warps": 0}, ValueError, "expected at least 1"),
        ({"maxnreg": -1}, ValueError, r"maxnreg=-1"),
        ({"pre_hook": 3}, TypeError, "pre_hook"),
    ],
)
def test_wrong_options(arguments, error, text):
    with pytest.raises(error, match=text):
        Config(**arguments)


@pytest.mark.parametrize("written", [None, 3, [("a", 1)], {1: 2}, {"pre_hook": None}])
def test_what_is_no_configuration(written):
    with pytest.raises(TypeError, match="configuration"):
        Config.from_dict(written)
