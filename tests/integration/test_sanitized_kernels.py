# SPDX-License-Identifier: Apache-2.0
"""What CUDA's sanitizers look at on a Hopper GPU is every kernel that there is for it; how launches are kept.

The sanitizers run there (`tools/dev test --device cuda`). Here it is found that no operator, builder or function of a
kernel is left out, and launches are kept and repeated on the emulator.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import flydsl.kernels as kernels
from flydsl.kernels.gemm.config import GemmConfig

ROOT = Path(__file__).resolve().parents[2]
SETUP, BENCH = ROOT / "tools" / "setup", ROOT / "tools" / "bench"
sys.path[:0] = [str(BENCH)]

import cuda_attention  # noqa: E402
import cuda_gemm  # noqa: E402
import cuda_launches  # noqa: E402
import cuda_sanitize  # noqa: E402

TILES = {"N": 256, "K": 256, "tile_m": 64, "tile_n": 64, "tile_k": 128}

# -- what is looked at -------------------------------------------------------------------------------------------------

# Builders of AMD's kernels, with arguments that they take there, and with which they are refused for Hopper.
REFUSED = {
    "attention.flash_attn_gfx950.build_flash_attn_dualwave_swp_module": {
        "num_heads": 4,
        "head_dim": 64,
        "causal": True,
    },
    "attention.flash_attn_generic.build_flash_attn_func_module_primary": {"num_heads": 4, "head_dim": 64},
    "flash_attn_func.build_flash_attn_func_module": {"num_heads": 4, "head_dim": 64},
    "gemm.blockscale_preshuffle_gemm.compile_blockscale_preshuffle_gemm": {"M": 64, **TILES},
    "gemm.fp4_gemm_4wave.compile_fp4_gemm_4w": {"K": 256},
    "gemm.fp8_gemm_4wave.compile_fp8_gemm_4w": {"K": 256},
    "gemm.fp8_gemm_8wave.compile_fp8_gemm_8w": {"K": 256},
    **{f"gemm.gemm_fp8fp4_gfx1250.compile_{one}_gemm": {"K": 256} for one in ("a8w4", "mxfp4", "mxfp8", "mxscale")},
    "gemm.hgemm_splitk.compile_hgemm_kernel": {"dtype": "bf16", "n": 256, "k": 256},
    "gemm.preshuffle_gemm.compile_preshuffle_gemm": TILES,
    "gemm.rdna_fp8_preshuffle_gemm.compile_fp8_gemm": {"M": 64, "N": 256, "K": 256},
    "gemm.row_major_gemm.compile_gemm": {
        "N": 256,
        "K": 256,
        "config": GemmConfig(64, 64, 64),
        "in_dtype": "bf16",
        "out_dtype": "bf16",
    },
    "gemm.small_m_hgemm.compile_small_m_hgemm_kernel": {"dtype": "bf16", "n": 256, "k": 256},
    "gemm.wmma_gemm_gfx1250.compile_wmma_gemm_tdm": {"K": 256},
    "preshuffle_gemm.compile_preshuffle_gemm_a8": {"M": 64, **TILES},
    "preshuffle_gemm.compile_preshuffle_gemm_w4": TILES,
    "quant.mx_quant_kernel.build_mx_quant_module": {},
}
# What those above use inside.
INNER = {
    "build_blockscale_gemm", "build_dense", "build_forward", "build_mx_gemm", "build_preshuffle_gemm",
    "build_rowwise_fp8_gemm", "build_scale_words", "build_split_combine", "build_split_forward",
    "build_splitk_reduce", "build_tdm_gemm", "build_tile_gemm",
}  # fmt: skip
# Operators that Hopper has no kernel for, with arguments.
REFUSED_OPERATORS = {
    "grouped_gemm": lambda: (torch.empty(8, 64).half(), torch.empty(2, 16, 64).half(), torch.tensor([0, 1, 8])),
    "mx_quant": lambda: (torch.empty(4, 64), "fp4", "up"),
}


@pytest.fixture(scope="module")
def step() -> tuple[str, str]:
    """The names of the tests whose launches the sanitizers look at, and the text of their files."""
    script = (SETUP / "cuda_run.sh").read_text()
    suites = re.search(r"^kernels=\(\n(.*?)^\)", script, re.MULTILINE | re.DOTALL)
    again = re.search(r'^again="(.*)"', script, re.MULTILINE)
    assert suites is not None
    assert again is not None
    files = subprocess.run(
        ["bash", "-c", f"echo {' '.join(suites[1].split())}"], capture_output=True, text=True, check=True
    ).stdout.split()
    packages = ROOT / "packages"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-k", f"not ({again[1]})",
            *files,
        ],
        cwd=packages, env={**os.environ, "FLYDSL_GPU_ARCH": "sm_90a", "COMPILE_ONLY": "1", "FLYDSL_TEST_ONE_OF": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    names = [line for line in done.stdout.splitlines() if "::" in line]
    tests = {packages / "fly-kernels" / line.partition("::")[0] for line in names}
    return "\n".join(names), "\n".join(path.read_text() for path in sorted(tests))


def builders() -> dict[str, str]:
    """{name: module} of all functions of the package that build launchers."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(kernels.__path__, "flydsl.kernels."):
        if ".operators" not in module.name:
            for name, value in vars(importlib.import_module(module.name)).items():
                if name.startswith(("build_", "compile_")) and callable(value):
                    found.setdefault(name, value.__module__)
    return found


