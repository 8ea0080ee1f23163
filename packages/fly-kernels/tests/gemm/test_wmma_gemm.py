# SPDX-License-Identifier: Apache-2.0
"""GEMMs on waves of 32 lanes (gfx1201, gfx1100) against float64, and what their builders refuse anywhere."""

import re
from pathlib import Path

import pytest
import torch
from references import FLOATS, HALF_ULP, Problem

import flydsl.kernels as kernels
from flydsl.kernels.common.defaults import defaults
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm import rdna3_f16_gemm, rdna_f16_gemm
from flydsl.kernels.gemm import rdna3_f16_gemm_autotune as autotune
from flydsl.kernels.gemm.arguments import A_BYTES
from flydsl.kernels.gemm.config import GemmConfig, default_config
from flydsl.kernels.gemm.dispatch import multiply
from flydsl.kernels.gemm.int4_weights import pack_int4_pairs
from flydsl.kernels.gemm.rdna3_int8_gemm import create_wmma_int8_gemm_module
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import (
    compile_fp8_gemm,
    fp8_quantize_per_channel,
    fp8_quantize_per_token,
    preshuffle_b_fp8,
)
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm
from flydsl.kernels.gemm.wmma_gemm import on_wmma
from flydsl.kernels.gemm.wmma_integers import create_wmma_integer_gemm_module


@pytest.fixture
def half(arch):
    """The builder for f16 and bf16 of the target."""
    if arch not in ("gfx1100", "gfx1201"):
        pytest.skip(f"WMMA is RDNA's; the target is {arch}")
    return (rdna_f16_gemm if arch == "gfx1201" else rdna3_f16_gemm).create_wmma_gemm_module


@pytest.fixture
def rdna3(arch):
    if arch != "gfx1100":
        pytest.skip(f"written for gfx1100; the target is {arch}")


@pytest.fixture
def rdna4(arch):
    if arch != "gfx1201":
        pytest.skip(f"written for gfx1201; the target is {arch}")


def tile(reg_m, reg_n, reg_k, waves_m, waves_n):
    return {"reg_m": reg_m, "reg_n": reg_n, "reg_k": reg_k, "waves_m": waves_m, "waves_n": waves_n}


def check(run, build, arch, shape, in_dtype="bf16", out_dtype="bf16", **options):
    problem = Problem(*shape, in_dtype, out_dtype, arch=arch, seed=sum(shape))
    c = problem.output()
    run(build(*shape, in_dtype, out_dtype, **options), c, problem.a, problem.b, writes=[c])
    problem.check(c)


# Rows and columns that no tile divides, one and several blocks of each, one to four blocks of K, two to seven steps.
@pytest.mark.parametrize(
    ("shape", "blocks"),
    [
        ((70, 140, 96), (1, 2, 2, 2, 2)),
        ((33, 72, 224), (2, 1, 2, 1, 2)),
        ((1, 4, 64), (2, 2, 2, 1, 1)),
        ((45, 40, 48), (2, 2, 1, 2, 1)),
        ((40, 64, 192), (1, 4, 4, 2, 1)),
    ],
)
def test_tiles_and_awkward_extents(run, arch, half, shape, blocks):
    check(run, half, arch, shape, **tile(*blocks))


@pytest.mark.parametrize("in_dtype", ["bf16", "fp16"])
@pytest.mark.parametrize("out_dtype", ["fp16", "f32"])
def test_types(run, arch, half, in_dtype, out_dtype):
    check(run, half, arch, (35, 48, 96), in_dtype, out_dtype, **tile(1, 2, 2, 2, 2))


@pytest.mark.parametrize("group_m", [0, 1, 2, 3, 8])
def test_groups_that_do_not_divide_the_row_tiles(run, arch, half, group_m):
    """Five row tiles: the last group is cut off, or no group is full."""
    check(run, half, arch, (150, 104, 64), group_m=group_m, **tile(1, 1, 2, 2, 2))


@pytest.mark.parametrize("pads", [(0, 0), (8, 24)])
def test_pads(run, arch, half, pads):
    check(run, half, arch, (35, 40, 96), a_k_pad=pads[0], b_k_pad=pads[1], **tile(1, 2, 2, 2, 2))


def test_rows_apart_and_what_lies_between_them(run, arch, half):
    problem = Problem(35, 40, 96, "bf16", "bf16", arch=arch)
    wide_a, wide_b = (torch.full((rows, 120), float("nan"), dtype=torch.bfloat16) for rows in (35, 40))
    a, b = wide_a[:, 8:104], wide_b[:, 16:112]
    a.copy_(problem.a)
    b.copy_(problem.b)
    whole = torch.full((35, 64), 7.0, dtype=torch.bfloat16)
    half(35, 40, 96, **tile(1, 2, 2, 2, 2))(whole[:, 16:56], a, b)
    problem.check(whole[:, 16:56])
    assert (whole[:, :16] == 7).all()
    assert (whole[:, 56:] == 7).all()


