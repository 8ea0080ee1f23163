# SPDX-License-Identifier: Apache-2.0
"""GEMMs of gfx1250 by the tensor data mover, against float64."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

from flydsl.kernels.common.scale_shuffle import shuffle_scale_32x4  # noqa: E402
from flydsl.kernels.gemm import gemm_fp8fp4_gfx1250  # noqa: E402
from flydsl.kernels.gemm.gemm_a8w4_mxscale_gfx1250 import launch_gemm_a8w4_mxscale  # noqa: E402
from flydsl.kernels.gemm.gemm_a8w8_gfx1250 import launch_gemm_a8w8  # noqa: E402
from flydsl.kernels.gemm.gemm_bf16_gfx1250 import launch_gemm_bf16  # noqa: E402
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_mxscale_gemm  # noqa: E402
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm  # noqa: E402
from flydsl.runtime.device import get_rocm_arch  # noqa: E402

pytestmark = pytest.mark.skipif(not get_rocm_arch().startswith("gfx1250"), reason="kernels of gfx1250")

TYPES = {"fp16": torch.float16, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}


def pointers_to(*tensors: torch.Tensor) -> list[object]:
    import flydsl.compiler as flyc
    import flydsl.expr as fx

    kinds = {torch.float32: fx.Float32, torch.float16: fx.Float16, torch.bfloat16: fx.BFloat16, torch.uint8: fx.Uint8}
    return [flyc.from_c_void_p(kinds[one.dtype], one.data_ptr(), assumed_align=16) for one in tensors]


def operands(m: int, n: int, k: int, dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(m + n + k)
    return tuple((torch.randn(rows, k, generator=random) / 4).to(TYPES[dtype]) for rows in (m, n))


def check(got: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
    """Within what rounding the result and f32 sums of K products allow."""
    want = a.double() @ b.double().T
    size = a.double().abs() @ b.double().abs().T
    unit = {torch.float32: 0.0, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[got.dtype]
    allowed = unit * want.abs() + a.shape[1] * 2.0**-24 * size + 2.0**-24
    worst = ((got.double() - want).abs() - allowed).max()
    assert worst <= 0, worst


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "tile", "options"),
    [
        (70, 64, 256, "fp16", (64, 64, 64), {}),
        (130, 128, 384, "bf16", (64, 64, 32), {"num_buffers": 3, "out_dtype": "f32"}),
        (1, 64, 256, "bf16", (32, 32, 32), {"num_buffers": 4, "use_tdm_store": False}),
        (64, 128, 512, "fp16", (64, 128, 128), {"use_tdm_store": False, "out_dtype": "f32", "l2_prefetch_distance": 0}),
        (65, 64, 128, "fp16", (32, 64, 64), {"out_dtype": "bf16"}),
        (64, 128, 512, "fp16", (64, 128, 128), {"out_dtype": "f32"}),
        (64, 64, 512, "fp16", (64, 64, 64), {"use_tdm_store": False, "out_dtype": "f32"}),
        # Each operand by one wave, of several buffers; rows that no power of two of waves divides.
        (100, 64, 256, "bf16", (64, 64, 32), {"wave_specialized_tdm": True, "num_buffers": 3, "waves_per_eu": 2}),
        (50, 96, 128, "bf16", (96, 96, 64), {}),
        # Clusters, of which some workgroups have no rows at all.
        (130, 128, 128, "bf16", (32, 32, 32), {"cluster_m": 2, "cluster_n": 2, "num_buffers": 3}),
        (40, 128, 128, "fp16", (32, 64, 64), {"cluster_n": 2, "use_tdm_store": False}),
        (33, 64, 128, "bf16", (32, 64, 64), {"cluster_m": 4, "use_tdm_store": False, "out_dtype": "f32"}),
        # Four waves for each operand, and one for both; lines asked for into L2 beyond the last step.
        (65, 64, 128, "bf16", (64, 64, 32), {"m_warp": 4, "l2_prefetch_distance": 7}),
        (40, 64, 160, "fp16", (32, 64, 32), {"m_warp": 1, "n_warp": 1, "num_buffers": 3}),
    ],
)
def test_products(run, m, n, k, dtype, tile, options) -> None:
    tile_m, tile_n, tile_k = tile
    options = {"m_warp": 2, "n_warp": 2, **options}
    gemm = compile_wmma_gemm_tdm(N=n, K=k, in_dtype=dtype, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, **options)
    a, b = operands(m, n, k, dtype)
    c = torch.empty(m, n, dtype=TYPES[options.get("out_dtype", {"fp16": "f16"}.get(dtype, dtype))])
    c = run.empty(c)
    run(gemm, c, a, b, m, n, writes=[c])
    check(c, a, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"N": 0}, "N"),
        ({"K": 96}, "K = 96 has to be 2 or more steps of tile_k = 64"),
        ({"N": 96}, "N = 96 is no multiple of tile_n = 64"),
        ({"tile_k": 48}, "tile_k = 48: use 32"),
        ({"num_buffers": 5}, "num_buffers = 5: use 2, 3 or 4"),
        ({"m_warp": 3}, "m_warp \\* n_warp = 6"),
        ({"cluster_n": 2}, "N = 64 is no multiple of tile_n \\* cluster_n = 64 \\* 2"),
        ({"cluster_m": 17}, "cluster_m \\* cluster_n = 17 \\* 1: 16 is the most"),
        ({"wave_specialized_tdm": True, "m_warp": 1, "n_warp": 1}, "a wave for each of 2 operands, and there are 1"),
        ({"expert_sched_mode": True}, "expert_sched_mode other than its default"),
        ({"waves_per_eu": 17}, "waves_per_eu is a number of waves up to 16"),
        ({"in_dtype": "fp8"}, "in_dtype 'fp8' is not supported"),
        ({"tile_m": 1024, "tile_n": 256, "N": 256}, "more sums than 4 waves"),
    ],
)
def test_refusals(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        compile_wmma_gemm_tdm(
            **{"N": 64, "K": 256, "tile_m": 64, "tile_n": 64, "tile_k": 64, "m_warp": 2, "n_warp": 2, **options}
        )


def test_rows_apart_by_pointers(run) -> None:
    """`launch_gemm_bf16`: rows of A, B and C with something between them, which is not touched."""
    m, n, k = 70, 128, 192
    a, b = operands(m, n, k, "bf16")
    wide = [torch.full((rows, 264), float("nan"), dtype=torch.bfloat16) for rows in (m, n)]
    wide[0][:, :k], wide[1][:, :k] = a, b
    c = torch.full((m, 144), 3.0, dtype=torch.bfloat16)
    options, pointers = (64, 64, 64, 2, 2, 2), pointers_to(c, *wide)
    launch_gemm_bf16(*pointers, m, None, n, k, 264, 264, 144, *options)
    check(c[:, :n], a, b)
    assert (c[:, n:] == 3).all()
    with pytest.raises(ValueError, match="argument 'lda': 192 elements or more, a multiple of 8, got 100"):
        launch_gemm_bf16(*pointers, m, None, n, k, 100, 264, 144, *options)
    with pytest.raises(ValueError, match="tdm_balance other than its default is not written"):
        launch_gemm_bf16(*pointers, m, None, n, k, 264, 264, 144, *options, tdm_balance=1)


class MxProblem:
    """Random codes with random scales; rows of the largest and of the smallest scales among them."""

    def __init__(self, m: int, n: int, k: int, formats: tuple[str, str]) -> None:
        random = np.random.default_rng(m + n + k)
        self.values, self.codes, self.scales = [], [], []
        for rows, kind in zip((m, n), formats, strict=True):
            if kind == "fp8":
                codes = random.integers(0, 256, (rows, k), dtype=np.uint8)
                codes[(codes & 0x7F) == 0x7F] = 0x08  # no NaN
                values = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)
            else:
                nibbles = random.integers(0, 16, (rows, k), dtype=np.uint8)
                values = nibbles.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
                codes = nibbles[:, ::2] | nibbles[:, 1::2] << 4
            scales = random.integers(120, 134, (rows, k // 32), dtype=np.uint8)
            scales[0, 0] = 100
            self.values.append(values * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1))
            self.codes.append(codes)
            self.scales.append(shuffle_scale_32x4(scales))
        rows, width = self.codes[1].shape
        self.b = self.codes[1].reshape(rows // 16, 16, width // 16, 16).transpose(0, 2, 1, 3).copy()

    def arguments(self) -> list[torch.Tensor]:
        return [torch.from_numpy(one) for one in (self.codes[0], self.b.reshape(self.codes[1].shape), *self.scales)]

    def check(self, got: torch.Tensor) -> None:
        a, b = self.values
        want, size = a @ b.T, np.abs(a) @ np.abs(b).T
        unit = {torch.float32: 0.0, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[got.dtype]
        error = np.abs(got.double().numpy() - want)
        assert (error <= unit * np.abs(want) + a.shape[1] * 2.0**-24 * size).all()


@pytest.mark.parametrize(
    ("m", "n", "k", "data_format", "tile", "options"),
    [
        (70, 64, 256, "fp8", (32, 64, 128), {}),
        (33, 128, 512, "fp4", (64, 64, 128), {"num_buffers": 3}),
        (1, 64, 512, "a8w4", (32, 64, 256), {"out_dtype": "bf16"}),
        (64, 64, 512, "fp4", (64, 64, 256), {"use_tdm_store": False, "wave_specialized_tdm": True}),
        (97, 128, 256, "fp8", (32, 32, 128), {"cluster_m": 2, "cluster_n": 2, "out_dtype": "bf16"}),
        (45, 96, 256, "a8w4", (96, 96, 128), {"l2_prefetch_distance": 0}),
        (40, 64, 1024, "fp8", (32, 64, 128), {"split_k": 2, "use_tdm_store": False}),
        # Two waves, which bring two operands each; 16, of which four share one; blocks of rows in twos and in threes.
        (40, 64, 640, "a8w4", (64, 64, 128), {"m_warp": 1, "num_buffers": 3}),
        (70, 128, 256, "fp4", (128, 128, 128), {"m_warp": 4, "n_warp": 4}),
        (65, 96, 256, "fp8", (96, 96, 128), {"m_warp": 1, "n_warp": 2}),
    ],
)
def test_scaled_products(run, m, n, k, data_format, tile, options) -> None:
    problem = MxProblem(m, n, k, gemm_fp8fp4_gfx1250.DATA_FORMATS[data_format])
    options = {"m_warp": 2, "n_warp": 2, **options}
    gemm = compile_mxscale_gemm(
        data_format=data_format, N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], **options
    )
    c = run.empty(torch.empty(m, n, dtype=TYPES[options.get("out_dtype", "f32")]))
    if options.get("split_k", 1) > 1:  # added up in the order of arrival: every order is right, none has the same bits
        c.fill_(float("nan"))
        gemm(c, *problem.arguments(), m, n)
    else:
        run(gemm, c, *problem.arguments(), m, n, writes=[c])
    problem.check(c)


def test_the_builders_of_each_format_and_the_launch_by_pointers(run) -> None:
    builders = {"fp4": "compile_mxfp4_gemm", "fp8": "compile_mxfp8_gemm", "a8w4": "compile_a8w4_gemm"}
    for data_format, name in builders.items():
        problem = MxProblem(5, 32, 256, gemm_fp8fp4_gfx1250.DATA_FORMATS[data_format])
        gemm = getattr(gemm_fp8fp4_gfx1250, name)(N=32, K=256, tile_m=32, tile_n=32, m_warp=1, n_warp=1)
        c = torch.full((5, 32), float("nan"))
        gemm(c, *problem.arguments(), 5, 32)
        problem.check(c)
    wide = torch.full((5, 48), 2.0, dtype=torch.bfloat16)
    a, *rest = problem.arguments()
    apart = torch.zeros(5, 272, dtype=torch.uint8)
    apart[:, :256] = a
    pointers = pointers_to(wide, apart, *rest)
    launch_gemm_a8w4_mxscale(*pointers, 5, None, 32, 256, 272, 48, 32, 32, 128, 1, 1, 0, 2)
    assert (wide[:, 32:] == 2).all()
    problem.check(wide[:, :32])


def test_scales_of_rows(run) -> None:
    """`launch_gemm_a8w8`: E8M0 scales of 1, and an f32 for each row of A and of B."""
    m, n, k = 37, 64, 256
    problem = MxProblem(m, n, k, ("fp8", "fp8"))
    a, b = (codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for codes in problem.codes)
    scales = [torch.rand(rows) + 0.5 for rows in (m, n)]
    x, w = a * scales[0].double().numpy()[:, None], b * scales[1].double().numpy()[:, None]
    problem.values = [x, w]
    codes = torch.zeros(m, 272, dtype=torch.uint8)
    codes[:, :k] = torch.from_numpy(problem.codes[0])
    tiles, c = torch.from_numpy(problem.b), torch.full((m, 72), 2.0, dtype=torch.bfloat16)
    pointers = pointers_to(c, codes, tiles, *scales)
    launch_gemm_a8w8(*pointers, m, None, n, k, 0, 272, 72, 32, 64, 128, 2, 2, 0, 2)
    problem.check(c[:, :n])
    assert (c[:, n:] == 2).all()
    with pytest.raises(ValueError, match=r"scales of blocks of K .* are not written"):
        launch_gemm_a8w8(*pointers, m, None, n, k, 2, 272, 72, 32, 64, 128, 2, 2, 0, 2, is_bsc=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data_format": "fp6"}, "data_format 'fp6' is not supported; use one of fp4, fp8, a8w4"),
        ({"tile_m": 48, "m_warp": 1}, "and of 32, the rows of a block of scales"),
        ({"tile_k": 64}, "tile_k = 64: use 128, 256 or 512"),
        ({"split_k": 2}, "split_k = 2 adds its parts to C: it needs use_tdm_store=False and out_dtype 'f32'"),
        ({"split_k": 3, "use_tdm_store": False}, "more steps of tile_k = 128 in each of 3 parts"),
        ({"use_scale_opsel": True}, "use_scale_opsel other than its default is not written"),
        ({"scale_load_path": "vgpr"}, "scale_load_path 'vgpr' is not written; use 'tdm'"),
        ({"out_dtype": "int8"}, "out_dtype 'int8' is not supported; use one of f16, bf16, f32"),
        ({"wave_specialized_tdm": True, "n_warp": 1}, "a wave for each of 4 operands, and there are 2"),
    ],
)
def test_refusals_of_scaled_products(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        compile_mxscale_gemm(**{"N": 64, "K": 512, "tile_m": 64, "tile_n": 64, **options})


def test_scales_that_are_too_few(run) -> None:
    problem = MxProblem(33, 64, 256, ("fp4", "fp4"))
    gemm = compile_mxscale_gemm(N=64, K=256, tile_m=64, tile_n=64)
    c, (a, b, scale_a, scale_b) = torch.empty(33, 64), problem.arguments()
    with pytest.raises(ValueError, match="argument 'scale_a': expected 512 or more elements, got 256"):
        gemm(c, a, b, scale_a[:32], scale_b, 33, 64)


def held_along_k(formats: tuple[str, str], which: int) -> np.ndarray:
    """The k of element e that a lane of half h of the wave holds of A (0) or B (1), as [h, e]."""
    import flydsl.compiler as flyc
    import flydsl.expr as fx
    from flydsl.kernels.common.mma.tdm_loop import FORMATS, TdmLoop

    units: list[list[int]] = []

    @flyc.kernel
    def ask(x: fx.Tensor) -> None:
        _, of_a, of_b = TdmLoop(formats, (32, 32, 128), 2, (1, 1), 2, scaled=True, tiles=True).tiled_mmas()
        layout = of_b.tv_layout_A_tiled if which else of_a.tv_layout_B_tiled  # B is the instruction's rows
        count = FORMATS[formats[which]].depth // 2
        for lane in (0, 16):
            units.append([fx.crd2idx((lane, one), layout).unpack() // 16 for one in range(count)])

    @flyc.jit
    def launch(x: fx.Tensor) -> None:
        ask(x).launch(grid=1, block=32)

    flyc.compile.only(launch, torch.empty(1))
    each = 128 // FORMATS[formats[which]].depth  # elements of a unit
    return (np.array(units)[..., None] * each + np.arange(each)).reshape(2, 64)


def in_runs(length: int) -> np.ndarray:
    """The same for runs of K that the halves of the wave take in turn."""
    half, element = np.ogrid[:2, :64]
    return element // length * 2 * length + length * half + element % length


@pytest.mark.parametrize("formats", [("fp8", "fp8"), ("fp8", "fp4"), ("fp4", "fp4")])
def test_what_is_assumed_of_the_order_of_k_of_scaled_products(formats) -> None:
    """Runs of 16 bytes, as Triton fills the instruction; with runs of eight elements, as the layouts of our atoms have
    them, fp8 by fp8 is the same product, and what has fp4 would be another one (docs/emulator/rdna.md)."""
    held = [held_along_k(formats, which) for which in range(2)]
    for one, kind in zip(held, formats, strict=True):
        np.testing.assert_array_equal(one, in_runs(16 if kind == "fp8" else 32))
    pairs_stay = (held[0] == held[1]).all()  # what one order multiplies the other does, too
    blocks_stay = all((one // 32 == in_runs(8) // 32).all() for one in held)
    assert (pairs_stay and blocks_stay) == (formats == ("fp8", "fp8"))
