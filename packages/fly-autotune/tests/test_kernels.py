# SPDX-License-Identifier: Apache-2.0
"""The tuner over `@flyc.jit`: kernels that run (emulated where there is no GPU), hints that reach the code."""

import json

import numpy as np
import pytest
import torch
from launchers import scale

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config, autotune
from flydsl.autotune.options import waves_for
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.runtime import current_device

N = 5000
# A thread that walks over 16 elements one by one waits for memory 16 times.
CONFIGS = [Config(BLOCK=64, EACH=16), Config(BLOCK=256, EACH=1)]
MAKE = {"torch": torch.arange, "numpy": np.arange}


def tensors(framework, n=N):
    x = MAKE[framework](n, dtype=(torch if framework == "torch" else np).float32)
    return x, x * 0 - 1


@pytest.mark.parametrize("framework", ["torch", "numpy"])
def test_the_best_is_found_and_right(framework, capsys):
    tuned = autotune(CONFIGS, key=["n"])(scale)
    x, y = tensors(framework)
    tuned(x, y, N)
    assert (y == 2 * x).all()
    said = capsys.readouterr().out
    assert "[autotune] best: Config(BLOCK=256, EACH=1)" in said
    if current_device().emulated:
        assert all("predicted" in line for line in said.splitlines()[1:])
    y[:] = -1
    tuned(x, y, N)
    assert (y == 2 * x).all()
    assert capsys.readouterr().out == ""
    assert tuned.resolve_config(x, y, n=N) == CONFIGS[1]


def test_a_stream(capsys):
    tuned = autotune(CONFIGS, key=["n"])(scale)
    x, y = tensors("torch")
    tuned(x, y, N, stream=torch.cuda.current_stream() if torch.cuda.is_available() else 0)
    assert torch.equal(y, 2 * x)


def test_results_outlive_the_process(monkeypatch, cache_folder):
    x, y = tensors("torch")
    autotune(CONFIGS, key=["n"])(scale)(x, y, N)
    (entry,) = json.loads((cache_folder / "scale.json").read_text()).values()
    assert entry == {"BLOCK": 256, "EACH": 1}

    def not_called(*_, **__):
        raise AssertionError("this was known")

    autotune(CONFIGS, key=["n"], do_bench=not_called)(scale)(x, y, N)


def test_a_candidate_that_does_not_compile(capsys):
    x, y = tensors("torch")
    tuned = autotune([Config(BLOCK=4096, EACH=1), CONFIGS[1]], key=["n"])(scale)
    tuned(x, y, N)
    assert torch.equal(y, 2 * x)
    assert "[1/2] Config(BLOCK=4096, EACH=1) -> FAILED: " in capsys.readouterr().out


@pytest.fixture
def no_compile_cache(monkeypatch):
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")


def seen_hints(config, **jit_hints):
    """The compile hints that a launcher sees while it is traced (not loaded from disk) under a configuration."""
    seen = []

    @flyc.jit
    def launcher(n: fx.Int32, BLOCK: fx.Constexpr[int]):
        seen.append(dict(CompilationContext.get_compile_hints()))

    launcher.compile_hints.update(jit_hints)
    autotune([config], key=["n"], do_bench=lambda call, **_: call() or 1.0)(launcher)(3)
    return seen[-1]


@pytest.mark.parametrize(
    ("config", "hints"),
    [
        (Config(BLOCK=1), {}),
        (Config(BLOCK=1, waves_per_eu=2), {"waves_per_eu": 2}),
        (Config(BLOCK=1, num_warps=4), {"num_warps": 4}),
        (Config(BLOCK=1, maxnreg=128), {"waves_per_eu": 4}),
        (Config(BLOCK=1, maxnreg=128, waves_per_eu=2), {"waves_per_eu": 4}),
        (Config(BLOCK=1, maxnreg=256, waves_per_eu=6), {"waves_per_eu": 6}),
    ],
)
def test_options_are_compile_hints(config, hints, no_compile_cache):
    assert seen_hints(config) == hints


def test_hints_of_a_configuration_count_more_than_the_functions(no_compile_cache):
    assert seen_hints(Config(BLOCK=1, waves_per_eu=2), waves_per_eu=1, fast_fp_math=True) == {
        "waves_per_eu": 2,
        "fast_fp_math": True,
    }


def test_num_warps_is_an_argument_where_there_is_a_parameter(no_compile_cache):
    seen = []

    @flyc.jit
    def launcher(n: fx.Int32, num_warps: fx.Constexpr[int]):
        seen.append((num_warps, dict(CompilationContext.get_compile_hints())))

    autotune([Config(num_warps=2)], key=["n"], do_bench=lambda call, **_: call() or 1.0)(launcher)(3)
    assert seen == [(2, {})]


def test_waves_per_eu_reaches_the_code():
    x, y = tensors("torch")
    tuned = autotune([Config(BLOCK=64, EACH=1, waves_per_eu=3)], key=["n"])(scale)
    tuned(x, y, N)
    with CompilationContext.compile_hints({"waves_per_eu": 3}):
        assert '"amdgpu-waves-per-eu"="3"' in scale.ir("llvm", x, y, N, 64, 1)
        assert scale.report(x, y, N, 64, 1).origin == "memory"


@pytest.mark.parametrize(
    ("registers", "waves"),
    [(512, 1), (511, 2), (256, 2), (255, 3), (168, 3), (167, 4), (128, 4), (96, 5), (80, 6), (72, 7), (64, 8), (16, 8)],
)
def test_registers_and_waves(registers, waves):
    assert waves_for(registers, "gfx942:sramecc+:xnack-") == waves


def test_registers_of_other_architectures(monkeypatch):
    with pytest.raises(
        ValueError, match=r"maxnreg=64 has no meaning on gfx1201: bound the registers with waves_per_eu"
    ):
        waves_for(64, "gfx1201")
    with pytest.raises(ValueError, match=r"on sm_90a: bound the registers with value_attrs={'nvvm.maxnreg': 64}"):
        waves_for(64, "sm_90a")


def test_the_source_of_a_kernel_counts():
    def make(factor):
        @flyc.kernel
        def k(A: fx.Tensor):
            A[fx.thread_idx.x] = A[fx.thread_idx.x] * factor

        @flyc.jit
        def launcher(A: fx.Tensor, BLOCK: fx.Constexpr[int]):
            k(A).launch(grid=(1,), block=(BLOCK,))

        return autotune([Config(BLOCK=64)])(launcher)

    x = torch.zeros(64)
    keys = [make(factor)._make_key((x,), {}) for factor in (2.0, 2.0, 3.0)]
    assert keys[0] == keys[1] != keys[2]


def test_a_method(capsys):
    class Op:
        factor = 3.0

        @flyc.kernel
        def body(self, A: fx.Tensor, BLOCK: fx.Constexpr[int]):
            i = fx.block_idx.x * BLOCK + fx.thread_idx.x
            A[i] = A[i] * self.factor

        @autotune([Config(BLOCK=64), Config(BLOCK=128)], key=["n"], restore_value=["A"])
        @flyc.jit
        def run(self, A: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
            self.body(A, BLOCK).launch(grid=(n // BLOCK,), block=(BLOCK,))

    x = torch.ones(256)
    Op().run(x, 256)
    assert (x == 3.0).all()
    Op().run(x, 256)
    assert (x == 9.0).all()