@pytest.mark.parametrize(
    "options",
    [{"lds_layout": "kblock"}, {"lds_layout": "kblock", "sched_hint": True}, {"sched_hint": True}, {"stagger": 1},
     {"stagger": 5}],
)  # fmt: skip
def test_options_of_rdna3(run, arch, rdna3, options):
    check(run, rdna3_f16_gemm.create_wmma_gemm_module, arch, (70, 136, 96), **tile(1, 2, 2, 2, 2), **options)


def test_flattened_rows_apart(run, arch, rdna3):
    problem = Problem(35, 40, 96, "bf16", "bf16", arch=arch)
    kernel = rdna3_f16_gemm.create_wmma_gemm_module(35, 40, 96, lda=104, ldb=112, ldc=48, **tile(1, 2, 2, 2, 2))
    a, b, c = (torch.full((rows, apart), 3.0).bfloat16() for rows, apart in ((35, 104), (40, 112), (35, 48)))
    a[:, :96], b[:, :96] = problem.a, problem.b
    kernel(c.view(-1), a.view(-1), b.view(-1))
    problem.check(c[:, :40])
    assert (c[:, 40:] == 3).all()
    short = a.view(-1)[: 34 * 104 + 95]
    with pytest.raises(ValueError, match="argument 'A': expected 3632 or more elements, got 3631"):
        kernel(c.view(-1), short, b.view(-1))


@pytest.mark.parametrize("in_dtype", ["int8", "uint8"])
@pytest.mark.parametrize(
    ("shape", "blocks", "options"),
    [((70, 136, 192), (1, 2, 4, 2, 2), {}), ((33, 40, 128), (2, 1, 4, 1, 2), {"lds_layout": "kblock"}),
     ((150, 72, 128), (1, 1, 4, 2, 2), {"stagger": 0, "sched_hint": False, "group_m": 3}),
     ((70, 136, 384), (1, 2, 4, 2, 2), {"split_k": 3}), ((33, 44, 256), (2, 1, 4, 1, 2), {"split_k": 2, "ldc": 44})],
)  # fmt: skip
def test_integers_are_exact(run, rdna3, in_dtype, shape, blocks, options):
    m, n, k = shape
    low, kind = (-128, torch.int8) if in_dtype == "int8" else (0, torch.uint8)
    a, b = (torch.randint(low, low + 256, (rows, k)).to(kind) for rows in (m, n))
    a[0], b[0] = low, low  # the largest sum of int8
    launch, *sizes = create_wmma_int8_gemm_module(m, n, k, in_dtype, **tile(*blocks), **options)
    assert sizes == [16 * blocks[0] * blocks[3], 16 * blocks[1] * blocks[4], 16 * blocks[2]]
    c = torch.empty(m, n, dtype=torch.int32)
    run(launch, c, a, b, writes=[c])
    assert torch.equal(c.double(), a.double() @ b.double().t())


# 1 workgroup, fewer and more than the 15 tiles, of which none divides 15 but 3.
@pytest.mark.parametrize("workgroups", [1, 3, 4, 40])
@pytest.mark.parametrize("options", [{"group_m": 2}, {"group_m": 0, "stagger": 2, "lds_layout": "kblock"}])
def test_workgroups_that_walk_through_the_tiles(run, arch, rdna3, workgroups, options):
    build = rdna3_f16_gemm.create_wmma_gemm_module
    check(run, build, arch, (150, 72, 96), persistent_wgs=workgroups, **tile(1, 1, 2, 2, 2), **options)


def test_as_many_workgroups_as_there_are(run, rdna3):
    """There are 3 tiles for 4 of them."""
    a, b = (torch.randint(-128, 128, (rows, 128)).to(torch.int8) for rows in (70, 40))
    launch, *_ = create_wmma_int8_gemm_module(70, 40, 128, persistent_wgs=4, **tile(1, 2, 4, 2, 2))
    c = torch.empty(70, 40, dtype=torch.int32)
    run(launch, c, a, b, writes=[c])
    assert torch.equal(c.double(), a.double() @ b.double().t())


def int4(rows, k, in_dtype, seed):
    """(values, bytes of two) of a random operand that begins with the least and the largest."""
    low, high = (-8, 7) if in_dtype == "int4" else (0, 15)
    values = torch.randint(low, high + 1, (rows, k), generator=torch.Generator().manual_seed(seed))
    values[0], values[-1] = low, high
    signed = (values + 8) % 16 - 8  # the int4 with the same bits
    return values.double(), pack_int4_pairs(signed.to(torch.int8))


