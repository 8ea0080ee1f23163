# SPDX-License-Identifier: Apache-2.0
"""The product for Hopper: what its PTX holds, and what is refused. `tools/bench/cuda_gemm.py` runs it on a GPU."""

import re

import pytest
import torch
from artifact_ptx import ptx_of_the_last

import flydsl.expr as fx
import flydsl.kernels as fk
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm.hopper_config import HopperConfig, default_hopper_config
from flydsl.kernels.gemm.hopper_gemm import compile_hopper_gemm

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("hopper")]

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}


@pytest.mark.parametrize(
    ("dtype", "config"),
    [
        ("bf16", HopperConfig()),
        ("fp16", HopperConfig(128, 6)),
        ("fp8", HopperConfig(192)),
        ("bf16", HopperConfig(224, 3, store_buffers=1)),
        ("fp8", HopperConfig(256, 3, store_n=256, store_buffers=1)),
    ],
    ids=["bf16", "fp16", "fp8", "columns in boxes of 32", "all columns at once"],
)
def test_the_program(dtype, config):
    out = "fp16" if dtype == "fp16" else "bf16"
    launch = compile_hopper_gemm(in_dtype=dtype, out_dtype=out, config=config)
    a, b = (torch.empty((rows, 256), dtype=TYPES[dtype]) for rows in (384, 512))
    launch(torch.empty((384, 512), dtype=TYPES[out]), a, b)
    ptx = ptx_of_the_last()
    # One loop of four products of 32 bytes of K, of which one is in flight.
    k, element = (32, "e4m3") if dtype == "fp8" else (16, {"fp16": "f16"}.get(dtype, dtype))
    assert ptx.count(f"wgmma.mma_async.sync.aligned.m64n{config.tile_n}k{k}.f32.{element}.{element}") == 4
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned (\d)", ptx) == ["1", "0"]
    # A and B, and where the last rows of A come in parts two of A and B.
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 2 + 3
    boxes = config.tile_n // (64 if config.tile_n % 64 == 0 else 32)
    assert ptx.count("cp.async.bulk.tensor.2d.global.shared::cta") == boxes
    # One for each time that columns go through shared memory.
    assert ptx.count("fence.proxy.async.shared::cta") == config.tile_n // config.stored_columns
    assert re.findall(r"setmaxnreg\.(\w+)\.sync\.aligned\.u32 \t?(\d+)", ptx) == [("inc", "232"), ("dec", "40")]
    assert re.search(r"\.minnctapersm 1", ptx)
    # The next launch may begin when the last tiles are on their way; what is read more than once stays in the L2.
    order = ("mbarrier.init", "griddepcontrol.wait;", "cp.async.bulk.tensor", "griddepcontrol.launch_dependents;")
    places = [ptx.index(one) for one in order]
    assert places == sorted(places)
    assert "L2::cache_hint" not in ptx
    # A stage's bytes: 128 of each row of A and B.
    assert f" {128 * (128 + config.tile_n)};" in ptx


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (HopperConfig(stages=5), "take 279552 bytes of shared memory; there are 232448"),
        (HopperConfig(tile_n=100), "tile_n is a multiple of 16 from 32 to 256, got 100"),
        (HopperConfig(tile_n=192, store_n=128), "a divisor of tile_n = 192, got 128"),
        (HopperConfig(stages=1), "stages is at least 2"),
        (HopperConfig(rows=8), "rows is a multiple of 8 from 16 to 128, got 8"),
        (HopperConfig(rows=100), "rows is a multiple of 8 from 16 to 128, got 100"),
        (HopperConfig(boxes=3), "boxes is 1 or 2, got 3"),
        (HopperConfig(splits=9), "splits is 1 to 8, got 9"),
        (HopperConfig(pingpong=True, stages=2), "registers for 24576 sums, and 128 rows of 256 columns have 32768"),
        (HopperConfig(64, rows=64, pingpong=True), "pingpong is for more than 64 rows and splits = 1, got 64 and 1"),
        (HopperConfig(64, splits=2, pingpong=True), "pingpong is for more than 64 rows and splits = 1, got 128 and 2"),
        (HopperConfig(192, 5, pingpong=True), "2 tiles of 64 columns to store take 271360 bytes"),
    ],
)
def test_a_configuration_that_does_not_fit(config, message):
    with pytest.raises(ValueError, match=message):
        compile_hopper_gemm(in_dtype="bf16", config=config)


def test_consumers_take_turns():
    config = HopperConfig(128, 6, store_buffers=1, pingpong=True)
    launch = compile_hopper_gemm(in_dtype="bf16", config=config)
    a, b = (torch.empty((rows, 256), dtype=torch.bfloat16) for rows in (384, 512))
    launch(torch.empty((384, 512), dtype=torch.bfloat16), a, b)
    ptx = ptx_of_the_last()
    # Each has both halves of a tile's rows; one of them releases a stage.
    assert ptx.count("wgmma.mma_async.sync.aligned.m64n128k16") == 2 * 4
    values = dict(re.findall(r"mov\.b32 \t(%r\d+), (\d+);", ptx))
    counts = re.findall(r"mbarrier\.init\.shared\.b64 \t\[[^]]*\], (%r\d+);", ptx)
    assert [int(values[one]) for one in counts] == [1] * 12
    # Who is done hands over to the other, who waits for it.
    assert len(re.findall(r"bar\.arrive %r\d+, 256;", ptx)) == len(re.findall(r"bar\.sync \t%r\d+, 256;", ptx)) == 1
    assert ptx.count("cp.async.bulk.tensor.2d.global.shared::cta") == 2
    assert f" {128 * (128 + 128)};" in ptx


