# SPDX-License-Identifier: Apache-2.0
"""GEMMs of random shapes, types, tiles, options and orders of waves."""

import functools
import re

import pytest
from references import Problem

from flydsl.kernels.gemm.gemm_a16w16_gfx950 import gemm_a16w16
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm

pytestmark = pytest.mark.fuzz
# Reasons for which a builder may refuse what is drawn here.
REFUSALS = re.compile("registers|LDS|no multiple of the 4096|swizzle of 8-bit")


def test_preshuffled(run, draws, arch):
    built = 0
    for seed, choose in draws:
        in_dtype = choose.choice(["fp16", "bf16", "fp8", "int8"])
        size = 2 if in_dtype in ("fp16", "bf16") else 1
        tiles = {
            "tile_m": 16 * choose.randrange(1, 11),
            "tile_n": choose.choice([64, 128, 192, 256]),
            "tile_k": choose.choice([64, 128, 192, 256, 512]) // size,
        }
        shape = (
            draws.length(choose, 200),
            tiles["tile_n"] * choose.randrange(1, 3),
            tiles["tile_k"] * choose.randrange(1, 6),
        )
        options = {
            "out_dtype": choose.choice(["bf16", "fp16"]),
            "epilogue": choose.choice(["none", "none", "bias", "bias_relu", "bias_silu", "bias_gelu"]),
            "lds_stage": choose.choice([1, 2]),
            "enable_scheduler": choose.random() < 0.8,
            "use_async_copy": arch == "gfx950" and choose.random() < 0.4,
            "xcd_swizzle": choose.choice([0, 0, 2]),
            "waves_per_eu": choose.choice([None, None, 1, 2]),
            "preload": choose.choice([None, None, (2, 1)]),
        }
        said = f"seed {seed}: {shape} {in_dtype} {tiles} {options}"
        problem = Problem(*shape, in_dtype, options["out_dtype"], arch=arch, epilogue=options["epilogue"], seed=seed)
        try:
            launch = compile_preshuffle_gemm(N=shape[1], K=shape[2], in_dtype=in_dtype, **tiles, **options)
        except ValueError as error:
            if not REFUSALS.search(str(error)):
                raise AssertionError(said) from error
            continue
        built += 1
        try:
            c = problem.output()
            run(launch, *problem.arguments(c), writes=[c], seeds=draws.orders(choose))
            problem.check(c)
        except Exception as error:
            raise AssertionError(said) from error
    assert built or draws.count < 10


def test_row_major(run, draws, arch):
    """What the default configuration makes of any shape."""
    for seed, choose in draws:
        dtype = choose.choice(["fp16", "bf16"])
        shape = (draws.length(choose, 150), 4 * draws.length(choose, 60), 32 * draws.length(choose, 40))
        problem = Problem(*shape, dtype, dtype, arch=arch, seed=seed)
        out = problem.output()
        try:
            multiply = functools.partial(gemm_a16w16, problem.a, problem.b.t(), out)
            run(multiply, writes=[out], seeds=draws.orders(choose))
            problem.check(out)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {shape} {dtype}") from error