@pytest.mark.parametrize("in_dtype", ["int4", "uint4"])
@pytest.mark.parametrize(
    ("shape", "blocks", "options"),
    [((70, 136, 384), (1, 2, 4, 2, 2), {}), ((33, 40, 256), (2, 1, 4, 1, 2), {"lds_layout": "kblock"}),
     ((150, 72, 256), (1, 1, 4, 2, 2), {"stagger": 0, "sched_hint": False, "group_m": 3}),
     ((70, 140, 192), (2, 2, 2, 2, 2), {"persistent_wgs": 3}), ((1, 4, 1280), (1, 1, 8, 1, 1), {"stagger": 3}),
     ((70, 136, 768), (1, 2, 4, 2, 2), {"split_k": 3}), ((300, 260, 256), (4, 4, 4, 2, 2), {})],
)  # fmt: skip
def test_int4_is_exact(run, half, in_dtype, shape, blocks, options):
    m, n, k = shape
    (a, a_pairs), (b, b_pairs) = int4(m, k, in_dtype, 1), int4(n, k, in_dtype, 2)
    launch, *sizes = create_wmma_integer_gemm_module(m, n, k, in_dtype, **tile(*blocks), **options)
    assert sizes == [16 * blocks[0] * blocks[3], 16 * blocks[1] * blocks[4], 32 * blocks[2]]
    c = torch.empty(m, n, dtype=torch.int32)
    run(launch, c, a_pairs, b_pairs, writes=[c])
    assert torch.equal(c.double(), a @ b.t())


@pytest.mark.parametrize("out_dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("scale_mode", ["none", "row_col"])
def test_int4_to_floats(run, half, out_dtype, scale_mode):
    name, m, n, k = {"f16": "fp16"}.get(out_dtype, out_dtype), 35, 44, 256
    (a, a_pairs), (b, b_pairs) = int4(m, k, "int4", 3), int4(n, k, "int4", 4)
    launch, *_ = create_wmma_integer_gemm_module(
        m, n, k, "int4", out_dtype=out_dtype, scale_mode=scale_mode, **tile(1, 2, 4, 2, 2)
    )
    c, scales = torch.full((m, n), float("nan"), dtype=FLOATS[name]), ()
    want = a @ b.t()
    if scale_mode == "row_col":
        scales = torch.rand(m) + 0.5, torch.rand(n) + 0.5
        want = want * scales[0].double()[:, None] * scales[1].double()
    run(launch, c, a_pairs, b_pairs, None, *scales, writes=[c])
    assert ((c.double() - want).abs() <= want.abs() * (HALF_ULP[name] + 2.0**-22)).all()


def test_int4_in_flattened_rows_apart(run, half):
    (a, a_pairs), (b, b_pairs) = int4(35, 256, "int4", 5), int4(40, 256, "int4", 6)
    launch, *_ = create_wmma_integer_gemm_module(35, 40, 256, "int4", lda=144, ldb=160, ldc=48, **tile(1, 2, 4, 2, 2))
    wide_a, wide_b = torch.full((35, 144), 0x77, dtype=torch.int8), torch.full((40, 160), 0x77, dtype=torch.int8)
    wide_a[:, :128], wide_b[:, :128] = a_pairs, b_pairs
    c = torch.full((35, 48), 3, dtype=torch.int32)
    launch(c.view(-1), wide_a.view(-1), wide_b.view(-1))
    assert torch.equal(c[:, :40].double(), a @ b.t())
    assert (c[:, 40:] == 3).all()


def scaled_int4(m, n, k, in_dtype, out_dtype):
    """Bytes of two of A and of B, keywords of the operator, what is right in float64, and the size of what is added."""
    (a, a_pairs), (b, b_pairs) = int4(m, k, in_dtype, m), int4(n, k, in_dtype, n + 1)
    generator = torch.Generator().manual_seed(k)
    scale_a, scale_b = (torch.rand(rows, generator=generator) / 16 for rows in (m, n))
    bias = torch.randn(n, generator=generator).to(out_dtype)
    residual = torch.randn(m, n, generator=generator).to(out_dtype)
    keywords = {"scale_a": scale_a, "scale_b": scale_b, "bias": bias, "residual": residual, "activation": "relu",
                "out_dtype": out_dtype, "in_dtype": in_dtype}  # fmt: skip
    sums = a @ b.t() * scale_a.double()[:, None] * scale_b.double() + bias.double()
    return a_pairs, b_pairs, keywords, torch.relu(sums) + residual.double(), sums.abs() + residual.abs()


# Decode, rows and columns that no tile divides, a K that is split; A comes as bytes of either type.
@pytest.mark.parametrize(
    ("shape", "in_dtype", "out_dtype"),
    [((1, 64, 4096), "int4", torch.bfloat16), ((70, 132, 384), "uint4", torch.float16),
     ((33, 68, 128), "int4", torch.float32), ((130, 260, 256), "uint4", torch.bfloat16)],
)  # fmt: skip
def test_the_operator_multiplies_int4(run, half, shape, in_dtype, out_dtype):
    a, b, keywords, want, size = scaled_int4(*shape, in_dtype, out_dtype)
    a = a.view(torch.uint8) if in_dtype == "uint4" else a
    b = b.view(a.dtype)
    got = []
    run(lambda: got.append(kernels.gemm(a, b, **keywords)), writes=[])
    assert all(torch.equal(one, got[0]) for one in got)
    assert got[0].dtype == out_dtype
    ulp = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}[out_dtype]
    assert ((got[0].double() - want).abs() <= want.abs() * ulp + size * 2.0**-21).all()


