# SPDX-License-Identifier: Apache-2.0
"""Products on Hopper under the tuner: which configurations there are to choose from, and that the best one is taken."""

import json

import pytest
import torch

from flydsl.autotune import Config
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm import dispatch
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.hopper_config import HopperConfig, default_hopper_config, hopper_cuts
from flydsl.kernels.tuning import gemm_problem, hopper_gemm, hopper_gemm_autotune
from flydsl.kernels.tuning.device import operands_in_turn, peak
from flydsl.kernels.tuning.hopper_gemm import (
    hopper_gemm_candidates,
    hopper_gemm_cycles,
    hopper_gemm_estimate,
    hopper_gemm_space,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("hopper")]
PLAIN = Epilogue()
SHAPES = (
    (1, 8, 64), (16, 28672, 4096), (16, 1024, 16384), (32, 11008, 4096), (64, 8192, 8192), (64, 2048, 16384),
    (100, 4096, 4096), (128, 1024, 16384), (192, 8192, 8192), (256, 4096, 4096), (640, 5120, 5120), (1280, 4096, 4096),
    (2304, 2304, 2304), (3000, 3000, 3000), (4096, 4096, 4096), (8192, 28672, 4096),
)  # fmt: skip
EPILOGUES = (
    (PLAIN, "bf16"), (PLAIN, "f32"), (Epilogue(scaled=True), "bf16"), (Epilogue(scaled=True, bias=True), "f32"),
    (Epilogue(bias=True, activation="gelu", residual=True), "bf16"),
)  # fmt: skip


@pytest.mark.parametrize(("epilogue", "out_dtype"), EPILOGUES)
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_candidates_can_be_built_and_begin_with_the_default(m, n, k, epilogue, out_dtype):
    found = hopper_gemm_candidates(m, n, 2 * k, epilogue, out_dtype)
    default = default_hopper_config(m, n, k_bytes=2 * k, epilogue=epilogue, out_dtype=out_dtype)
    assert found[0] == default
    assert len(set(found)) == len(found) <= 160
    for one in found:
        one.check(epilogue, 4 if out_dtype == "f32" else 2)
        assert m <= one.rows or one.rows == 128
        assert one.splits == 1 or not epilogue.residual


def named_of(m, n, k, **values):
    """A call's arguments by name, as constraints and estimate see them."""
    usual = {"in_dtype": "bf16", "out_dtype": "bf16", "scaled": False, "biased": False, "activation": "none"}
    return {**usual, "added": False, "M": m, "N": n, "K": k, **values}


@pytest.mark.parametrize(("m", "n", "k"), SHAPES[1::4])
def test_the_space_has_just_these_and_the_search_begins_with_the_default(m, n, k):
    named, candidates = named_of(m, n, k), hopper_gemm_candidates(m, n, 2 * k, PLAIN, "bf16")
    configs = hopper_gemm_space().configs(named)
    assert {HopperConfig(**one.to_dict()) for one in configs} == set(candidates)
    assert len(configs) == len(candidates)
    first = min(configs, key=lambda one: hopper_gemm_estimate(one, named))
    assert HopperConfig(**first.to_dict()) == candidates[0]


# By measurement (docs/kernels/gemm.md): M, N, K, columns, whether consumers take turns, splits.
KNOWN = (
    (640, 5120, 5120, 112, True, 1), (1280, 4096, 4096, 160, True, 1), (3072, 3072, 3072, 192, True, 1),
    (512, 14336, 4096, 112, True, 1), (384, 12288, 4096, 96, True, 1), (4096, 4096, 4096, 128, True, 1),
    (192, 8192, 8192, 160, True, 1), (3000, 3000, 3000, 256, False, 1), (128, 1024, 16384, 48, False, 4),
    (256, 1024, 16384, 80, False, 4), (128, 2560, 8192, 48, False, 2), (16, 28672, 4096, 112, False, 1),
    (64, 28672, 8192, 112, False, 1), (64, 8192, 8192, 64, False, 1), (32, 11008, 4096, 96, False, 1),
    (16, 14336, 4096, 112, False, 1), (16, 1024, 16384, 64, False, 4),
)  # fmt: skip


@pytest.mark.parametrize(("m", "n", "k", "tile_n", "pingpong", "splits"), KNOWN)
def test_what_is_known_to_be_best_is_kept(m, n, k, tile_n, pingpong, splits):
    found = hopper_gemm_candidates(m, n, 2 * k, PLAIN, "bf16")
    kept = [one for one in found if (one.tile_n, one.pingpong, one.splits) == (tile_n, pingpong, splits)]
    assert kept, "it was pruned"
    # And the estimate puts it among those that a search of a fifth, at least 8, begins with, or near.
    cycles = {one: hopper_gemm_cycles(one, m, n, 2 * k, 2, 2, PLAIN) for one in found}
    assert min(cycles[one] for one in kept) <= 1.35 * min(cycles.values())


def test_stages_are_as_many_as_fit_and_one_less():
    found = hopper_cuts(128, 160, pingpong=True)
    assert [one.stages for one in found] == [5, 4]
    more = HopperConfig(160, 6, store_n=found[0].store_n, store_buffers=1, pingpong=True)
    with pytest.raises(ValueError, match="bytes of shared memory"):
        more.check()
    assert hopper_cuts(128, 256, pingpong=True) == (), "a consumer has no registers for it"
    assert hopper_cuts(128, 64, splits=2, epilogue=Epilogue(residual=True)) == ()


def test_the_order_of_tiles_varies_where_there_are_more_rows_of_them():
    found = {m: hopper_gemm_candidates(m, 8192, 8192, PLAIN, "bf16") for m in (512, 2048, 8192)}
    groups = {m: {one.group_m for one in some} for m, some in found.items()}
    assert groups == {512: {16}, 2048: {16, 8}, 8192: {16, 8, 32}}


