# SPDX-License-Identifier: Apache-2.0
"""GEMMs of gfx1250 by the tensor data mover, against float64."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm  # noqa: E402
from flydsl.runtime.device import get_rocm_arch  # noqa: E402

pytestmark = pytest.mark.skipif(not get_rocm_arch().startswith("gfx1250"), reason="kernels of gfx1250")

TYPES = {"fp16": torch.float16, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}


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
    ],
)
def test_products(run, m, n, k, dtype, tile, options) -> None:
    tile_m, tile_n, tile_k = tile
    gemm = compile_wmma_gemm_tdm(
        N=n, K=k, in_dtype=dtype, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, m_warp=2, n_warp=2, **options
    )
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
        ({"cluster_m": 2}, "cluster_m other than its default is not written"),
        ({"wave_specialized_tdm": True}, "wave_specialized_tdm other than its default"),
        ({"in_dtype": "fp8"}, "in_dtype 'fp8' is not supported"),
        ({"tile_m": 1024, "tile_n": 256, "N": 256}, "more sums than 4 waves"),
    ],
)
def test_refusals(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        compile_wmma_gemm_tdm(
            **{"N": 64, "K": 256, "tile_m": 64, "tile_n": 64, "tile_k": 64, "m_warp": 2, "n_warp": 2, **options}
        )