def test_int4_in_graphs_and_as_fake_tensors(half):
    a, b, keywords, want, _ = scaled_int4(6, 64, 256, "int4", torch.bfloat16)

    def layer(x):
        return kernels.gemm(x, b, **keywords) * 2

    assert kernels.gemm  # which registers the operator
    names = ("scale_a", "scale_b", "bias", "residual", "activation", "out_dtype")
    torch.library.opcheck(
        torch.ops.flydsl.gemm.default, (a, b, *(keywords[one] for one in names), False, keywords["in_dtype"])
    )
    torch.compiler.reset()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a), layer(a))
    assert ((layer(a).double() - 2 * want).abs() <= 2 * want.abs() * 2.0**-7 + 2.0**-10).all()
    rows = a.view(2, 3, -1)
    only = {"scale_a": keywords["scale_a"].view(2, 3), "scale_b": keywords["scale_b"], "in_dtype": "int4"}
    with torch._subclasses.FakeTensorMode() as mode:
        given = {name: mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for name, one in only.items()}
        fake = kernels.gemm(mode.from_tensor(rows), mode.from_tensor(b), **given)
    assert (fake.shape, fake.dtype) == ((2, 3, 64), torch.bfloat16)
    assert kernels.gemm(rows, b, **only).shape == fake.shape


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"in_dtype": "int8"}, "in_dtype 'int8' is not supported; use one of int4, uint4, or none"),
     ({"a": torch.zeros(4, 64).half(), "b": torch.zeros(8, 64).half()},
      "int4 come two a byte, as int8 or uint8, not as torch.float16"),
     ({"b": torch.zeros(8, 64, dtype=torch.uint8)}, "a and b must have one type"),
     ({"scale_a": None}, "int4 needs scale_a and scale_b"),
     ({"a": torch.zeros(4, 48, dtype=torch.int8), "b": torch.zeros(8, 48, dtype=torch.int8)},
      "K = 96 int4 are 48 bytes, no multiple of 64"),
     ({"shuffled": True, "b": torch.zeros(16, 64, dtype=torch.int8), "scale_b": torch.ones(16)},
      "shuffled B = True is not written for gfx1"),
     ({"block": 128, "a_scale": torch.ones(4, 1), "b_scale": torch.ones(1, 1)}, "no other scales, bias")],
)  # fmt: skip
def test_refusals_of_the_operator_for_int4(half, changes, said):
    given = {"a": torch.zeros(4, 64, dtype=torch.int8), "b": torch.zeros(8, 64, dtype=torch.int8), "in_dtype": "int4",
             "scale_a": torch.ones(4), "scale_b": torch.ones(8)} | changes  # fmt: skip
    with pytest.raises(ValueError, match=said):
        kernels.gemm(given.pop("a"), given.pop("b"), **given)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"in_dtype": "int16"}, "in_dtype 'int16' is not supported; use one of int8, uint8, int4, uint4"),
        ({"out_dtype": "int8"}, "out_dtype 'int8' is not supported"),
        ({"scale_mode": "row_col"}, "needs out_dtype f32, bf16 or f16, not i32"),
        ({"K": 320}, r"K = 320 has to be 2 or more steps of 32 \* reg_k = 128"),
        ({"K": 128}, r"K = 128 has to be 2 or more steps of 32 \* reg_k = 128"),
        ({"split_k": 2}, r"2 or more steps of 32 \* reg_k = 128 in each of 2 parts"),
        ({"K": 0}, "K must be a positive integer, got 0"),
        ({"N": 130}, "N = 130 is no multiple of 4"),
        ({"lda": 136}, "lda = 136: 128 or more elements, a multiple of 16"),
        ({"reg_m": 8}, "registers a thread for the sums, and 128 leave room"),
    ],
)
def test_refusals_of_int4(half, options, said):
    with pytest.raises(ValueError, match=said):
        create_wmma_integer_gemm_module(**{"M": 128, "N": 128, "K": 256, "in_dtype": "int4"} | options)


def test_odd_steps_of_int4(arch, half):
    """gfx1201 halves 16 bytes of a lane between two instructions, whose lanes have two halves of K."""
    if arch == "gfx1100":
        assert create_wmma_integer_gemm_module(32, 32, 96, "int4", **tile(2, 2, 1, 1, 1))[3] == 32
        return
    with pytest.raises(ValueError, match="reg_k = 1 is odd"):
        create_wmma_integer_gemm_module(32, 32, 96, "int4", **tile(2, 2, 1, 1, 1))


