# SPDX-License-Identifier: Apache-2.0
"""The autotuner as code written for earlier generations of the language uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config, autotune, do_bench, variables
from flydsl.utils import env


@flyc.kernel
def vector_add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, block_dim: fx.Constexpr[int], vec_width: fx.Constexpr[int]):
    tile = block_dim * vec_width
    here = (None, fx.block_idx.x)
    a, b, c = (fx.slice(fx.logical_divide(t, fx.make_layout(tile, 1)), here) for t in (A, B, C))
    a, b, c = (fx.logical_divide(t, fx.make_layout(vec_width, 1)) for t in (a, b, c))
    mine = (None, fx.thread_idx.x)
    atom = fx.make_copy_atom(fx.UniversalCopy(32 * vec_width), fx.Float32)
    x, y = fx.make_rmem_tensor(vec_width, fx.Float32), fx.make_rmem_tensor(vec_width, fx.Float32)
    fx.copy_atom_call(atom, fx.slice(a, mine), x)
    fx.copy_atom_call(atom, fx.slice(b, mine), y)
    fx.memref_store_vec(fx.memref_load_vec(x) + fx.memref_load_vec(y), y)
    fx.copy_atom_call(atom, y, fx.slice(c, mine))


@autotune(
    configs=[
        Config(block_dim=64, vec_width=1),
        Config(block_dim=64, vec_width=4),
        Config(block_dim=128, vec_width=2, num_warps=2, waves_per_eu=2),
        Config(block_dim=256, vec_width=4, maxnreg=128),
    ],
    key=["const_n"],
    warmup=5,
    rep=25,
)
@flyc.jit
def add(
    A: fx.Tensor,
    B: fx.Tensor,
    C: fx.Tensor,
    n: fx.Int32,
    const_n: fx.Constexpr[int],
    block_dim: fx.Constexpr[int],
    vec_width: fx.Constexpr[int],
    stream: fx.Stream = fx.Stream(None),
):
    tile = block_dim * vec_width
    grid = ((n + tile - 1) // tile, 1, 1)
    vector_add(A, B, C, block_dim, vec_width).launch(grid=grid, block=(block_dim, 1, 1), stream=stream)


def test_the_first_call_tunes_and_later_ones_use_the_best(capsys):
    n = 4096
    a, b, c = torch.randn(n), torch.randn(n), torch.full((n,), torch.nan)
    add(a, b, c, n, n)
    assert torch.equal(c, a + b)
    said = capsys.readouterr().out
    assert said.count("FAILED") == 0
    assert "[autotune] tuning 4 configs..." in said
    assert "[autotune] best: " in said
    c.fill_(torch.nan)
    add(a, b, c, n, n)
    assert torch.equal(c, a + b)
    assert capsys.readouterr().out == ""


def test_do_bench_gives_the_median_in_milliseconds():
    n = 1024
    a, b, c = torch.randn(n), torch.randn(n), torch.empty(n)
    milliseconds = do_bench(lambda: add(a, b, c, n, n), warmup=5, rep=25)
    assert isinstance(milliseconds, float)
    assert 0 < milliseconds < 1000


@pytest.mark.parametrize("name", ["num_warps", "waves_per_eu", "maxnreg"])
def test_compile_options(name):
    n = 1024
    a, b, c = torch.randn(n), torch.randn(n), torch.empty(n)
    tuned = autotune(configs=[Config(block_dim=64, vec_width=4, **{name: 2 if name != "maxnreg" else 64})])(add.fn)
    tuned(a, b, c, n, n)
    assert torch.equal(c, a + b)


def test_results_are_under_the_home_folder(monkeypatch):
    monkeypatch.delenv("FLYDSL_AUTOTUNE_CACHE_DIR")
    assert variables.CACHE_DIR.get() == Path("~/.flydsl/autotune").expanduser()


def test_settings_are_found_without_importing_the_tuner():
    code = "from flydsl.utils import env; print(env.autotune.config_dir)"
    environment = {**os.environ, "FLYDSL_AUTOTUNE_CONFIG_DIR": "shipped"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout == "shipped\n", done.stderr


def test_settings_are_listed(monkeypatch):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "on")
    assert env.autotune.enabled is True
    assert env.autotune.config_dir == ""
    assert "FLYDSL_AUTOTUNE_CACHE_DIR" in env.autotune.help()
    assert set(env.autotune.to_dict()) == {"enabled", "cache_dir", "config_dir"}


def test_names_of_the_package_itself():
    from flydsl import Config, autotune
    from flydsl.autotune import Config as of_module
    from flydsl.autotune import autotune as decorator

    assert Config is of_module
    assert type(autotune(configs=[Config(n=1)])) is type(decorator(configs=[Config(n=1)]))
