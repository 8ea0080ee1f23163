# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions x tiles x grids of waves x depths of the GEMM: each is right, or refused for its reason.

What is refused, and why, is worked out here from the numbers alone. All combinations are built; some of those that are
legal are run against float64, with `-m slow` all of them.
"""

import itertools
import math
import re
from dataclasses import dataclass

import pytest
import torch
from references import Problem

from flydsl.kernels.common.arch import LDS_BYTES
from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm import loop_forms
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm

BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
TILES = [(16, 64), (48, 64), (64, 128), (128, 128), (256, 256), (40, 64)]
WAVES = [(1, 1), (1, 4), (2, 2), (4, 1), (2, 4), (3, 1)]
K_WAVES = [1, 2, 4]
DEPTHS = [(1, False), (2, False), (3, False), (2, True), (3, True)]  # LDS buffers, filled without registers
K_BYTES = [192, 512, 1056]
FEW = 4  # of each type that are run without `-m slow`


@dataclass(frozen=True)
class Case:
    in_dtype: str
    tile: tuple[int, int]
    waves: tuple[int, int]
    k_waves: int
    depth: tuple[int, bool]
    k_bytes: int

    @property
    def K(self):
        return self.k_bytes // BYTES[self.in_dtype]

    @property
    def config(self):
        step = 64 // BYTES[self.in_dtype]
        stages, direct = self.depth
        return GemmConfig(
            *self.tile, step, waves=self.waves, k_waves=self.k_waves, lds_stage=stages, use_async_copy=direct
        )

    def build(self, N):
        return compile_gemm(N=N, K=self.K, config=self.config, in_dtype=self.in_dtype, out_dtype="f32")


def cases(in_dtype):
    lists = (TILES, WAVES, K_WAVES, DEPTHS, K_BYTES)
    return [Case(in_dtype, *one) for one in itertools.product(*lists)]


def reasons(arch, case):
    """What is wrong with a combination: a part of each message that is a right one."""
    (rows, columns), (along_m, along_n), (stages, direct) = case.tile, case.waves, case.depth
    waves = along_m * along_n * case.k_waves
    whole = rows % (16 * along_m) == 0 and columns % (16 * along_n) == 0
    found = {
        f"or 16 waves, not {waves}": waves not in (1, 2, 4, 8, 16),
        f"tile_m = {rows} is no multiple of 16 rows for each of {along_m} waves": rows % (16 * along_m),
        f"tile_n = {columns} is no multiple of 16 columns for each of {along_n} waves": columns % (16 * along_n),
        "there is no tail along K": case.k_bytes % 64,
        f"of 64 bytes for each of {case.k_waves} waves": case.k_bytes % (64 * case.k_waves),
        f"lds_stage is 1 or 2, got {stages}": stages > 2 and not direct,
        "use_async_copy needs gfx950": direct and arch != "gfx950",
    }
    if whole:
        sums = 4 * (rows // (16 * along_m)) * (columns // (16 * along_n))
        found[f"{waves} waves need {sums} registers a thread for the sums"] = sums > 192
        # The shortest step has 64 bytes of K for each wave along it; waves along K alone keep A in registers.
        a_pass = 16 * waves  # rows that 64 threads a wave load at once, 16 bytes each
        staged = math.ceil(rows * case.k_waves / a_pass) * a_pass * 64 if waves > case.k_waves or direct else 0
        found["bytes of LDS"] = stages * staged > LDS_BYTES[arch]
    return [reason for reason, broken in found.items() if broken]


@pytest.mark.parametrize("in_dtype", BYTES)
def test_every_combination_is_built_or_refused_for_its_reason(arch, in_dtype):
    legal = 0
    for case in cases(in_dtype):
        expected = reasons(arch, case)
        if expected:
            with pytest.raises(ValueError, match="|".join(map(re.escape, expected))):
                case.build(case.tile[1])
        else:
            case.build(case.tile[1])
            legal += 1
    assert legal > 100


def check(run, arch, case):
    problem = Problem(case.tile[0] + 5, case.tile[1] + 4, case.K, case.in_dtype, "f32", arch=arch, seed=case.k_bytes)
    c, empty = problem.output(), torch.empty(0)
    scales = (problem.scale_a, problem.scale_b) if problem.scaled else (empty, empty)
    run(case.build(problem.N), c, problem.a, problem.b, *scales, empty, empty, empty, problem.M, writes=[c])
    problem.check(c)


def chosen(arch, in_dtype, few):
    legal = [one for one in cases(in_dtype) if not reasons(arch, one)]
    # A prime step, other for each type: all values of each list come up.
    step = max(1, len(legal) // FEW) | 1
    return legal[list(BYTES).index(in_dtype) * 7 :: step] if few else legal


@pytest.mark.parametrize("in_dtype", BYTES)
def test_some_of_them_are_right(run, arch, in_dtype):
    found = chosen(arch, in_dtype, few=True)
    assert len(found) >= FEW - 1
    for case in found:
        try:
            check(run, arch, case)
        except Exception as error:
            raise AssertionError(str(case)) from error


@pytest.mark.slow
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("in_dtype", BYTES)
def test_all_of_them_are_right(run, arch, in_dtype, tile):
    for case in chosen(arch, in_dtype, few=False):
        if case.tile == tile:
            try:
                check(run, arch, case)
            except Exception as error:
                raise AssertionError(str(case)) from error


STEPS = [64, 128, 256, 512, 1024]


def form_fits(case, step_bytes):
    """Whether the main loop can have this step, from the numbers alone; else it has that of its plan."""
    (along_m, along_n), steps = case.waves, case.k_bytes // step_bytes
    if case.k_bytes % step_bytes or step_bytes % (64 * case.k_waves):
        return False
    if (along_m, along_n) == (1, 1):
        return steps >= 4
    return steps >= 2


def form_overflows(arch, case, step_bytes):
    """Whether the buffers of a step of A that waves share do not fit LDS."""
    at_once = 64 * math.prod(case.waves) * case.k_waves * 16
    return case.waves != (1, 1) and 2 * math.ceil(case.tile[0] * step_bytes / at_once) * at_once > LDS_BYTES[arch]


@pytest.mark.parametrize("in_dtype", BYTES)
def test_steps_of_the_loop_in_layouts(run, arch, monkeypatch, in_dtype):
    """The step is a number: the loop has each that fits, or refuses it; each seventeenth is run."""
    assert TiledLoop.exists(arch, in_dtype)
    fits = ran = 0
    lists = ([(16, 64), (48, 64), (64, 128)], [(1, 1), (1, 4), (2, 2)], K_WAVES, [(2, False)], [640, 2048])
    everything = itertools.product(itertools.starmap(Case, itertools.product([in_dtype], *lists)), STEPS)
    for case, step_bytes in everything:
        if reasons(arch, case):
            continue
        forced = step_bytes, case.waves, case.k_waves
        monkeypatch.setattr(loop_forms, "_tiled_form", lambda gemm, forced=forced: forced)
        gemm = TileGemm(
            arch=arch, N=case.tile[1], K=case.K, in_dtype=in_dtype, out_dtype="f32", tile_m=case.tile[0],
            tile_n=case.tile[1], tile_k=64 // BYTES[in_dtype], epilogue=Epilogue(), shuffled=False,
            waves=case.waves, k_waves=case.k_waves,
        )  # fmt: skip
        taken = form_fits(case, step_bytes)
        if taken and form_overflows(arch, case, step_bytes):
            with pytest.raises(ValueError, match="bytes of LDS"):
                case.build(case.tile[1])
            continue
        assert (gemm.tiled.tile[2] * BYTES[in_dtype] == step_bytes) >= taken, (case, step_bytes)
        fits += taken
        if taken and fits % 17 == 4 * list(BYTES).index(in_dtype):
            ran += 1
            check(run, arch, case)
    assert ran > 2
