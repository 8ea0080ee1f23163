# SPDX-License-Identifier: Apache-2.0
"""Attention on Hopper under the tuner: which configurations there are to choose from; that the best one is taken."""

import pytest
import torch

from flydsl.kernels.attention.hopper_config import HEAD_DIMS, HopperAttentionConfig, default_hopper_config
from flydsl.kernels.tuning import attention_problem, hopper_attention, hopper_attention_autotune
from flydsl.kernels.tuning.hopper_attention import (
    hopper_attention_candidates,
    hopper_attention_estimate,
    hopper_attention_space,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("hopper")]


@pytest.mark.parametrize("queries", [64, 1024, 8192])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_candidates_can_be_built_and_begin_with_the_default(head_dim, causal, queries):
    found = hopper_attention_candidates(head_dim, causal, queries, queries)
    assert found[0] == default_hopper_config(head_dim, causal, queries)
    assert 2 <= len(set(found)) == len(found) <= 60
    for one in found:
        one.check(head_dim)
    named = {"batch": 2, "heads": 16, "head_dim": head_dim, "causal": causal, "queries": queries, "keys": queries}
    configs = hopper_attention_space().configs(named)
    assert {HopperAttentionConfig(**one.to_dict()) for one in configs} == set(found)
    first = min(configs, key=lambda one: hopper_attention_estimate(one, named))
    assert HopperAttentionConfig(**first.to_dict()) == found[0]


@pytest.mark.parametrize(
    ("head_dim", "config"),
    [(64, (3, 128, 3)), (128, (2, 160, 2)), (128, (2, 176, 2)), (128, (2, 128, 2, False)), (192, (2, 96, 2))],
)
def test_what_was_tried_on_a_gpu_is_there(head_dim, config):
    """`tools/bench/cuda_attention.py` has them."""
    assert HopperAttentionConfig(*config) in hopper_attention_candidates(head_dim, False, 8192, 8192)


def test_there_are_registers_for_all():
    """Three consumers have fewer registers: of heads of 128 no more than 96 keys a tile."""
    found = hopper_attention_candidates(128, False, 8192, 8192)
    assert {one.kv_tile for one in found if one.consumers == 3} == {96, 80, 64}


@pytest.fixture
def timer(monkeypatch, tmp_path):
    """A device on which tiles of `best` keys are the fastest and those of 160 cannot be launched."""
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "tuned"))
    monkeypatch.delenv("FLYDSL_AUTOTUNE", raising=False)
    launched = []

    def built(arch, dtype, head_dim, causal, group, lse, config):
        def launch(q, k, v, out, lse, stream):
            if config.kv_tile == 160:
                raise RuntimeError("CUDA_ERROR_INVALID_VALUE")
            launched.append(((arch, dtype, head_dim, causal, group), config, out))

        return launch

    def bench(call, warmup, rep):
        call()
        return abs(launched[-1][1].kv_tile - bench.best) + 1.0

    bench.launched, bench.best = launched, 144
    monkeypatch.setattr(hopper_attention, "_built", built)
    return bench


def test_a_problem_finds_the_fastest(timer, capsys):
    tuned, arguments = attention_problem(1, 2, 256, 512, 128, causal=True, method="exhaustive")
    tuned._do_bench = timer
    tuned(*arguments)
    what, config, out = timer.launched[-1]
    assert (what, config.kv_tile) == (("sm_90a", "bf16", 128, True, 1), 144)
    assert out.shape == (1, 256, 2, 128)
    assert timer.launched[0][1] == default_hopper_config(128, True, 256)
    assert "FAILED: CUDA_ERROR_INVALID_VALUE" in capsys.readouterr().out


def test_without_being_asked_attention_has_its_default(timer, monkeypatch):
    hopper_attention_autotune._tuner.cache_clear()
    monkeypatch.setattr(hopper_attention_autotune._tuner(), "_do_bench", timer)
    q, k = torch.empty(2, 64, 8, 128).half(), torch.empty(2, 300, 2, 128).half()
    call = hopper_attention_autotune.hopper_attention_autotuned
    out = torch.empty_like(q)
    assert call(q, k, k, out, causal=False) is out
    assert timer.launched == [(("sm_90a", "f16", 128, False, 4), default_hopper_config(128, False, 64), out)]
    timer.best = 80
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    call(q, k, k, out, causal=False)
    found = timer.launched[-1][1]
    assert found != default_hopper_config(128, False, 64)
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "0")
    call(q, k, k, out, causal=False)
    call(q, k, k, out, causal=True)
    assert [one[1] for one in timer.launched[-2:]] == [found, default_hopper_config(128, True, 64)]
    with pytest.raises(ValueError, match="'k' must be contiguous"):
        call(q, k.transpose(1, 2).contiguous().transpose(1, 2), k, out)
    with pytest.raises(ValueError, match="'out' must be of shape"):
        call(q, k, k, out[:1])
    hopper_attention_autotune._tuner.cache_clear()


def test_what_is_measured_is_the_kernel(monkeypatch, tmp_path):
    """Compiled, and not launched: there is no GPU."""
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "tuned"))
    tuned, arguments = attention_problem(1, 2, 64, 64, 64, evaluations=1)
    tuned._do_bench = lambda call, warmup, rep: 1.0 if call() is None else 2.0
    config = HopperAttentionConfig(**tuned.resolve_config(*arguments).to_dict())
    assert config == default_hopper_config(64, False, 64)
