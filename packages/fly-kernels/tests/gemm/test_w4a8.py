# SPDX-License-Identifier: Apache-2.0
"""The preshuffled GEMM of int8 rows and int4 weights, and how the weights are packed."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from references import Problem

from flydsl.kernels.common.shuffle import shuffle_weight, unshuffle_weight
from flydsl.kernels.gemm.int4_weights import pack_int4, pack_int4_pairs, unpack_int4, unpack_int4_pairs
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8


def problem_of(shape, out_dtype, arch):
    """An int8 problem whose weights are int4, every value of them there."""
    problem = Problem(*shape, "int8", out_dtype, arch=arch)
    problem.b = torch.randint(-8, 8, problem.b.shape, generator=torch.Generator().manual_seed(1)).to(torch.int8)
    total = problem.a.double() @ problem.b.double().t()
    scales = problem.scale_a.double()[:, None] * problem.scale_b.double()[None]
    problem.expected = total * scales
    half = 2.0**-11 if out_dtype == "fp16" else 2.0**-8
    problem.error = problem.expected.abs() * (half + 2.0**-20) + 2.0**-24
    return problem


@pytest.mark.parametrize(
    ("shape", "tiles", "out_dtype", "options"),
    [
        ((33, 128, 512), (32, 128, 128), "fp16", {}),
        ((64, 256, 512), (64, 256, 128), "bf16", {"lds_stage": 1, "use_cshuffle_epilog": True}),
        ((5, 64, 2048), (16, 64, 512), "bf16", {"use_cshuffle_epilog": True}),
        ((130, 128, 640), (128, 128, 128), "fp16", {"enable_scheduler": False}),
    ],
)
def test_against_exact_integers(run, arch, shape, tiles, out_dtype, options):
    problem = problem_of(shape, out_dtype, arch)
    tile_m, tile_n, tile_k = tiles
    exe = compile_preshuffle_gemm_a8(
        M=shape[0], N=shape[1], K=shape[2], tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype="int4",
        **options,
    )  # fmt: skip
    c = problem.output().view(-1)
    packed = pack_int4(shuffle_weight(problem.b))
    assert packed.numel() * 2 == problem.b.numel()
    flat = [one.view(-1) for one in (problem.a, packed, problem.scale_a, problem.scale_b)]
    run(exe, c, *flat, shape[0], shape[1], writes=[c])
    problem.check(c.view(shape[0], shape[1]))


def test_with_a_bias(run, arch):
    """By the builder whose epilogues have one."""
    problem = problem_of((33, 128, 512), "bf16", arch)
    launch = compile_preshuffle_gemm(
        N=128, K=512, tile_m=32, tile_n=128, tile_k=128, in_dtype="int4", epilogue="bias_relu"
    )
    c, bias = problem.output(), (torch.randn(128) * 1000).bfloat16()
    packed = pack_int4(shuffle_weight(problem.b))
    run(launch, c, problem.a, packed, problem.scale_a, problem.scale_b, bias, 33, 128, writes=[c])
    problem.expected = (problem.expected + bias.double()).clamp(min=0)
    problem.error = problem.error + problem.expected * 2.0**-8 + 2.0**-8
    problem.check(c)


def test_output_that_is_asked_for(run, arch):
    problem = problem_of((16, 64, 256), "fp16", arch)
    numbers = {"M": 16, "N": 64, "K": 256, "tile_m": 16, "tile_n": 64, "tile_k": 256}
    exe = compile_preshuffle_gemm_a8(**numbers, in_dtype="int4", out_dtype="fp16")
    c, operands = problem.output(), (problem.a, pack_int4(shuffle_weight(problem.b)), problem.scale_a, problem.scale_b)
    run(exe, c, *operands, 16, 64, writes=[c])
    problem.check(c)
    with pytest.raises(TypeError, match="argument 'C': expected Float16, got BFloat16"):
        exe(c.bfloat16(), *operands, 16, 64)
    with pytest.raises(ValueError, match="out_dtype 'f32' is not supported"):
        compile_preshuffle_gemm_a8(**numbers, in_dtype="int4", out_dtype="f32")


def test_packing_by_hand():
    packed = pack_int4(np.array([[1, 2, 3, 4, -1, -2, -8, 7]], np.int8))
    assert packed.tolist() == [[-15, -30, -125, 116]]  # 0xf1 0xe2 0x83 0x74
    assert unpack_int4(packed).tolist() == [[1, 2, 3, 4, -1, -2, -8, 7]]


@pytest.mark.parametrize("of", [torch.as_tensor, np.asarray])
def test_unpacking_undoes_packing(of):
    values = of(np.random.default_rng(0).integers(-8, 8, (3, 5, 32)).astype(np.int8))
    assert pack_int4(values).shape == (3, 5, 16)
    assert (unpack_int4(pack_int4(values)) == values).all()


@pytest.mark.parametrize("of", [torch.as_tensor, np.asarray])
def test_pairs_of_neighbours(of):
    packed = pack_int4_pairs(of(np.array([[1, 2, -1, -2, -8, 7]], np.int8)))
    assert packed.tolist() == [[0x21, -17, 0x78]]  # 0x21 0xef 0x78
    values = of(np.random.default_rng(0).integers(-8, 8, (3, 5, 32)).astype(np.int8))
    assert (unpack_int4_pairs(pack_int4_pairs(values)) == values).all()
    with pytest.raises(ValueError, match="K a multiple of 2"):
        pack_int4_pairs(of(np.zeros((1, 3), np.int8)))


def test_packs_of_32_int4():
    values = np.random.default_rng(0).integers(-8, 8, (32, 64)).astype(np.int8)
    stored = shuffle_weight(values, use_int4=True)
    flat = stored.reshape(-1)
    for n in range(32):
        for k in range(64):
            assert flat[n // 16 * 16 * 64 + k // 32 * 512 + n % 16 * 32 + k % 32] == values[n, k]
    assert (unshuffle_weight(stored, use_int4=True) == values).all()
    with pytest.raises(ValueError, match="use_int4 takes int4 values as int8"):
        shuffle_weight(values.astype(np.int16), use_int4=True)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (torch.zeros(2, 12, dtype=torch.int8), "K a multiple of 8"),
        (torch.zeros(2, 16), "expected int8, got torch.float32"),
        (torch.full((1, 8), 8, dtype=torch.int8), "from 8 to 8, int4 has -8 to 7"),
    ],
)
def test_refusals(weight, said):
    with pytest.raises(ValueError, match=said):
        pack_int4(weight)


def test_the_example_of_the_page():
    page = Path(__file__).parents[4] / "docs" / "kernels" / "gemm.md"
    (block,) = [
        one for one in re.findall(r"```python\n(.*?)```", page.read_text(), re.S) if "import pack_int4\n" in one
    ]
    names = {}
    exec(compile(block, str(page), "exec"), names)
    expected = (names["a"].double() @ names["w"].double().t()) * names["scale_a"][:, None] * names["scale_b"]
    assert ((names["c"].double() - expected).abs() <= expected.abs() * 2.0**-7).all()