def is_word(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def test_every_builder_is_looked_at_or_refused(step: tuple[str, str]) -> None:
    names, text = step
    products = inspect.getsource(cuda_gemm) + inspect.getsource(cuda_attention)
    looked = {name for name in builders() if is_word(name, names) or f"{name}(" in text or f"{name}(" in products}
    refused = {path.rpartition(".")[2] for path in REFUSED}
    assert set(builders()) - looked - refused - INNER == set()
    assert (refused | INNER) <= set(builders())
    assert {"compile_hopper_gemm", "compile_hopper_attention", "build_gqa_attn", "build_softmax_module"} <= looked


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_not_looked_at_there_is_not(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    module, _, name = path.rpartition(".")
    build = getattr(importlib.import_module(f"flydsl.kernels.{module}"), name)
    with pytest.raises((ValueError, RuntimeError), match="sm_90a"):
        build(**REFUSED[path])


def test_every_operator_is_looked_at_or_refused(step: tuple[str, str]) -> None:
    names, text = step
    looked = {name for name in kernels.OPERATORS if re.search(rf"\[(.*-)?{name}(-.*)?\]", names) or f".{name}(" in text}
    assert set(kernels.OPERATORS) - looked <= set(REFUSED_OPERATORS)


@pytest.mark.parametrize("name", REFUSED_OPERATORS)
def test_an_operator_that_is_not_looked_at_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with pytest.raises((ValueError, RuntimeError), match="sm_90a"):
        getattr(kernels, name)(*REFUSED_OPERATORS[name]())


def test_functions_that_are_left_out_are_those_of_builders_that_are_refused() -> None:
    found = cuda_sanitize.kernel_functions(Path(kernels.__path__[0]))
    assert set(cuda_sanitize.NOT_ON_HOPPER) <= found
    assert {"norm.forward:norm_kernel", "gemm.hopper_gemm:gemm_tiles"} <= found
    known = {path.rpartition(".")[0] for path in REFUSED} | {builders()[name].split("kernels.")[1] for name in INNER}
    assert {one.partition(":")[0] for one in cuda_sanitize.NOT_ON_HOPPER} <= known
    assert found - set(cuda_sanitize.NOT_ON_HOPPER) == cuda_sanitize.wanted_functions()


# -- launches that are kept --------------------------------------------------------------------------------------------

SUITE = """
import torch, flydsl.kernels as kernels
from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_module

def test_rows():
    x = torch.randn(3, 40)
    assert kernels.softmax(x[:0]).shape == (0, 40)  # which launches nothing
    assert kernels.fused_add_rmsnorm(x, x, torch.rand(40))[0].shape == (3, 40)
    assert (kernels.softmax(x).sum(1) - 1).abs().max() < 1e-5

def test_sums_that_are_added_to():
    x, w, dx, dw = torch.randn(3, 40), torch.rand(40), torch.empty(3, 40), torch.ones(40)
    build_rmsnorm_bwd_module(40, "f32")(x, w, x, torch.rand(3), dx, dw, 3)
    twice = dw.clone()
    build_rmsnorm_bwd_module(40, "f32")(x, w, x, torch.rand(3), dx, dw, 3)
    assert not torch.equal(dw, twice)

def test_one_that_launches_nothing():
    assert kernels.relu(torch.empty(0, 3)).shape == (0, 3)
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Launches of SUITE on the emulator, by the beginning of their names."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "test_suite.py").write_text(SUITE)
    code = "import cuda_plugin, pytest, sys; cuda_plugin.DEVICE = 'cpu'; sys.exit(pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [
            sys.executable, "-c", code, "-p", "cuda_plugin", "-p", "no:cacheprovider", "--record-launches", "launches",
            "test_suite.py",
        ],
        cwd=folder, env={**os.environ, "PYTHONPATH": f"{SETUP}{os.pathsep}{SETUP.parent}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {"": folder / "launches"} | {
        path.name.rpartition("-")[0]: path for path in cuda_launches.launches(folder / "launches")
    }


def test_each_kernel_is_kept_once(kept: dict[str, Path]) -> None:
    assert sorted(kept) == ["", "fused_add_rmsnorm_rstd", "rmsnorm_bwd", "softmax"]
    found = cuda_launches.kernel_functions(kept[""])
    assert {place.partition(":")[2]: len(names) for place, names in found.items()} == {
        "norm_kernel": 1, "norm_bwd_kernel": 1, "softmax_kernel": 1,
    }  # fmt: skip
    assert "norm.forward:norm_kernel" not in cuda_sanitize.missing_of(kept[""])
    assert "elementwise.pointwise_kernel:pointwise_kernel" in cuda_sanitize.missing_of(kept[""])


def test_what_is_only_written_has_no_bytes_before(kept: dict[str, Path]) -> None:
    backward = cuda_launches.Launch.load(kept["rmsnorm_bwd"])
    # x, which is dy too; the weights; rstd; dx, and the sums, which are added to.
    assert [one.before is not None for one in backward.storages] == [True, True, True, False, True]
    assert [one.after is not None for one in backward.storages] == [False, False, False, True, True]
    x, residual = cuda_launches.Launch.load(kept["fused_add_rmsnorm_rstd"]).arguments[:2]
    assert x == residual  # one memory


def test_launches_repeat_what_they_did(kept: dict[str, Path]) -> None:
    for name, path in kept.items():
        if name:
            launch = cuda_launches.Launch.load(path)
            assert launch.exact
            assert launch.run("cpu") is None
    backward = cuda_launches.Launch.load(kept["rmsnorm_bwd"]).storages
    assert [bool(one.after[1].any()) for one in backward if one.after is not None] == [True, False]
    launch = cuda_launches.Launch.load(kept["softmax"])
    launch.storages[0].before = torch.zeros_like(launch.storages[0].before)
    assert "bytes of piece 1, of 480, are not as they were" in (launch.run("cpu") or "")