@pytest.mark.parametrize("out_dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("scale_mode", ["none", "row_col"])
def test_integers_to_floats(run, arch, rdna3, out_dtype, scale_mode):
    name = {"f16": "fp16"}.get(out_dtype, out_dtype)
    problem = Problem(35, 40, 128, "int8", name, arch=arch)
    scaled = scale_mode == "row_col"
    a, b = (problem.a, problem.b) if scaled else (problem.a // 16, problem.b // 16)  # sums that f16 has room for
    launch, *_ = create_wmma_int8_gemm_module(
        35, 40, 128, out_dtype=out_dtype, scale_mode=scale_mode, **tile(1, 2, 4, 2, 2)
    )
    c = problem.output()
    if scaled:
        run(launch, c, a, b, None, problem.scale_a, problem.scale_b, writes=[c])
        problem.check(c)
        return
    run(launch, c, a, b, writes=[c])
    want = a.double() @ b.double().t()
    assert ((c.double() - want).abs() <= want.abs() * HALF_ULP[name]).all()


def test_scales_that_are_not_wanted_and_that_are_missing(rdna3):
    a, b, c = torch.zeros(32, 128).to(torch.int8), torch.zeros(64, 128).to(torch.int8), torch.zeros(32, 64)
    build = {"M": 32, "N": 64, "K": 128, "out_dtype": "f32", **tile(1, 2, 4, 2, 2)}
    none, *_ = create_wmma_int8_gemm_module(**build)
    scaled, *_ = create_wmma_int8_gemm_module(**build, scale_mode="row_col")
    with pytest.raises(ValueError, match="argument 'scale_a': given with scale_mode 'row_col', and only with it"):
        none(c, a, b, None, torch.ones(32), torch.ones(64))
    with pytest.raises(ValueError, match="argument 'scale_b': given with scale_mode 'row_col', and only with it"):
        scaled(c, a, b, None, torch.ones(32))


@pytest.mark.parametrize(
    ("shape", "options"),
    [((32, 128, 128), {}), ((33, 64, 64), {}), ((1, 80, 96), {"k_unroll": 1}),
     ((70, 144, 256), {"tile_m": 16, "tile_n": 64, "group_m": 3}), ((70, 128, 192), {"tile_m": 64, "tile_k": 96})],
)  # fmt: skip
def test_fp8(run, rdna4, shape, options):
    m, n, k = shape
    a, scale_a = fp8_quantize_per_token(torch.randn(m, k))
    b, scale_b = fp8_quantize_per_channel(torch.randn(k, n))
    c = torch.empty(m, n, dtype=torch.bfloat16)
    run(compile_fp8_gemm(M=m, N=n, K=k, **options), c, a, preshuffle_b_fp8(b), scale_a, scale_b, writes=[c])
    x, w = a.double() * scale_a.double()[:, None], b.double() * scale_b.double()[None]
    want, error = x @ w, x.abs() @ w.abs() * (k + 4) * 2.0**-24
    assert ((c.double() - want).abs() <= error + want.abs() * HALF_ULP["bf16"]).all()


def test_fp8_helpers():
    """The order of B is the contract's permutation, spelled out; scales take the largest of a row to 448."""
    b = torch.arange(256, dtype=torch.uint8).repeat(2).reshape(16, 32)
    seen = b.reshape(1, 2, 8, 2, 16)
    order = preshuffle_b_fp8(b).reshape(2, 1, 2, 16, 8)
    for n, half_k, column, at in [(0, 0, 0, 0), (1, 1, 15, 7), (1, 0, 3, 5), (0, 1, 9, 2)]:
        assert order[n, 0, half_k, column, at] == seen[0, half_k, at, n, column]
    x = torch.tensor([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0]])
    codes, scales = fp8_quantize_per_token(x)
    assert scales.tolist() == pytest.approx([2.0 / 448.0, 1.0])
    assert torch.allclose(codes.float() * scales[:, None], x, rtol=2.0**-4)
    assert torch.equal(fp8_quantize_per_channel(x.t())[0].float(), codes.t().float())
    with pytest.raises(ValueError, match="K = 8 and N = 32 have to be multiples of 16"):
        preshuffle_b_fp8(b[:8])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"in_dtype": "fp8"}, "in_dtype 'fp8' is not supported; use bf16 or fp16"),
        ({"out_dtype": "int8"}, "out_dtype 'int8' is not supported"),
        ({"rounding": "up"}, "rounding 'up' is not supported"),
        ({"rounding": "rs", "out_dtype": "fp16"}, "rounding 'rs' is for out_dtype 'bf16', not 'fp16'"),
        ({"K": 80}, r"K = 80 has to be 2 or more steps of reg_k \* 16 = 32"),
        ({"K": 32}, r"K = 32 has to be 2 or more steps of reg_k \* 16 = 32"),
        ({"N": 130}, "N = 130 is no multiple of 4"),
        ({"reg_m": 0}, "reg_m must be a positive integer, got 0"),
        ({"waves_m": 3}, "waves_m \\* waves_n = 6: a workgroup has 1, 2, 4, 8 or 16 waves"),
        ({"a_k_pad": 4}, "a_k_pad = 4 bf16: rows in LDS begin at multiples of 16 bytes"),
        ({"group_m": -1}, "group_m is a number from 0 on, got -1"),
        ({"reg_m": 8}, "registers a thread for the sums, and 128 leave room"),
        ({"reg_k": 16, "K": 512}, "bytes of LDS for 2 buffers"),
        ({"reg_m": 1, "waves_m": 1, "waves_n": 4}, "which 128 threads do not share evenly"),
    ],
)
def test_refusals(half, options, said):
    with pytest.raises(ValueError, match=said):
        half(**{"M": 128, "N": 128, "K": 128} | options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scale_mode": "row_col"}, "needs out_dtype f32, bf16 or f16, not i32"),
        ({"scale_mode": "tensor"}, "scale_mode 'tensor' is not supported"),
        ({"in_dtype": "int4"}, "in_dtype 'int4' is not supported"),
        ({"out_dtype": "int8"}, "out_dtype 'int8' is not supported"),
        ({"lda": 120}, "lda = 120: 128 or more elements, a multiple of 16"),
        ({"lds_layout": "xor"}, "lds_layout 'xor' is not supported; use one of pad, kblock"),
        ({"split_k": 2}, "2 or more steps of 16 \\* reg_k = 64 in each of 2 parts"),
        ({"split_k": 2, "out_dtype": "f32"}, "split_k = 2 adds up exact sums: it needs out_dtype 'i32'"),
        ({"split_k": 0}, "split_k must be a positive integer, got 0"),
        ({"persistent_wgs": -1}, "persistent_wgs is a number from 0 on, got -1"),
        ({"persistent_wgs": 4, "split_k": 2, "K": 256}, "split_k = 2 and persistent_wgs = 4: choose one"),
    ],
)
def test_refusals_of_integers(rdna3, options, said):
    with pytest.raises(ValueError, match=said):
        create_wmma_int8_gemm_module(**{"M": 128, "N": 128, "K": 128} | options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tile_n": 96}, "multiples of 16, 64 and 32 are wanted"),
        ({"N": 72}, "N = 72 is no multiple of 16"),
        ({"K": 48}, "there is no tail along K"),
        ({"tile_m": 0}, "tile_m must be a positive integer"),
    ],
)
def test_refusals_of_fp8(rdna4, options, said):
    with pytest.raises(ValueError, match=said):
        compile_fp8_gemm(**{"M": 32, "N": 128, "K": 128} | options)


