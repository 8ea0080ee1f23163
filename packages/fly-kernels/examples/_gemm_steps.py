# SPDX-License-Identifier: Apache-2.0
"""What the steps of "how the GEMM is made" share: the problem, the launch, the check, and the emulated counters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

# The line that each example prints is written once, beside the language's own examples.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fly-compiler" / "examples"))
from _harness import expect, main, report

import flydsl.compiler as flyc
import flydsl.expr as fx

__all__ = ["CASES", "THREADS", "TILE_K", "TILE_M", "TILE_N", "WAVES", "buffers", "launcher", "main", "run_case"]

TILE_M, TILE_N, TILE_K = 128, 128, 64
WAVES = 4
THREADS = 64 * WAVES

CASES = [(128, 128, 64), (256, 128, 192), (128, 384, 320)]


def buffers(a: Any, b: Any, c: Any) -> list[Any]:
    """The operands as buffer resources: addresses are 32-bit offsets, and the hardware checks them."""
    return [fx.rocdl.make_buffer_tensor(one) for one in (a, b, c)]


def launcher(kernel: Any, out: Any = fx.Float32) -> Any:
    """The host function C = A B^T of a kernel (a, b, c): a workgroup for each tile, extents known and whole tiles."""

    @flyc.jit
    def gemm(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        expect("a", a, fx.Float16, rank=2, tile=(TILE_M, TILE_K))
        expect("b", b, fx.Float16, rank=2, tile=(TILE_N, TILE_K))
        expect("c", c, out, rank=2, tile=(TILE_M, TILE_N))
        (m, k), (n, b_k) = a.shape.unpack(), b.shape.unpack()
        if (b_k, c.shape.unpack()) != (k, (m, n)):
            raise ValueError(f"a {(m, k)}, b {(n, b_k)} and c {c.shape.unpack()} are no matrices of a product A B^T")
        kernel(a, b, c).launch(grid=(m // TILE_M, n // TILE_N), block=(THREADS,))

    return gemm


def run_case(gemm: Any, name: str, case: tuple[int, int, int], out: torch.dtype = torch.float32) -> dict[str, Any]:
    """Multiply random matrices of one shape and compare with torch in float64."""
    m, n, k = case
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randn(rows, k, generator=generator).half() for rows in (m, n))
    c = torch.full((m, n), float("nan"), dtype=out)
    gemm(*(flyc.from_dlpack(one, assumed_align=16) for one in (a, b, c)))
    expected = a.double() @ b.double().t()
    # Products of halves are exact in f32; K of them are added with one rounding each, in some order.
    bound = (a.double().abs() @ b.double().abs().t()).max().item() * k * 2.0**-24
    if out is not torch.float32:
        bound += expected.abs().max().item() * 2.0**-11
    return report(f"gemm, {name}", f"{m}x{n}x{k}", c, expected, bound)
