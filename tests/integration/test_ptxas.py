# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's ptxas makes of the kernels for Hopper, without a GPU: no spills, no products one after the other.

ptxas comes from where `tools/bench/cuda_ptxas.py` finds it, at last from the Python index. With `-m slow` all
configurations of products and attention are assembled.
"""

from __future__ import annotations

import importlib
import itertools
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench"
KERNELS = BENCH.parents[1] / "packages" / "fly-kernels" / "tests"
COMPILER = BENCH.parents[1] / "packages" / "fly-compiler" / "tests"
EM_CUDA = 190  # of the header of an ELF file
MOST_REGISTERS = 168  # of a thread of three warpgroups, before they divide them anew
# What is known to spill: the backward of norms, quantised norms and gated kernels, of rows of so many columns, up to so
# many bytes a thread.
LONG_ROWS, MOST_SPILLED = 8192, 512


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled for sm_90a."""
    monkeypatch.delenv("ARCH", raising=False)
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    monkeypatch.syspath_prepend(str(BENCH))


def of(name: str) -> ModuleType:
    return importlib.import_module(name)


def check(artifact: Path) -> None:
    """Assemble all that an artifact holds."""
    assembler = of("cuda_ptxas")
    texts = assembler.modules(artifact)
    assert texts, f"{artifact.stem}: no PTX"
    for text in texts:
        took, spilled, wrong = assembler.assemble(assembler.find_ptxas(), text)
        assert not wrong, f"{artifact.stem}: {wrong}"
        assert spilled == 0, f"{artifact.stem}: {took}"
        counts = [int(one) for one in re.findall(r"(\d+) registers", took)]
        assert counts, f"{artifact.stem}: {took}"
        assert max(counts) <= MOST_REGISTERS, f"{artifact.stem}: {took}"


def check_products(folder: Path, *names: str) -> None:
    for name in names:
        of("cuda_gemm")._compile((name, folder / f"{name}.so"))
        check(folder / f"{name}.so")


def check_attention(folder: Path, *names: str) -> None:
    attention = of("cuda_attention")
    for name in names:
        attention._compile((attention.Case.of(name), folder / f"{name}.so"))
        check(folder / f"{name}.so")


def test_products(tmp_path: Path) -> None:
    check_products(tmp_path, "gemm-bf16-256x4", "gemm-fp8-bf16-scaled")


@pytest.mark.parametrize("what", ["bf16", "f16 in f16", "tf32 short", "i8", "e4m3 with e5m2", "both", "C along M"])
def test_products_of_warps(what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(KERNELS))
    monkeypatch.syspath_prepend(str(KERNELS / "gemm"))
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path))
    import flydsl.compiler as flyc

    of("warp_gemm_cases").program(what)
    check(flyc.compilation_reports()[-1].path)


def test_attention(tmp_path: Path) -> None:
    check_attention(tmp_path, "attention-bf16-64-causal-1-default")


# The norms bound their registers, so that many workgroups fit.
ROWS = [("softmax", "bf16", columns) for columns in (4096, 28672, 30728)] + [
    ("layernorm", "f16", columns) for columns in (1024, 2048, 3584, 4096, 7176, 11008, 14344, 30728, 32768)
]


@pytest.mark.parametrize(("operation", "dtype", "columns"), ROWS)
def test_rows(operation: str, dtype: str, columns: int, tmp_path: Path) -> None:
    bench = of("cuda")
    assert bench.pack(tmp_path, f"{operation}-{dtype}-{columns}") == 0
    for artifact in tmp_path.glob("*.so"):
        check(artifact)


def spilled_by(monkeypatch: pytest.MonkeyPatch, cache: Path, *points: tuple[int, str]) -> dict[tuple[str, int], int]:
    """{builder and columns: the most bytes} of all builders of rows and pointwise kernels, for columns and types."""
    import flydsl.compiler as flyc

    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(cache))
    monkeypatch.syspath_prepend(str(KERNELS))
    assembler, builders = of("cuda_ptxas"), of("test_awkward_shapes").BUILDERS
    found: dict[tuple[str, int], int] = {}
    for name, (columns, dtype) in itertools.product(builders, points):
        case = builders[name](name, 3, columns, dtype, lambda tensors: tensors)
        case.launch(*case.arguments(), case.count)
        texts = assembler.modules(flyc.compilation_reports()[-1].path)
        assert texts, f"{name}: no PTX"
        for text in texts:
            took, spilled, wrong = assembler.assemble(assembler.find_ptxas(), text)
            assert took, f"{name}, {columns} columns of {dtype}: {wrong}"
            found[name, columns] = max(found.get((name, columns), 0), spilled)
    return {one: spilled for one, spilled in found.items() if spilled}


