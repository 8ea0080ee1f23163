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
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench"
KERNELS = BENCH.parents[1] / "packages" / "fly-kernels" / "tests"
COMPILER = BENCH.parents[1] / "packages" / "fly-compiler" / "tests"
EM_CUDA = 190  # of the header of an ELF file
MOST_REGISTERS = 168  # of a thread of three warpgroups, before they divide them anew


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


class Spills:
    """{what was compiled: bytes} of all that spills."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def launch(self, name: str, launcher: Any, *arguments: Any) -> None:
        """Compile by a launch, and assemble all of it."""
        import flydsl.compiler as flyc

        assembler = of("cuda_ptxas")
        launcher(*arguments)
        texts = assembler.modules(flyc.compilation_reports()[-1].path)
        assert texts, f"{name}: no PTX"
        for text in texts:
            took, spilled, wrong = assembler.assemble(assembler.find_ptxas(), text)
            assert took, f"{name}: {wrong}"
            if spilled:
                self.found[name] = max(self.found.get(name, 0), spilled)

    def builders(self, columns: int, dtype: str) -> None:
        """All builders of rows and pointwise kernels, but those that refuse so many columns."""
        for name, make in of("test_awkward_shapes").BUILDERS.items():
            try:
                case = make(name, 3, columns, dtype, lambda tensors: tensors)
            except ValueError as refused:
                if "must be a multiple of" not in str(refused):
                    raise
                continue
            self.launch(f"{name}, {columns} columns of {dtype}", case.launch, *case.arguments(), case.count)

    def gated(self, columns: int, dtype: str, *activations: str) -> None:
        """Gated kernels and their backward, with activations that take more registers than those of `builders`."""
        import torch

        from flydsl.kernels.elementwise.gated_kernel import build_gated_bwd_module, build_gated_module

        of_columns = getattr(torch, {"bf16": "bfloat16", "f16": "float16", "f32": "float32"}[dtype])
        x, dy = torch.zeros(3, 2 * columns, dtype=of_columns), torch.zeros(3, columns, dtype=of_columns)
        for one in activations:
            name = f"gated {one}, {columns} columns of {dtype}"
            self.launch(name, build_gated_module(columns, dtype, one), x, dy, 3)
            self.launch(f"backward, {name}", build_gated_bwd_module(columns, dtype, one), dy, x, x, 3)


@pytest.fixture
def spills(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Spills:
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(KERNELS))
    return Spills()


@pytest.mark.parametrize(("columns", "dtype"), [(4096, "bf16"), (16384, "bf16"), (28672, "f32")])
def test_builders(columns: int, dtype: str, spills: Spills) -> None:
    spills.builders(columns, dtype)
    assert spills.found == {}


def test_gated_kernels(spills: Spills) -> None:
    for columns in (14336, 40000):
        spills.gated(columns, "bf16", "gelu")
    assert spills.found == {}


# Where a wave, some, and 1024 threads have a row, even ones and not; held, and too long for that.
LENGTHS = [1, 256, 1000, 1024, 2000, 2048, 4096, 4104, 5120, 6144, 7168, 8190, 8192, 9216, 11008, 12288, 12290, 14336]
LENGTHS += [16383, 16384, 20480, 24001, 28672, 32768, 40000, 65536]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("columns", LENGTHS)
def test_builders_of_other_lengths(columns: int, dtype: str, spills: Spills) -> None:
    """No row kernel spills, of any length and type: tools/dev test integration -m slow -k test_builders_of_other."""
    spills.builders(columns, dtype)
    spills.gated(columns, dtype, "gelu", "gelu_tanh")
    assert spills.found == {}


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
