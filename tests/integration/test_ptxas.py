# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's ptxas makes of the kernels for Hopper, without a GPU: no spills, no products one after the other.

ptxas comes from where `tools/bench/cuda_ptxas.py` finds it, at last from the Python index. With `-m slow` all
configurations of products and attention are assembled.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench"
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


def test_attention(tmp_path: Path) -> None:
    check_attention(tmp_path, "attention-bf16-64-causal-1-default")


# The norms bound their registers, so that many workgroups fit.
ROWS = [("softmax", "bf16", 4096)] + [("layernorm", "f16", columns) for columns in (1024, 2048, 3584, 4096, 32768)]


@pytest.mark.parametrize(("operation", "dtype", "columns"), ROWS)
def test_rows(operation: str, dtype: str, columns: int, tmp_path: Path) -> None:
    bench = of("cuda")
    assert bench.pack(tmp_path, f"{operation}-{dtype}-{columns}") == 0
    for artifact in tmp_path.glob("*.so"):
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
    monkeypatch.setenv("FLYDSL_PTXAS", os.fspath(ptxas))
    name = of("cuda_gemm").names()[0]
    with pytest.raises(AssertionError, match=f"{name}: 168 registers, 8 bytes spilled"):
        check_products(tmp_path, name)
    assert "cuda_gemm" in sys.modules
