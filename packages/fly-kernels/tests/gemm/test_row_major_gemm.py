# SPDX-License-Identifier: Apache-2.0
"""GEMMs of row-major B: split K, few rows, ragged columns, strides, epilogues, orders of workgroups."""

import random

import pytest
import torch
from references import Problem

import flydsl.expr as fx
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm import config as config_module
from flydsl.kernels.gemm.config import COMPUTE_UNITS, GemmConfig, default_config
from flydsl.kernels.gemm.row_major_gemm import compile_gemm

SMALL = GemmConfig(32, 64, 64)


def launch(run, problem, config, in_dtype, *, epilogue=None, shuffled=False, residual=None, a=None, b=None):
    a = problem.a if a is None else a
    b = (shuffle_weight(problem.b) if shuffled else problem.b) if b is None else b
    kernel = compile_gemm(
        N=problem.N, K=problem.K, config=config, in_dtype=in_dtype, out_dtype=problem.out_dtype, epilogue=epilogue,
        shuffled=shuffled,
    )  # fmt: skip
    c = problem.output()
    workspace = torch.empty(config.split_k * problem.M * problem.N if config.split_k > 1 else 0)
    none = torch.empty(0, dtype=c.dtype)
    run(
        kernel, c, a, b, problem.scale_a, problem.scale_b, problem.bias, none if residual is None else residual,
        workspace, problem.M, writes=[c, workspace],
    )  # fmt: skip
    problem.check(c)


@pytest.mark.parametrize("in_dtype", ["fp16", "bf16", "fp8", "int8"])
@pytest.mark.parametrize("split_k", [1, 2, 4])
@pytest.mark.parametrize("rows", [1, 33])
def test_split_k(run, arch, rows, split_k, in_dtype):
    problem = Problem(rows, 128, 1024, in_dtype, "bf16", arch=arch, seed=split_k)
    launch(run, problem, GemmConfig(32, 64, 128, split_k), in_dtype)


@pytest.mark.parametrize("columns", [4, 60, 68, 132, 252])
@pytest.mark.parametrize("split_k", [1, 2])
def test_columns_that_no_tile_divides(run, arch, columns, split_k):
    problem = Problem(19, columns, 256, "bf16", "fp16", arch=arch)
    launch(run, problem, GemmConfig(32, 64, 64, split_k), "bf16")


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("shape", [(1, 80, 512), (16, 208, 2048), (7, 64, 4096)])
def test_decode(run, arch, shape, shuffled):
    problem = Problem(*shape, "bf16", arch=arch)
    launch(run, problem, default_config(arch, "bf16", *shape), "bf16", shuffled=shuffled)


def test_no_rows(run, arch):
    launch(run, Problem(0, 64, 128, "fp16", "fp16", arch=arch), SMALL, "fp16")


@pytest.mark.parametrize("waves", [(1, 1), (2, 2), (4, 1), (1, 8), (2, 4)])
def test_grids_of_waves(run, arch, waves):
    problem = Problem(70, 260, 256, "fp16", "fp16", arch=arch)
    launch(run, problem, GemmConfig(64, 128, 64, waves=waves), "fp16")


GRIDS = [((1, 2), 2), ((1, 1), 4), ((2, 2), 2), ((1, 1), 2), ((2, 1), 4), ((1, 1), 1), ((1, 4), 2), ((1, 2), 4)]


@pytest.mark.parametrize(
    ("in_dtype", "depth", "waves", "k_waves"),
    [
        *[("fp8", 1280, *grid) for grid in GRIDS],
        *[("bf16", 512, *grid) for grid in GRIDS[:2]],
        *[
            pytest.param(dtype, depth, *grid, marks=pytest.mark.slow)
            for dtype in ("bf16", "fp8", "int8")
            for depth in (512, 2304)
            for grid in GRIDS
        ],
    ],
)
def test_waves_along_k(run, arch, waves, k_waves, in_dtype, depth):
    problem = Problem(70, 132, depth, in_dtype, "fp16", arch=arch)
    launch(run, problem, GemmConfig(64, 64, 64, waves=waves, k_waves=k_waves), in_dtype)