def test_types_and_targets(monkeypatch):
    with pytest.raises(ValueError, match="in_dtype 'int4' is not supported; use one of bf16, fp16, fp8, int8"):
        compile_hopper_gemm(in_dtype="int4")
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx950")
    with pytest.raises(ValueError, match="for sm_90a, but kernels are compiled for gfx950; use compile_gemm"):
        compile_hopper_gemm(in_dtype="bf16")


def test_operators_take_it():
    a, b = torch.empty((5, 3, 64), dtype=torch.int8), torch.empty((48, 64), dtype=torch.int8)
    scales = {"scale_a": torch.empty(5, 3), "scale_b": torch.empty(48)}
    bias = torch.empty(48)
    out = fk.gemm(a, b, **scales, bias=bias, activation="relu", out_dtype=torch.float32)
    assert (out.shape, out.dtype) == ((5, 3, 48), torch.float32)
    ptx = ptx_of_the_last()
    assert "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8" in ptx
    # 32 columns of f32 are a box.
    assert ptx.count("cp.async.bulk.tensor.2d.global.shared::cta") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shuffled": True}, "shuffled is not supported on sm_90a"),
        ({"rows_of_b": 44}, "44 columns of torch.bfloat16 are 88 bytes"),
        ({"k": 68}, "rows of a must begin at multiples of 16 bytes"),
    ],
)
def test_what_operators_refuse(arguments, message):
    k, n = arguments.pop("k", 64), arguments.pop("rows_of_b", 48)
    a, b = (torch.empty((rows, k), dtype=torch.bfloat16) for rows in (16, n))
    with pytest.raises(ValueError, match=message):
        fk.gemm(a, b, **arguments)


def test_a_long_k_is_split_where_tiles_are_few():
    """The workgroups of a cluster share a tile, and the first reads the sums of the others."""
    a, b = (torch.empty((rows, 8192), dtype=torch.bfloat16) for rows in (16, 1000))
    fk.gemm(a, b)
    ptx = ptx_of_the_last()
    # Two before and behind the sums are read, for those that multiply and for those that load.
    assert ptx.count("barrier.cluster.arrive") == 2 * 2
    assert ptx.count("ld.shared::cluster.v4") == 3 * 64 // 8
    with pytest.raises(ValueError, match="there is no residual with splits = 2"):
        compile_hopper_gemm(
            in_dtype="bf16", config=HopperConfig(64, 8, rows=64, splits=2), epilogue=Epilogue(residual=True)
        )


@pytest.mark.parametrize(
    ("m", "n", "k_bytes", "tile_n", "splits"),
    [
        (16, 1000, 16384, 64, 4), (16, 1000, 8192, 32, 2), (16, 1000, 8191, 32, 1), (16, 1000, 0, 32, 1),
        (64, 2048, 1 << 20, 32, 2), (64, 4096, 1 << 20, 32, 1), (128, 1024, 1 << 20, 48, 4),
        (192, 1024, 32768, 80, 4), (384, 1024, 32768, 128, 4), (128, 1024, 8192, 48, 4), (128, 2560, 16384, 48, 2),
        (256, 1024, 16384, 80, 4), (128, 1024, 8191, 64, 1),
        (128, 4096, 1 << 20, 64, 2), (100, 4096, 4096, 64, 1), (256, 4096, 1 << 20, 64, 1),
        (512, 4096, 1 << 20, 128, 1), (16384, 8192, 2048, 192, 1),
        (768, 4096, 8192, 192, 1), (640, 5120, 10240, 112, 1), (1280, 4096, 8192, 160, 1), (384, 12288, 8192, 96, 1),
        (4096, 4096, 8192, 128, 1), (8192, 8192, 16384, 192, 1), (8192, 28672, 8192, 128, 1),
        # Rows that do not begin at multiples of 128 bytes.
        (4000, 4000, 8000, 256, 1), (4000, 4000, 8064, 128, 1),
    ],
)  # fmt: skip
def test_the_default_for_a_shape(m, n, k_bytes, tile_n, splits):
    found = default_hopper_config(m, n, k_bytes=k_bytes)
    assert (found.tile_n, found.splits) == (tile_n, splits)
    found.check()
    assert default_hopper_config(m, n, k_bytes=k_bytes, epilogue=Epilogue(residual=True)).splits == 1