def test_other_targets_are_refused_by_name(arch):
    builders = {
        "rdna_f16_gemm": ("gfx1201", lambda: rdna_f16_gemm.create_wmma_gemm_module(128, 128, 128)),
        "rdna3_f16_gemm": ("gfx1100", lambda: rdna3_f16_gemm.create_wmma_gemm_module(128, 128, 128)),
        "rdna3_int8_gemm": ("gfx1100", lambda: create_wmma_int8_gemm_module(128, 128, 128)),
        "wmma_integers": ("gfx1100 and gfx1201", lambda: create_wmma_integer_gemm_module(128, 128, 256)),
        "rdna_fp8_preshuffle_gemm": ("gfx1201", lambda: compile_fp8_gemm(M=32, N=128, K=128)),
    }
    for name, (chip, build) in builders.items():
        if arch not in chip:
            with pytest.raises(RuntimeError, match=f"{name} is written for {chip}; the target is {arch}"):
                build()


def test_stochastic_rounding(run, arch, half):
    """One of the two neighbours, up as often as the part that is dropped says, by the seed and the place."""
    shape = (70, 136, 96)
    problem, options = Problem(*shape, "bf16", "f32", arch=arch), tile(1, 2, 2, 2, 2)
    exact = torch.empty(70, 136)
    half(*shape, out_dtype="f32", **options)(exact, problem.a, problem.b)
    kernel = half(*shape, rounding="rs", **options)
    got = [torch.full((70, 136), float("nan")).bfloat16() for _ in range(3)]
    for c, seed in zip(got, (5, 5, 6), strict=True):
        kernel(c, problem.a, problem.b, None, seed)
    assert torch.equal(got[0].view(torch.int16), got[1].view(torch.int16))
    assert not torch.equal(got[0], got[2])
    bits, chance = exact.view(torch.int32), (exact.view(torch.int32) & 0xFFFF).double() / 65536
    for c in got[1:]:
        up = c.float().view(torch.int32) - (bits & -65536)
        assert ((up == 0) | (up == 65536)).all()
        spread = (chance * (1 - chance)).sum().sqrt()
        assert (up / 65536 - chance).sum().abs() <= 5 * spread


