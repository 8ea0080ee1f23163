# SPDX-License-Identifier: Apache-2.0
"""The preshuffled GEMM as users of its documented interface call it; sizes scaled down to what an emulator can do.

Tolerances are theirs: fewer than 5 % of the elements further than 0.1 + 0.1 |reference| from the f32 product of the
dequantised operands.
"""

import inspect

import pytest
import torch

import flydsl.compiler as flyc
from flydsl.kernels.common.mma.instructions import matrix_product
from flydsl.kernels.common.mma.mfma_preshuffle_pipeline import swizzle_chunk, swizzle_xor16
from flydsl.kernels.common.mma.tile_plan import plan_tile
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm.int4_weights import pack_int4
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8

OUT = {"bf16": torch.bfloat16, "fp16": torch.float16}


def pertoken_quant(x, dtype, largest):
    """(quantised, scales) of rows."""
    scale = x.abs().amax(-1, keepdim=True) / largest
    scale = torch.where(scale == 0, 1.0, scale)
    q = x / scale
    return (q.round() if dtype == torch.int8 else q).to(dtype), scale.squeeze(-1)


def verify_output(out, ref, atol=0.1, rtol=0.1):
    off = (out.float() - ref).abs() > atol + rtol * ref.abs()
    assert off.float().mean() < 0.05
    x, y = out.double(), ref.double()
    assert 1 - 2 * (x * y).sum() / (x * x + y * y).sum() <= 2e-3


def operands(m, n, k, in_dtype, arch):
    """(A, shuffled B, scale_a, scale_b, f32 reference) of uniform matrices."""
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.rand(rows, k, generator=generator) for rows in (m, n))
    if in_dtype in ("fp16", "bf16"):
        a, b = (one.to(OUT[in_dtype]) for one in (a - 0.5, b - 0.5))
        return a, shuffle_weight(b, layout=(16, 16)), torch.empty(0), torch.empty(0), a.float() @ b.float().t()
    fp8 = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
    kind, largest = (fp8, torch.finfo(fp8).max) if in_dtype == "fp8" else (torch.int8, 127)
    qa, sa = pertoken_quant(a - 0.5, kind, largest)
    qb, sb = pertoken_quant(b - 0.5, torch.int8 if in_dtype == "int4" else kind, 7 if in_dtype == "int4" else largest)
    reference = (qa.float() * sa[:, None]) @ (qb.float() * sb[:, None]).t()
    shuffled = shuffle_weight(qb, layout=(16, 16))
    return qa, pack_int4(shuffled) if in_dtype == "int4" else shuffled, sa, sb, reference


def run_contract(arch, shape, tiles, in_dtype, compiled=False, **options):
    m, n, k = shape
    a, b, sa, sb, reference = operands(m, n, k, in_dtype, arch)
    c = torch.zeros(m, n, dtype=torch.bfloat16)
    launch = compile_preshuffle_gemm(
        N=n, K=k, tile_m=tiles[0], tile_n=tiles[1], tile_k=tiles[2], in_dtype=in_dtype, out_dtype="bf16", **options
    )
    bias = torch.empty(0, dtype=torch.bfloat16)
    arguments = (c, a, b, sa, sb, bias, m, n, torch.cuda.current_stream() if torch.cuda.is_available() else 0)
    if compiled:
        flyc.compile(launch, *arguments)(*arguments)
    else:
        launch(*arguments)
    verify_output(c, reference)


# The contract's (5120, 5120, 8320; 64 x 256 x 128), (5120, 2048, 8320) and (9728, 8192, 8320; 128^3): rows and columns
# divided by 40 and rounded to tiles, K / 13 keeps an odd number of tiles.
SMALL = [((128, 256, 640), (64, 256, 128)), ((128, 128, 640), (128, 128, 128)), ((133, 256, 384), (128, 128, 128))]
LARGE = [((512, 512, 8320), (64, 256, 128)), ((512, 256, 8320), (128, 128, 128)), ((973, 1024, 2176), (128, 128, 128))]
DTYPES = ["fp8", "int8", "fp16", "bf16"]


@pytest.mark.parametrize("in_dtype", ["fp8", "bf16"])
@pytest.mark.parametrize(("shape", "tiles"), SMALL)
def test_shapes(arch, shape, tiles, in_dtype):
    run_contract(arch, shape, tiles, in_dtype)


@pytest.mark.slow
@pytest.mark.parametrize("in_dtype", DTYPES)
@pytest.mark.parametrize(("shape", "tiles"), LARGE)
@pytest.mark.parametrize("use_async_copy", [False, True])
def test_large_shapes(arch, shape, tiles, in_dtype, use_async_copy):
    if use_async_copy and arch != "gfx950":
        pytest.skip("gfx950 only")
    run_contract(arch, shape, tiles, in_dtype, use_async_copy=use_async_copy)