@pytest.mark.parametrize(
    ("k_waves", "lds_stage", "shuffled"), [(1, 2, False), (2, 2, True), (1, 3, True), (2, 3, False), (1, 4, False)]
)
def test_direct_copies_to_several_buffers(run, arch, k_waves, lds_stage, shuffled):
    config = GemmConfig(
        32, 64, 64, waves=(1, 4 // k_waves), k_waves=k_waves, lds_stage=lds_stage, use_async_copy=arch == "gfx950"
    )
    problem = Problem(40, 128, 1216, "fp16", arch=arch)
    if arch != "gfx950" and lds_stage > 2:
        with pytest.raises(ValueError, match="more are for use_async_copy"):
            launch(run, problem, config, "fp16", shuffled=shuffled)
        return
    launch(run, problem, config, "fp16", shuffled=shuffled)


@pytest.mark.parametrize(("group_m", "xcd_swizzle"), [(1, 0), (2, 0), (5, 0), (0, 2)])
def test_orders_of_workgroups(run, arch, group_m, xcd_swizzle):
    problem = Problem(100, 332, 128, "bf16", arch=arch)
    launch(run, problem, GemmConfig(16, 64, 64, group_m=group_m, xcd_swizzle=xcd_swizzle), "bf16")


@pytest.mark.parametrize("split_k", [1, 2])
def test_rows_apart(run, arch, split_k):
    problem = Problem(21, 64, 256, "bf16", arch=arch)
    wide = torch.full((21, 400), float("nan"), dtype=torch.bfloat16)
    deep = torch.full((64, 264), float("nan"), dtype=torch.bfloat16)
    a, b = wide[:, 64:320], deep[:, 8:]
    a.copy_(problem.a)
    b.copy_(problem.b)
    launch(run, problem, GemmConfig(32, 64, 64, split_k), "bf16", a=a, b=b)


@pytest.mark.parametrize("split_k", [1, 2])
def test_rows_of_results_apart(arch, split_k):
    problem = Problem(21, 68, 256, "fp16", "fp16", arch=arch)
    wide = torch.full((21, 100), 7.0, dtype=torch.float16)
    residual = torch.randn(21, 80).half()[:, 8:76]
    problem.expected = problem.expected + residual.double()
    problem.error = problem.error + problem.expected.abs() * 2.0**-10
    kernel = compile_gemm(
        N=68, K=256, config=GemmConfig(32, 64, 64, split_k), in_dtype="fp16", out_dtype="fp16",
        epilogue=Epilogue(residual=True),
    )  # fmt: skip
    none = torch.empty(0)
    c = wide[:, 12:80]
    kernel(c, problem.a, problem.b, none, none, none, residual, torch.empty(split_k * 21 * 68), 21)
    problem.check(c)
    assert (wide[:, :12] == 7).all()
    assert (wide[:, 80:] == 7).all()


@pytest.mark.parametrize("split_k", [1, 2])
@pytest.mark.parametrize("activation", ["none", "relu", "silu", "gelu"])
@pytest.mark.parametrize("in_dtype", ["fp16", "int8"])
def test_whole_epilogue(run, arch, in_dtype, activation, split_k):
    name = "bias" if activation == "none" else f"bias_{activation}"
    problem = Problem(34, 128, 256, in_dtype, "fp16", arch=arch, epilogue=name)
    residual = torch.randn(34, 128).half()
    problem.expected = problem.expected + residual.double()
    problem.error = problem.error + problem.expected.abs() * 2.0**-10 + 2.0**-20
    epilogue = Epilogue(in_dtype == "int8", True, activation, True)
    launch(run, problem, GemmConfig(32, 64, 128, split_k), in_dtype, epilogue=epilogue, residual=residual)


def test_f32_output(run, arch):
    problem = Problem(34, 128, 256, "bf16", "f32", arch=arch)
    launch(run, problem, SMALL, "bf16")


def test_the_order_of_parts_does_not_matter(run, arch):
    """`run` compares the bits of every order of waves; the parts are added in the order of K."""
    problem = Problem(8, 64, 2048, "fp16", "f32", arch=arch)
    launch(run, problem, GemmConfig(16, 64, 128, 8), "fp16")


@pytest.mark.parametrize(
    ("config", "numbers", "said"),
    [
        (GemmConfig(24, 64, 64), (64, 128), "tile_m = 24 is no multiple of 16 rows"),
        (GemmConfig(16, 32, 64), (64, 128), "tile_n = 32 is no multiple of 16 columns for each of 4 waves"),
        (GemmConfig(16, 64, 16), (64, 128), "are 32 bytes, no multiple of 64"),
        (GemmConfig(16, 64, 64, 4), (64, 128), r"K = 128 is no multiple of split_k \* tile_k = 4 \* 64"),
        (GemmConfig(16, 64, 64), (66, 128), "N = 66 is no multiple of 4"),
        (GemmConfig(16, 64, 64, 0), (64, 128), "split_k must be a positive integer"),
        (GemmConfig(48, 64, 64, waves=(3, 1)), (64, 128), "1, 2, 4, 8 or 16 waves, not 3"),
        (GemmConfig(16, 64, 64, group_m=2, xcd_swizzle=2), (64, 128), "choose one"),
        (GemmConfig(16, 64, 64, lds_stage=4), (64, 128), "lds_stage is 1 or 2, got 4"),
        (GemmConfig(16, 64, 64, lds_stage=0), (64, 128), "lds_stage must be a positive integer, got 0"),
        (GemmConfig(16, 64, 64, k_waves=4), (64, 128), "k_waves = 4 needs waves"),
        (GemmConfig(16, 64, 64, waves=(1, 4), k_waves=3), (64, 128), "1, 2, 4, 8 or 16 waves, not 12"),
        (GemmConfig(16, 64, 64, waves=(1, 1), k_waves=4), (64, 192), "no multiple of 64 bytes for each of 4 waves"),
        (GemmConfig(512, 256, 64, waves=(2, 2)), (64, 128), "4 waves need 512 registers a thread"),
    ],
)
def test_refusals(config, numbers, said):
    with pytest.raises(ValueError, match=said):
        compile_gemm(N=numbers[0], K=numbers[1], config=config, in_dtype="bf16", out_dtype="bf16")


def test_a_missing_workspace_is_reported(arch):
    problem = Problem(8, 64, 256, "bf16", arch=arch)
    kernel = compile_gemm(N=64, K=256, config=GemmConfig(16, 64, 64, 2), in_dtype="bf16", out_dtype="bf16")
    none = torch.empty(0, dtype=torch.bfloat16)
    with pytest.raises(ValueError, match="argument 'workspace': expected 1024 or more elements, got 0"):
        kernel(problem.output(), problem.a, problem.b, none, none, none, none, torch.empty(0), 8)


@pytest.mark.parametrize("arch_name", ["gfx942", "gfx950"])
@pytest.mark.parametrize("in_dtype", ["bf16", "int8"])
@pytest.mark.parametrize("shape", [(1, 4096, 8192), (16, 64, 64), (32, 384, 7168), (300, 768, 320), (8192,) * 3])
def test_default_configurations_fit(arch_name, in_dtype, shape):
    config = default_config(arch_name, in_dtype, *shape)
    config.check(arch_name, in_dtype, shape[1], shape[2], shuffled=True)
    tiles = -(-shape[0] // config.tile_m) * -(-shape[1] // config.tile_n)
    assert config.split_k == 1 or tiles * config.split_k <= COMPUTE_UNITS[arch_name]


@pytest.mark.parametrize("arch_name", ["gfx942", "gfx950"])
def test_fp16_has_what_was_found_for_bf16(arch_name):
    shape = (32, 4096, 4096)
    assert default_config(arch_name, "bf16", *shape).waves == (2, 2), "a finding, no rule"
    assert default_config(arch_name, "fp16", *shape) == default_config(arch_name, "bf16", *shape)


@pytest.mark.parametrize("arch_name", ["gfx942", "gfx950"])
def test_k_is_split_where_that_saves_more_than_it_costs(arch_name):
    """64 tiles, a quarter of the compute units; each loads 80 times K."""
    assert [default_config(arch_name, "fp16", 16, 4096, k).split_k for k in (2048, 3072, 4096, 16384)] == [1, 1, 4, 4]


@pytest.mark.parametrize(
    ("arch_name", "shape", "tile"),
    [
        ("gfx942", (768, 3072, 4096), (64, 128)),  # 288 tiles for 304 compute units
        ("gfx942", (768, 2816, 4096), (64, 128)),  # 264, more than 0.84 of them
        ("gfx942", (640, 3072, 4096), (64, 64)),  # 240 of 64 x 128 are too few
        ("gfx942", (1024, 4096, 4096), (64, 128)),  # 256 of 128 x 128 are too few, 512 of these two rounds
        ("gfx942", (96, 6144, 2560), (32, 64)),  # 288 in one round, where 192 of 64 x 64 leave a third idle
        ("gfx942", (96, 7168, 2560), (64, 64)),  # 336 are more than one round
        ("gfx942", (48, 6144, 2560), (64, 64)),  # the second 32 rows would be half empty
        ("gfx950", (1500, 5120, 3072), (256, 128)),  # 240 for 256
        ("gfx950", (3000, 5120, 3072), (128, 256)),  # 480, two rounds
        ("gfx1201", (96, 1024, 2560), (64, 64)),  # nothing was found there
    ],
)
def test_tiles_that_about_fill_the_compute_units(arch_name, shape, tile):
    config = default_config(arch_name, "bf16", *shape)
    assert (config.tile_m, config.tile_n) == tile


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ((512, 7168, 7168), (256, 128, 2, None)),  # 224 workgroups, which load 192 times K
        ((512, 4096, 14336), (256, 128, 4, None)),
        ((512, 5120, 5120), (128, 128, 1, (2, 4))),  # 64 x 128 would take two rounds
        ((1024, 4096, 4096), (128, 128, 1, (2, 4))),  # the same tile in eight waves: no other is on its compute unit
        ((512, 4096, 4096), (128, 64, 1, (2, 4))),  # 128 x 128 would need two parts of K
        ((128, 14336, 4096), (128, 64, 1, (2, 4))),
        ((128, 5120, 5120), (64, 64, 1, None)),  # B comes from memory for as long, and parts would cost more
        ((192, 2048, 7168), (32, 64, 1, None)),  # half of the second tile of 128 rows would be missing
        ((96, 7168, 2048), (64, 64, 1, None)),
        ((512, 8192, 8160), (128, 128, 1, None)),  # no whole steps of 128 bytes
    ],
)
def test_one_round_takes_what_loads_the_least(shape, found):
    config = default_config("gfx950", "bf16", *shape)
    assert (config.tile_m, config.tile_n, config.split_k, config.waves) == found
    assert default_config("gfx950", "fp16", *shape) == config
    assert default_config("gfx942", "bf16", *shape).waves is None