@pytest.mark.parametrize(
    ("shape", "tile"),
    [((4096, 4096, 4096), (256, 256, 32)), ((2048, 1024, 64), (128, 128, 32)), ((400, 512, 128), (32, 64, 64)),
     ((2048, 1024, 96), (128, 128, 32)), ((1, 4, 128), (32, 32, 64))],
)  # fmt: skip
def test_the_tile_that_a_problem_gets(shape, tile):
    """The largest with a workgroup for each of 96 compute units, else that with most workgroups."""
    assert autotune.pick_tile(*shape) == tile
    assert tile in autotune.feasible_tiles(*shape)
    assert autotune.persistent_wgs(*shape) == 0


def test_tiles_that_a_problem_cannot_have():
    assert autotune.feasible_tiles(64, 64, 96) == [tile for tile in autotune.TILES if tile[2] == 32]
    assert autotune.feasible_tiles(64, 62, 128) == []
    with pytest.raises(ValueError, match="N has to be a multiple of 4, and K two or more steps"):
        autotune.pick_tile(64, 64, 32)
    with pytest.raises(ValueError, match="there is no tile 64x32x32"):
        autotune.tile_opts((64, 32, 32))


@pytest.mark.parametrize("tile", autotune.TILES)
def test_every_tile_by_dispatch(run, arch, rdna3, tile):
    problem = Problem(70, 72, 128, "bf16", "bf16", arch=arch, seed=sum(tile))
    c = problem.output().fill_(float("nan"))
    autotune.rdna3_gemm_dispatch(c, problem.a, problem.b, 70, 72, 128, tile=tile)
    problem.check(c)


def test_without_a_search_the_usual_tile(run, arch, rdna3):
    problem = Problem(33, 40, 128, "fp16", "f32", arch=arch)
    c = problem.output().fill_(float("nan"))
    autotune.rdna3_gemm_autotuned(c, problem.a, problem.b)
    problem.check(c)
    with pytest.raises(ValueError, match=r"A is torch\.int8; use one of"):
        autotune.rdna3_gemm_dispatch(c, problem.a.to(torch.int8), problem.b, 33, 40, 128)


def test_products_stay_out_of_the_branches_of_stores(run, arch, half):
    """Columns that half of a wave stores: moved behind that branch, a product would lack the other half's lanes."""
    check(run, half, arch, (130, 136, 64))


def test_extents_are_compared_at_each_call(arch, half):
    kernel = half(35, 40, 96, **tile(1, 2, 2, 2, 2))
    a, b, c = (torch.zeros(rows, columns).bfloat16() for rows, columns in ((35, 96), (40, 96), (35, 40)))
    for given, said in [((c[:34], a, b), "'C': expected 35 or more rows of 40, got 34"),
                        ((c, a[:, :88], b), "'A': expected 35 or more rows of 96, got 35 of 88"),
                        ((c, a, b[:39]), "'B': expected 40 rows of 96, got 39")]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            kernel(*given)
    with pytest.raises(TypeError, match="argument 'A': expected BFloat16, got Float16"):
        kernel(c, a.half(), b)


@pytest.mark.parametrize("in_dtype", ["int8", "uint8"])
def test_bytes_on_both_chips(run, half, in_dtype):
    """gfx1201, too, by the name without a chip."""
    m, n, k, options = 70, 136, 256, tile(1, 2, 4, 2, 2)
    low, kind = (-128, torch.int8) if in_dtype == "int8" else (0, torch.uint8)
    a, b = (torch.randint(low, low + 256, (rows, k)).to(kind) for rows in (m, n))
    launch, *sizes = create_wmma_integer_gemm_module(m, n, k, in_dtype, **options)
    assert sizes == [32, 64, 64]
    c = torch.empty(m, n, dtype=torch.int32)
    run(launch, c, a, b, writes=[c])
    assert torch.equal(c.double(), a.double() @ b.double().t())


def types(arch):
    return ("bf16", "int8", "fp8") if arch == "gfx1201" else ("bf16", "int8")