@pytest.mark.parametrize("use_async_copy", [False, True])
def test_compiled_with_a_ragged_m(arch, use_async_copy):
    run_contract(
        arch,
        (141, 256, 384),
        (128, 128, 128),
        "int8",
        compiled=True,
        use_async_copy=use_async_copy and arch == "gfx950",
    )


@pytest.mark.slow
@pytest.mark.parametrize("in_dtype", DTYPES)
@pytest.mark.parametrize("tile_m", [48, 64, 80, 96, 112, 128, 144, 160])
@pytest.mark.parametrize("columns", [128, 256])
def test_row_tiles(arch, tile_m, columns, in_dtype):
    run_contract(arch, (2 * tile_m + 13, 256, 1024), (tile_m, columns, 256), in_dtype)


def test_signature():
    defaults = {
        "N": inspect.Parameter.empty, "K": inspect.Parameter.empty, "tile_m": inspect.Parameter.empty,
        "tile_n": inspect.Parameter.empty, "tile_k": inspect.Parameter.empty, "in_dtype": "fp8", "out_dtype": "bf16",
        "epilogue": "none", "waves_per_eu": None, "enable_scheduler": True, "use_async_copy": False, "xcd_swizzle": 0,
        "lds_stage": 2, "preload": None,
    }  # fmt: skip
    parameters = inspect.signature(compile_preshuffle_gemm).parameters
    assert {name: one.default for name, one in parameters.items()} == defaults
    assert {one.kind for one in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_b_is_stored_in_packs_of_16_rows():
    """(N/16, K/64, 4, 16, kpack_bytes), bytes."""
    n, k = 48, 256
    b = torch.arange(n * k, dtype=torch.int32).remainder(127).to(torch.int8).view(n, k)
    blocks = b.view(n // 16, 16, k // 64, 4, 16).permute(0, 2, 3, 1, 4)
    assert torch.equal(shuffle_weight(b).view(-1), blocks.reshape(-1))
    pairs = pack_int4(shuffle_weight(b.remainder(8)))
    assert pairs.numel() == n // 16 * (k // 64) * 4 * 16 * 8  # kpack_bytes = 8


@pytest.mark.parametrize("lds_stage", [1, 2])
@pytest.mark.parametrize("stage", [64, 128, 256])
def test_a_lies_in_lds_with_an_xor_16_swizzle_and_ping_pong(stage, lds_stage):
    plan = plan_tile("gfx942", "fp8", 1, K=stage, tile_m=64, tile_n=128, buffers=lds_stage)
    assert plan.stage_bytes == stage
    assert plan.lds_bytes == lds_stage * 64 * stage
    if plan.chunks >= 8:  # shorter rows share a line of banks, and every second one changes the swizzle
        for row in range(64):
            lies = [16 * swizzle_chunk(row, chunk, *plan.swizzle) for chunk in range(plan.chunks)]
            assert lies == [swizzle_xor16(row, 16 * chunk, plan.chunks) for chunk in range(plan.chunks)]


def test_each_64_bytes_of_k_are_two_k32_instructions():
    for dtype in ("fp8", "int8"):
        product = matrix_product("gfx942", dtype, 1)
        assert (product.depth, product.halves, product.packs) == (32, 2, 1)


@pytest.mark.parametrize("in_dtype", ["fp8", "int8", "int4", "fp16", "bf16"])
@pytest.mark.parametrize("use_cshuffle_epilog", [False, True])
def test_older_builder(arch, in_dtype, use_cshuffle_epilog):
    m, n, k = 70, 128, 256
    a, b, sa, sb, reference = operands(m, n, k, in_dtype, arch)
    exe = compile_preshuffle_gemm_a8(
        M=m, N=n, K=k, tile_m=64, tile_n=128, tile_k=128, in_dtype=in_dtype, lds_stage=2,
        use_cshuffle_epilog=use_cshuffle_epilog,
    )  # fmt: skip
    c = torch.zeros(m, n, dtype=torch.float16)
    exe(c.view(-1), a.view(-1), b.view(-1), sa.view(-1), sb.view(-1), m, n, 0)
    verify_output(c, reference)


def test_rows_leave_in_16_byte_pieces_when_shuffled_through_lds(counters, arch):
    m, n, k = 64, 128, 256
    a, b, sa, sb, _ = operands(m, n, k, "fp8", arch)
    numbers = {"M": m, "N": n, "K": k, "tile_m": 64, "tile_n": 128, "tile_k": 128}
    stores = {}
    for shuffled in (False, True):
        exe = compile_preshuffle_gemm_a8(**numbers, use_cshuffle_epilog=shuffled)
        c = torch.zeros(m, n, dtype=torch.bfloat16)
        exe(c, a, b, sa, sb, m, n)
        total = counters(exe, c, a, b, sa, sb, m, n)["total"]
        assert total["bytes_stored"] == m * n * 2
        assert total["lds_conflict_cycles"] == 0
        stores[shuffled] = total
    assert stores[True]["transactions"] < stores[False]["transactions"]