def test_peaks_are_those_of_the_data_sheet():
    at, hertz = peak(), 1.83e9
    assert at.units * at.flops * hertz == pytest.approx(989.4e12, rel=1e-3)
    assert at.hbm * hertz == pytest.approx(3.35e12, rel=1e-3)


class Timer:
    """A `do_bench` of a device on which tiles of 96 columns are the fastest and those of 112 do not compile."""

    def __init__(self, monkeypatch):
        self.launched, self.operands = [], []
        monkeypatch.setattr(hopper_gemm, "multiply", self.multiply)

    def multiply(self, a, b, out, *, config, **_):
        if config.tile_n == 112:
            raise ValueError("ptxas does not want it")
        self.launched.append(config)
        self.operands.append((a, b, out))

    def __call__(self, call, warmup, rep):
        call()
        return abs(self.launched[-1].tile_n - 96) + 1.0


@pytest.fixture
def timer(monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "tuned"))
    monkeypatch.delenv("FLYDSL_AUTOTUNE", raising=False)
    return Timer(monkeypatch)


def test_a_problem_finds_the_fastest_and_keeps_it(timer, capsys):
    tuned, arguments = gemm_problem(640, 5120, 512, evaluations=12)
    tuned._do_bench = timer
    best = HopperConfig(**tuned.resolve_config(*arguments).to_dict())
    said = capsys.readouterr().out
    assert best.tile_n == 96
    assert "ptxas does not want it" in said, "what fails is said"
    assert "tuning 'hopper_gemm', 12 of " in said
    count = len(timer.launched)
    again, arguments = gemm_problem(640, 5120, 512, evaluations=12)
    again._do_bench = timer
    assert HopperConfig(**again.resolve_config(*arguments).to_dict()) == best
    assert len(timer.launched) == count, "it was remembered"
    assert any("sm_90a" in part for part in tuned._make_key(arguments, {}))
    tuned(*arguments)
    assert timer.launched[-1] == best


@pytest.mark.parametrize("in_dtype", ["fp8", "int8"])
def test_products_of_8_bits_have_scales(timer, in_dtype):
    tuned, arguments = gemm_problem(64, 256, 256, in_dtype=in_dtype, method="exhaustive")
    tuned._do_bench = timer
    tuned(*arguments)
    out, (first, *_), *rest = arguments
    assert (first["scale_a"].shape, out.dtype, rest[:2]) == ((64,), torch.bfloat16, [in_dtype, "bf16"])


def test_operands_take_turns():
    given = ["a", "b", "c"]
    taken = [operands_in_turn(given) for _ in range(6)]
    assert sorted(taken[:3]) == given
    assert taken[:3] == taken[3:]


def test_without_being_asked_the_product_has_its_default(timer, monkeypatch):
    hopper_gemm_autotune._tuner.cache_clear()
    monkeypatch.setattr(hopper_gemm_autotune._tuner(), "_do_bench", timer)
    a, b, out = torch.empty(1280, 256), torch.empty(4096, 256), torch.empty(1280, 4096)
    a, b, out = (one.bfloat16() for one in (a, b, out))
    assert hopper_gemm_autotune.hopper_gemm_autotuned(a, b, out) is out
    assert timer.launched == [default_hopper_config(1280, 4096, k_bytes=512)]
    assert timer.operands[0][0] is a
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    hopper_gemm_autotune.hopper_gemm_autotuned(a, b, out, bias=torch.empty(4096).bfloat16(), activation="relu")
    assert (found := timer.launched[-1]).tile_n == 80
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "0")
    timer.launched.clear()
    hopper_gemm_autotune.hopper_gemm_autotuned(a, b, out)
    hopper_gemm_autotune.hopper_gemm_autotuned(a, b, out, bias=torch.empty(4096).bfloat16(), activation="relu")
    assert timer.launched == [default_hopper_config(1280, 4096, k_bytes=512), found], "each kind of call has its own"
    hopper_gemm_autotune._tuner.cache_clear()


def test_the_operators_dispatch_takes_a_configuration():
    a, b, out = (torch.empty(shape).bfloat16() for shape in ((64, 128), (128, 128), (64, 128)))
    used = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "_on_hopper", lambda *how: lambda *_: used.append(how[-1]))
        config = HopperConfig(32, 4, rows=64)
        dispatch.multiply(a, b, out, config=config)
        dispatch.multiply(a, b, out)
    assert used == [config, default_hopper_config(64, 128, k_bytes=256)]
    with pytest.raises(ValueError, match="config is a HopperConfig on sm_90a, got a GemmConfig"):
        dispatch.multiply(a, b, out, config=GemmConfig(16, 64, 32))


def test_what_is_measured_is_the_kernel(monkeypatch, tmp_path):
    """Compiled, and not launched: there is no GPU."""
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(tmp_path / "tuned"))
    tuned, arguments = gemm_problem(16, 64, 128, evaluations=1)
    calls = []
    tuned._do_bench = lambda call, warmup, rep: calls.append(call()) or 1.0
    assert HopperConfig(**tuned.resolve_config(*arguments).to_dict()) == default_hopper_config(16, 64, k_bytes=256)
    assert calls == [None]
    dispatch._on_hopper.cache_clear()  # tests of PTX look at what they have compiled


def test_the_configuration_is_what_json_keeps():
    """Results are kept as JSON."""
    for one in hopper_gemm_candidates(640, 5120, 10240, PLAIN, "bf16"):
        values = json.loads(json.dumps(Config(**vars(one)).to_dict()))
        assert HopperConfig(**values) == one
