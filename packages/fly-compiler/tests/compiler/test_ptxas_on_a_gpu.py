# SPDX-License-Identifier: Apache-2.0
"""`FLYDSL_PTXAS` with NVIDIA's assembler: the driver runs its code, and does not compile PTX."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.runtime.device import get_rocm_arch

PROGRAM = """
import torch
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = fx.Float32(fx.thread_idx.x)

@flyc.jit
def launch(x: fx.Tensor, stream: fx.Stream = None):
    kernel(x).launch(grid=(1,), block=(64,), stream=stream)

x = torch.full((64,), torch.nan, device="cuda")
launch(x)
assert torch.equal(x.cpu(), torch.arange(64.0))
print("it runs")
"""


def assembler():
    """NVIDIA's ptxas: that of the machine, or the one that comes with Triton."""
    if found := shutil.which("ptxas"):
        return found
    triton = importlib.util.find_spec("triton")
    within = triton and Path(triton.origin).parent / "backends" / "nvidia" / "bin" / "ptxas"
    return str(within) if within and within.exists() else None


@pytest.mark.skipif(get_rocm_arch() != "sm_90a", reason="there is no Hopper GPU")
@pytest.mark.parametrize("assembled", [True, False], ids=["machine-code", "ptx"])
def test_the_driver_takes_machine_code(tmp_path, assembled):
    """The driver may compile nothing: what is PTX alone then fails, by which it is known that this does forbid it."""
    program = assembler()
    if program is None:
        pytest.skip("there is no ptxas, neither on PATH nor of Triton's")
    environment = os.environ | {"CUDA_DISABLE_PTX_JIT": "1", "FLYDSL_RUNTIME_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("FLYDSL_PTXAS", None)
    if assembled:
        environment["FLYDSL_PTXAS"] = program
    (tmp_path / "program.py").write_text(PROGRAM)
    said = subprocess.run(
        [sys.executable, tmp_path / "program.py"], env=environment, capture_output=True, text=True, timeout=120
    )
    assert ("it runs" in said.stdout) == assembled, said.stderr
    if not assembled:
        assert "CUDA_ERROR" in said.stderr