def test_builders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert spilled_by(monkeypatch, tmp_path, (4096, "bf16")) == {}


@pytest.mark.slow
def test_builders_of_other_lengths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where 1024 threads share a row each has 64 registers, in which some hold too much."""
    columns = (1000, 1024, 2048, 5120, 8192, 12288, 16384, 40000)
    found = spilled_by(monkeypatch, tmp_path, *itertools.product(columns, ("bf16", "f16", "f32")))
    assert max(found.values()) <= MOST_SPILLED
    short = {one for one in found if one[1] < LONG_ROWS or not re.search("_bwd_|quant|gated", one[0])}
    assert short == set()


def test_asynchronous_copies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By threads, of all widths, and reductions by the copy engine: what the compiler's tests run on a GPU."""
    import torch

    import flydsl.compiler as flyc

    monkeypatch.syspath_prepend(str(COMPILER / "expr" / "run"))
    kernels = of("hopper_copies")
    for bits, by_barrier in itertools.product((32, 64, 128), (False, True)):
        x, y = torch.zeros(77, 304), torch.zeros(80, 320)
        artifact = tmp_path / f"copies-{bits}-{by_barrier}.so"
        flyc.compile.only(kernels.reverse_rows, x, y, 77, 304, bits, (3, 4, 3), by_barrier).export(artifact)
        check(artifact)
    sums = (torch.float32, torch.bfloat16, torch.int32)
    for kind, dtype in [("add", one) for one in sums] + [("max", torch.float16), ("min", torch.int64)]:
        x, y = torch.zeros((9, 37, 40), dtype=dtype), torch.zeros((37, 40), dtype=dtype)
        artifact = tmp_path / f"{kind}-{dtype}.so"
        flyc.compile.only(kernels.reduce_all, x, y, 9, kind).export(artifact)
        check(artifact)


@pytest.mark.slow
def test_all_products(tmp_path: Path) -> None:
    check_products(tmp_path, *of("cuda_gemm").names())


@pytest.mark.slow
def test_all_attention(tmp_path: Path) -> None:
    check_attention(tmp_path, *(case.name for case in of("cuda_attention").cases(tuned=True)))


def test_what_ptxas_finds_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ptxas that says that it spilled."""
    ptxas = tmp_path / "ptxas"
    ptxas.write_text('#!/bin/sh\necho "Used 168 registers, 8 bytes spill stores"\n')
    ptxas.chmod(0o755)
    name = of("cuda_gemm").names()[0]
    of("cuda_gemm")._compile((name, tmp_path / f"{name}.so"))
    monkeypatch.setenv("FLYDSL_PTXAS", os.fspath(ptxas))
    with pytest.raises(AssertionError, match=f"{name}: 168 registers, 8 bytes spilled"):
        check(tmp_path / f"{name}.so")
    assert "cuda_gemm" in sys.modules


def test_machine_code_in_an_artifact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiler has the real ptxas make lies ahead of the PTX."""
    import torch

    import flydsl.compiler as flyc
    from flydsl.kernels.softmax_kernel import build_softmax_module

    monkeypatch.setenv("FLYDSL_PTXAS", os.fspath(of("cuda_ptxas").find_ptxas()))
    x = torch.empty(64, 1024)
    artifact = tmp_path / "softmax.so"
    flyc.compile.only(build_softmax_module(1024, "f32"), x, x, 64, None).export(artifact)
    data = artifact.read_bytes()
    (code,) = [at for at in range(1, len(data)) if data.startswith(b"\x7fELF", at)]  # the artifact is one, too
    assert int.from_bytes(data[code + 18 : code + 20], "little") == EM_CUDA
    assert b".text.softmax_f32_1024" in data[code : data.index(b"// Generated by LLVM NVPTX", code)]
    check(artifact)