def test_one_scale_is_for_all():
    """One program for a scale of each row and for one: the number of scales bounds what is read."""
    a, b = torch.empty((300, 64), dtype=TYPES["fp8"]), torch.empty((512, 64), dtype=TYPES["fp8"])
    found = set()
    for scale_a, scale_b in ((300, 512), (1, 1), (300, 1)):
        fk.gemm(a, b, scale_a=torch.empty(scale_a), scale_b=torch.empty(scale_b))
        found.add(ptx_of_the_last())
    assert len(found) == 1
    with pytest.raises(ValueError, match=r"scale_a: expected \(300,\) of torch.float32, or one number, got \(299,\)"):
        fk.gemm(a, b, scale_a=torch.empty(299), scale_b=torch.empty(512))


@pytest.mark.parametrize(("rows", "hints"), [(16, 2), (64, 0)])
def test_few_rows(rows, hints):
    a, b = (torch.empty((one, 256), dtype=torch.bfloat16) for one in (rows, 4096))
    fk.gemm(a, b)
    ptx = ptx_of_the_last()
    # One consumer of 64 rows, of which as many are brought as there are, and 32 columns; two boxes of K come to one
    # barrier and are multiplied one behind the other.
    assert ptx.count("wgmma.mma_async.sync.aligned.m64n32k16") == 2 * 4
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 2 * 2
    assert re.search(r"\.(req|max)ntid\s+256", ptx)
    # B, which is read once, takes no room of others in the L2.
    assert ptx.count("complete_tx::bytes.L2::cache_hint") == hints
    assert f" {2 * 128 * (rows + 32)};" in ptx


@pytest.mark.parametrize(("rows", "splits", "fetched"), [(64, 1, 128), (64, 2, 128), (128, 1, 128), (128, 2, 256)])
def test_what_the_l2_fetches_together(rows, splits, fetched, monkeypatch):
    found = []

    def make_tensor_map(*arguments, fetched=256, make=fx.nvgpu.make_tensor_map, **options):
        found.append(fetched)
        return make(*arguments, fetched=fetched, **options)

    monkeypatch.setattr(fx.nvgpu, "make_tensor_map", make_tensor_map)
    launch = compile_hopper_gemm(in_dtype="bf16", config=HopperConfig(64, 4, rows=rows, splits=splits))
    a, b = (torch.empty((one, 256), dtype=torch.bfloat16) for one in (64, 512))
    launch(torch.empty((64, 512), dtype=torch.bfloat16), a, b)
    # Of A, B and C, and of parts of A.
    assert found == [fetched, fetched, 256, *(fetched,) * (2 if rows == 128 else 0)]


@pytest.mark.parametrize(
    ("m", "rows"), [(1, 16), (17, 24), (33, 40), (48, 48), (64, 64), (65, 80), (100, 112), (120, 128), (129, 128)]
)
def test_rows_that_are_brought(m, rows):
    """Few that are not there, as the copy engine is slow at those."""
    assert default_hopper_config(m, 4096).rows == rows


@pytest.mark.parametrize(
    ("shape", "config"),
    [
        ((4096, 4096), HopperConfig(128, 6, store_n=64, store_buffers=1, pingpong=True)),
        ((8192, 8192), HopperConfig(192, 5, store_n=32, store_buffers=1, pingpong=True)),
        ((1280, 4096), HopperConfig(160, 5, store_n=32, pingpong=True)),
        # One tile for each multiprocessor: nothing to take turns with.
        ((512, 4096), HopperConfig(128, 6)),
        ((16, 4096), HopperConfig(32, 8, store_buffers=1, rows=16, boxes=2)),
        ((64, 8192), HopperConfig(64, 6, rows=64, boxes=2)),
        ((32, 14336), HopperConfig(112, 4, store_buffers=1, rows=32, boxes=2)),
        ((64, 28672), HopperConfig(112, 4, store_buffers=1, rows=64, boxes=2)),
    ],
)
def test_the_configuration_of_a_shape(shape, config):
    assert default_hopper_config(*shape) == config


@pytest.mark.parametrize("rows", [1, 17, 33, 65, 4096])
def test_there_is_a_default_for_every_product(rows):
    for out_dtype, bytes_of_one in (("bf16", 2), ("f32", 4)):
        for residual in (False, True):
            epilogue = Epilogue(True, True, "relu", residual)
            for columns in (16, 1000, 2048, 5120, 14336, 151936):
                for k_bytes in (1 << 20, 8016):
                    found = default_hopper_config(
                        rows, columns, k_bytes=k_bytes, epilogue=epilogue, out_dtype=out_dtype
                    )
                    found.check(epilogue, bytes_of_one)


def test_a_residual_comes_to_where_results_go():
    a, b = torch.empty((300, 64), dtype=torch.bfloat16), torch.empty((512, 64), dtype=torch.bfloat16)
    out = fk.gemm(a, b, bias=torch.empty(512).bfloat16(), residual=torch.empty((300, 512)).bfloat16())
    assert out.shape == (300, 512)
    ptx = ptx_of_the_last()
    # Two loads of operands, three where the last rows of A come in parts, and one of each 64 columns of the residual.
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 2 + 3 + 1
    assert ptx.count("cp.async.bulk.tensor.2d.global.shared::cta") == 1