@pytest.mark.parametrize(
    ("shape", "config"),
    [((19, 68, 256), GemmConfig(16, 64, 64)), ((70, 132, 320), GemmConfig(64, 64, 64, group_m=3)),
     ((33, 72, 256), GemmConfig(32, 64, 64, split_k=2)), ((40, 60, 192), GemmConfig(32, 32, 64, waves=(1, 2))),
     ((90, 140, 192), GemmConfig(64, 128, 64))],
)  # fmt: skip
def test_compile_gemm(run, arch, half, shape, config):
    """The builder of all chips: epilogues, columns that no tile divides, split K."""
    for in_dtype in types(arch):
        problem = Problem(*shape, in_dtype, "bf16", arch=arch, epilogue="bias_silu", seed=sum(shape))
        kernel = compile_gemm(
            N=shape[1], K=shape[2], config=config, in_dtype=in_dtype, out_dtype="bf16",
            epilogue=Epilogue(problem.scaled, True, "silu"),
        )  # fmt: skip
        c, none = problem.output(), torch.empty(0, dtype=torch.bfloat16)
        workspace = torch.empty(config.split_k * shape[0] * shape[1] if config.split_k > 1 else 0)
        run(
            kernel, c, problem.a, problem.b, problem.scale_a, problem.scale_b, problem.bias, none, workspace, shape[0],
            writes=[c, workspace],
        )  # fmt: skip
        problem.check(c)


@pytest.mark.parametrize("in_dtype", ["bf16", "int8", "int4x2"])
def test_the_form_of_a_tile(arch, half, in_dtype):
    """What the defaults have for it, with shorter steps where K has fewer than two of those."""
    for one in defaults("wmma_loops", arch):
        if A_BYTES[in_dtype] not in one["element_bytes"]:
            continue
        for k_bytes, step in ((4 * one["step_bytes"], one["step_bytes"]), (192, 64)):
            gemm = TileGemm(
                arch=arch, N=128, K=k_bytes // A_BYTES[in_dtype], in_dtype=in_dtype, out_dtype="bf16",
                tile_m=one["tile"][0], tile_n=one["tile"][1], tile_k=64, epilogue=Epilogue(), shuffled=False,
            )  # fmt: skip
            found = on_wmma(gemm)
            if k_bytes > 192 or not one["staged"]:  # a few rows through LDS may need the long step
                assert (found.staged, found.waves) == (one["staged"], tuple(one["waves"]))
                assert found.tile_k * A_BYTES[in_dtype] == step


@pytest.mark.parametrize("shape", [(5, 64, 512), (70, 132, 128)])
def test_default_configurations(arch, half, shape):
    for in_dtype in types(arch):
        problem = Problem(*shape, in_dtype, "fp16", arch=arch)
        c = problem.output().fill_(float("nan"))
        scales = {"scale_a": problem.scale_a, "scale_b": problem.scale_b} if problem.scaled else {}
        problem.check(multiply(problem.a, problem.b, c, **scales))


@pytest.mark.parametrize(
    ("config", "shuffled", "said"),
    [
        (GemmConfig(32, 64, 64), True, "shuffled B = True is not written for gfx1"),
        (GemmConfig(32, 64, 64, waves=(1, 2), k_waves=2), False, "k_waves = 2 is not written for gfx1"),
        (GemmConfig(32, 64, 64, lds_stage=1), False, "lds_stage = 1 is not written for gfx1"),
        (GemmConfig(32, 64, 64, xcd_swizzle=2), False, "xcd_swizzle = 2 is not written for gfx1"),
        (GemmConfig(32, 64, 64, use_async_copy=True), False, "use_async_copy needs gfx950"),
        (GemmConfig(256, 256, 64), False, "no grid of up to four waves of 32 lanes has room"),
        (GemmConfig(128, 256, 64, waves=(2, 2)), False, "and 128 leave room for the operands"),
    ],
)
def test_configurations_that_are_refused(half, config, shuffled, said):
    with pytest.raises(ValueError, match=said):
        compile_gemm(N=256, K=256, config=config, in_dtype="bf16", out_dtype="bf16", shuffled=shuffled)


def test_gfx1100_has_no_fp8(rdna3):
    with pytest.raises(ValueError, match="gfx1100 has no matrix instruction for operands of type 'fp8'"):
        compile_gemm(N=64, K=128, config=default_config("gfx1100", "fp8", 8, 64, 128), in_dtype="fp8", out_dtype="bf16")


def example(said):
    """What the block of the page that has this text leaves behind."""
    page = Path(__file__).parents[4] / "docs" / "kernels" / "gemm.md"
    (block,) = [one for one in re.findall(r"```python\n(.*?)```", page.read_text(), re.S) if said in one]
    names = {}
    exec(compile(block, str(page), "exec"), names)
    return names


def test_the_example_of_the_page(rdna4):
    names = example("rdna_f16_gemm")
    want = names["a"].double() @ names["b"].double().t()
    assert ((names["c"].double() - want).abs() <= want.abs() * HALF_ULP["bf16"] + 96 * 2.0**-18).all()


def test_the_example_of_int4(half):
    names = example("pack_int4_pairs")
    want = names["x"].double() @ names["w"].double().t()
    want = want * names["scale_x"].double()[:, None] * names["scale_w"].double()
    assert ((names["y"].double() - want).abs() <= want.abs() * (HALF_ULP["bf16"] + 2.0**-20)).all()