@pytest.mark.parametrize("seed", range(20))
def test_rows_from_beyond_l2_are_those_of_the_tiles_of_a_die(seed):
    """Counted over the workgroups that run on the first of eight dies at once."""
    choose = random.Random(seed)
    arch_name, tile = choose.choice(["gfx942", "gfx950"]), choose.choice([(64, 128), (128, 128), (128, 256)])
    shape = choose.randrange(1, 9000), choose.randrange(4, 9000, 4)
    grid = tuple(-(-extent // size) for extent, size in zip(shape, tile, strict=True))
    together = max(1, min(COMPUTE_UNITS[arch_name], grid[0] * grid[1]) // 8)
    tiles = [fx.TileWalk(grid)(8 * index) for index in range(together)]
    rows, columns = ({one[mode] for one in tiles} for mode in (0, 1))
    expected = (len(rows) * tile[0] + len(columns) * tile[1]) / together
    assert config_module._beyond_l2(arch_name, *shape, tile) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("arch_name", "shape", "found"),
    [
        ("gfx950", (1024, 14336, 4096), (128, 256, 4)),  # a die would load a column tile for each workgroup
        ("gfx942", (1024, 14336, 4096), (128, 256, 4)),
        ("gfx950", (560, 12288, 1536), (128, 256, 4)),
        ("gfx950", (1024, 8192, 8192), (256, 128, 0)),  # four row tiles: 136 rows from beyond L2, of 384
        ("gfx950", (1664, 10240, 1536), (128, 256, 0)),  # 0.56 of what it loads
        ("gfx950", (4096, 4096, 4096), (256, 256, 0)),  # two of 16 row tiles
        ("gfx942", (256, 14336, 4096), (64, 128, 0)),  # too small
    ],
)
def test_the_order_of_workgroups(arch_name, shape, found):
    chosen = default_config(arch_name, "bf16", *shape)
    assert (chosen.tile_m, chosen.tile_n, chosen.xcd_swizzle) == found
    chosen.check(arch_name, "bf16", *shape[1:], shuffled=False)


@pytest.mark.parametrize(
    ("shape", "tiles"),
    [  # of 16 and of 8 bits; both load as much from L2
        ((2048, 4096, 4096), ((256, 128), (128, 256))),  # and from beyond it: fp8 takes 1.02 x as long in 256 x 128
        ((1536, 4096, 4096), ((256, 128), (256, 128))),  # 160 rows a workgroup from beyond it, and 187
    ],
)
def test_tiles_that_load_as_much(shape, tiles):
    for kinds, tile in zip((("bf16", "fp16"), ("fp8", "int8")), tiles, strict=True):
        for kind in kinds:
            config = default_config("gfx950", kind, *shape)
            assert (config.tile_m, config.tile_n) == tile


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gfx1250", "bf16", 1, 64, 64), "written for gfx942, gfx950, gfx1100, gfx1201, not for gfx1250"),
        (("gfx942", "bf16", 1, 64, 48), "no multiple of 64: pad K"),
        (("gfx942", "f32", 1, 64, 64), "in_dtype 'f32' is not supported"),
    ],
)
def test_no_default_configuration(arguments, said):
    with pytest.raises(ValueError, match=said):
        default_config(*arguments)
