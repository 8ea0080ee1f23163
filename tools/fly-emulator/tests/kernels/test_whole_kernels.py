# SPDX-License-Identifier: Apache-2.0
"""Whole kernels, compiled by clang, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from flydsl.emulator.device import Emulator, Module

DATA = Path(__file__).parent.parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()


@pytest.fixture
def kernels(build: Callable[..., Module], arch: str) -> Module:
    return build(SOURCE, arch)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000])
def test_vector_add_is_predicated(kernels: Module, n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, n), dtype=np.float32)
    c = np.full(n, np.nan, np.float32)
    kernels.kernel("vector_add")(-(-n // 256), 256, a, b, c, n)
    np.testing.assert_array_equal(c, a + b)


def test_swizzled_copy_transposes(kernels: Module) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2**32, (128, 192), dtype=np.uint32)
    y = np.zeros((192, 128), np.uint32)
    kernels.kernel("swizzled_copy")((3, 2), 256, x, y, 192)
    np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gemm_with_matrix_instructions(emulator: Emulator, kernels: Module, seed: int) -> None:
    rng = np.random.default_rng(3)
    m, n, k = 128, 192, 160
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((n, k)).astype(np.float16)
    c = np.zeros((m, n), np.float32)
    emulator.set_seed(seed)
    kernels.kernel("gemm_f16")((n // 64, m // 64), 256, a, b, c, m, n, k)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=0, atol=2e-5)


@pytest.mark.parametrize("n", [1, 7, 255, 256, 257, 2560, 8191])
@pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
def test_row_softmax(kernels: Module, kind: str, n: int) -> None:
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}[kind]
    rng = np.random.default_rng(n)
    rows = 3
    x = (4 * rng.standard_normal((rows, n + 5))).astype(dtype)
    y = np.zeros_like(x)
    kernels.kernel(f"softmax_{kind}")(rows, 256, x, y, n, n + 5)
    exact = x[:, :n].astype(np.float64)
    exact = np.exp(exact - exact.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    tolerance = {"f32": 2e-6, "bf16": 2**-8, "f16": 2**-10}[kind]
    np.testing.assert_allclose(y[:, :n].astype(np.float64), exact, rtol=tolerance, atol=1e-7)
    assert not y[:, n:].any()


def test_scratch_calls_and_flat_addresses(kernels: Module) -> None:
    out = np.zeros(128, np.int32)
    out[64:] = np.arange(64)
    kernels.kernel("stack")(1, 64, out, 10)
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13]
    for t in range(64):
        i = (t + 1) & 15
        assert out[t] == i * t + (3 if i < 10 else 0) + fibonacci[t & 7] + 5 * t + 7
        assert out[64 + t] == t + 9


def test_results_do_not_depend_on_threads_or_host_instruction_set(
    tmp_path: Path, compile_object: Callable[..., bytes]
) -> None:
    """A GEMM and a softmax in other processes: one thread or four, each host instruction set."""
    image = tmp_path / "kernels.hsaco"
    image.write_bytes(compile_object(SOURCE, "gfx942"))
    program = f"""
import hashlib, numpy as np
from flydsl.emulator.device import Emulator
module = Emulator().load(open({str(image)!r}, "rb").read())
rng = np.random.default_rng(0)
a = rng.standard_normal((128, 64)).astype(np.float16)
c, s = np.zeros((128, 128), np.float32), np.zeros((4, 300), np.float32)
module.kernel("gemm_f16")((2, 2), 256, a, a, c, 128, 128, 64)
module.kernel("softmax_f32")(4, 256, rng.standard_normal((4, 300), dtype=np.float32), s, 300, 300)
print(hashlib.sha256(c.tobytes() + s.tobytes()).hexdigest())
"""
    import os
    import subprocess
    import sys

    results = {}
    for threads, isa in [("1", "baseline"), ("4", "baseline"), ("1", "avx2"), ("4", "avx512")]:
        environment = {**os.environ, "FLYDSL_EMU_THREADS": threads, "FLYDSL_EMU_ISA": isa}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600
        )
        if done.returncode != 0 and "this machine has no such variant" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        results[threads, isa] = done.stdout
    assert len(set(results.values())) == 1, results
