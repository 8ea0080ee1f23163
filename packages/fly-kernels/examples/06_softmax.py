# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix, from the kernel library, for any number of columns.

Run it:  ARCH=gfx950 python 06_softmax.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

# The line that each example prints is written once, beside the language's own examples.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fly-compiler" / "examples"))
from _harness import main, report

from flydsl.kernels.softmax_kernel import build_softmax_module

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
# Half a unit in the last place of a bf16 just below 1 is 2^-9; f32's own rounding is far below 1e-6.
TOLERANCES = {"f32": 1e-6, "bf16": 2.0**-8}

CASES = [(4, columns, dtype) for dtype in DTYPES for columns in (1, 257, 2560, 8191)]


def run_case(case: tuple[int, int, str]) -> dict[str, Any]:
    """Run one shape and compare with torch in float64; the result's memory is full of NaN before."""
    rows, columns, dtype = case
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(columns)).mul(4).to(DTYPES[dtype])
    y = torch.full_like(x, float("nan"))
    build_softmax_module(rows, columns, dtype)(x, y, rows)
    return report("softmax", f"{rows}x{columns}", y, torch.softmax(x.double(), dim=-1), TOLERANCES[dtype])


if __name__ == "__main__":
    main(CASES, run_case)
