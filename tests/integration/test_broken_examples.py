# SPDX-License-Identifier: Apache-2.0
"""The examples broken on purpose: the sanitizers say so, at the right line (see `flydsl.emulator.mutation`)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flydsl.emulator.mutation import Break, check_break

EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "fly-compiler" / "examples"
VECTOR_ADD, TILED_COPY, TILED_MMA, GEMM, GATHER = (
    str(EXAMPLES / f"{name}.py")
    for name in ("01_vector_add", "02_tiled_copy", "03_tiled_mma", "04_preshuffled_gemm", "05_gather_scatter")
)
COPY_IN, COPY_OUT = (
    "fx.copy(narrow, pieces, in_lds.partition_D(written))",
    "fx.copy(narrow, in_lds.partition_S(read), pieces)",
)

BREAKS = [
    ((257,), Break(VECTOR_ADD, "fx.copy_atom_call(atom, element_of(b), in_b)", "pass", "init",
                   ("fx.copy_atom_call(atom, out, element_of(c))",))),
    ((128, 64, 96), Break(TILED_MMA, "    sums.fill(0.0)", "    pass", "init", ("fx.gemm(tiled, sums",))),
    ((128, 256, 192), Break(GEMM, "    sums.fill(0.0)", "    pass", "init", ("fx.gemm(tiled, sums",))),
    ((257,), Break(VECTOR_ADD, "if block * THREADS + thread < n:", "if block * THREADS + thread <= n:", "memory",
                   ("fx.copy_atom_call(atom, element_of(a), in_a)", "fx.copy_atom_call(atom, element_of(b), in_b)"))),
    ((96, 64), Break(TILED_COPY, "    fx.barrier()", "    pass", "race", (COPY_IN, COPY_OUT))),
    ((96, 64), Break(TILED_COPY, COPY_IN, "pass", "init", (COPY_OUT,))),
    ((96, 64), Break(TILED_COPY, "(source, (TILE, TILE))[None, None, row_tile, column_tile])",
                     "(source, (TILE, TILE))[None, None, row_tile + 1, column_tile])", "memory",
                     ("fx.copy(wide, tile, fragment)",))),
    ((128, 64, 96), Break(TILED_MMA, "tile_a = tiles_a[None, None, row_tile, step]",
                          "tile_a = tiles_a[None, None, row_tile + 1, step]", "memory", ("fx.copy(load_a, from_a",))),
    ((128, 256, 192), Break(GEMM, "        fx.barrier()  # the reads of the last step are over", "        pass", "race",
                            ("fx.copy(through_lds, fetched, put", "fx.copy(through_lds, load_a"))),
    ((128, 256, 192), Break(GEMM, "        fx.barrier()", "        pass", "race",
                            ("fx.copy(through_lds, fetched, put", "fx.copy(through_lds, load_a"))),
    ((128, 256, 192), Break(GEMM, "        fx.copy(through_lds, fetched, put.partition_D(staged_a))", "        pass",
                            "init", ("fx.copy(through_lds, load_a",))),
    ((33, 260), Break(GATHER, "inside[0, step] = wanted & (column < columns)",
                      "inside[0, step] = wanted & (column <= columns)", "race", ("fx.scatter(",))),
]  # fmt: skip


@pytest.mark.parametrize(("case", "one"), [pytest.param(case, one, id=str(one)) for case, one in BREAKS])
def test_broken_example(case, one, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    check_break(one, lambda: sys.modules[Path(one.module).stem].run_case(case), tmp_path, reload=("_harness",))
