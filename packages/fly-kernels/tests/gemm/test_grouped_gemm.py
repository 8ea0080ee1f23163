# SPDX-License-Identifier: Apache-2.0
"""GEMMs of groups of rows against float64, by their names and as an operator; what no group has stays as it was."""

import re
from pathlib import Path

import pytest
import torch
from references import FLOATS, HALF_ULP

import flydsl.kernels as fk
import flydsl.kernels.operators.grouped_gemm  # noqa: F401  (registers torch.ops.flydsl.grouped_gemm)
from flydsl.kernels.common.defaults import defaults
from flydsl.kernels.gemm import grouped_dispatch
from flydsl.kernels.gemm.fp8_grouped_gemm import grouped_gemm_fp8_forward

EIGHT = {"fn": torch.float8_e4m3fn, "fnuz": torch.float8_e4m3fnuz, "e5m2": torch.float8_e5m2}


class Grouped:
    """Random operands, and their product in float64."""

    def __init__(self, ends, N, K, kinds, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.offsets = torch.tensor([0, *ends], dtype=torch.int64)
        rows, groups = ends[-1], len(ends)
        a, b = (torch.randn(*shape, K, generator=generator) for shape in ((rows,), (groups, N)))
        self.a, self.b = a.to(kinds[0]), b.to(kinds[1])
        self.scale_a, self.scale_b = torch.tensor([0.5 + 1 / 3]), torch.tensor([1.7])

    def check(self, c, scale_a=None, scale_b=None):
        scale_a = torch.ones(len(self.a)) if scale_a is None else scale_a.expand(len(self.a))
        scale_b = torch.ones(self.b.shape[:2]) if scale_b is None else scale_b.expand(self.b.shape[:2])
        name = next(name for name, dtype in FLOATS.items() if dtype == c.dtype)
        for group in range(len(self.b)):
            begin, end = self.offsets[group : group + 2].tolist()
            a, b = self.a[begin:end].double(), self.b[group].double()
            scales = scale_a[begin:end, None].double() * scale_b[group].double()
            expected = a @ b.t() * scales
            error = a.abs() @ b.abs().t() * scales * (a.shape[1] + 4) * 2.0**-24
            error += expected.abs() * (HALF_ULP[name] + 2.0**-22) + 2.0**-24
            excess = ((c[begin:end].double() - expected).abs() - error).nan_to_num(nan=float("inf"))
            assert begin == end or excess.max() <= 0, f"group {group} is off by {excess.max()}"


def own(arch):
    return EIGHT["fnuz"] if arch == "gfx942" else EIGHT["fn"]


@pytest.mark.parametrize(
    ("ends", "shape"),
    [
        ([3, 3, 20, 37], (68, 256)),  # an empty group; tiles that end inside of groups
        ([0, 0, 70], (64, 128)),
        ([40], (66, 72)),  # N and K that no kernel has
        ([16, 32, 48], (64, 192)),  # groups of whole tiles
    ],
)
def test_one_scale(arch, ends, shape):
    problem = Grouped(ends, *shape, (own(arch), own(arch)))
    c = grouped_gemm_fp8_forward(problem.a, problem.b, problem.scale_a, problem.scale_b, problem.offsets)
    assert c.dtype == torch.bfloat16
    problem.check(c, problem.scale_a, problem.scale_b)


@pytest.mark.parametrize("kinds", [("e5m2", "fn"), ("fn", "e5m2"), ("e5m2", "e5m2")])
def test_both_types_of_8_bits(arch, kinds):
    problem = Grouped([9, 33], 64, 256, [EIGHT[one] for one in kinds])
    arguments = (problem.a, problem.b, problem.scale_a, problem.scale_b, problem.offsets, torch.float16)
    if arch != "gfx950":
        with pytest.raises(ValueError, match=r"gfx942 multiplies two of float16 or bfloat16, or two of .*fnuz"):
            grouped_gemm_fp8_forward(*arguments)
        return
    problem.check(grouped_gemm_fp8_forward(*arguments), problem.scale_a, problem.scale_b)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, "fn"])
def test_groups_of_many_rows_have_large_tiles(arch, kind):
    """Groups of less than a tile, of none, and of more than one; columns that no tile divides."""
    kind = own(arch) if kind == "fn" else kind
    problem = Grouped([97, 97, 500, 520], 268, 256, (kind, kind))
    names = {torch.bfloat16: "bf16", torch.float16: "fp16"}
    (tile_m, tile_n), _ = grouped_dispatch.grouped_tile(arch, (names.get(kind, "fp8"),) * 2, 520, 256, 4)
    assert tile_m * tile_n > {"gfx950": 128 * 128, "gfx942": 64 * 64}[arch]
    scales = [None, None] if kind.itemsize == 2 else [problem.scale_a, problem.scale_b]
    c = fk.grouped_gemm(problem.a, problem.b, problem.offsets, scale_a=scales[0], scale_b=scales[1])
    problem.check(c, *scales)


def test_the_tile_goes_by_the_mean_rows_of_a_group(arch, monkeypatch):
    table = {"tiles": [[16, [16, 64], 0], [64, [128, 128], 2], [None, [256, 256], 4]]}
    monkeypatch.setattr(grouped_dispatch, "defaults", lambda family, of: {("grouped_gemm", arch): table}[family, of])

    def tile(rows, K=256, kinds=("fp8", "fp8")):
        return grouped_dispatch.grouped_tile(arch, kinds, rows, K, 8)

    assert [tile(rows) for rows in (1, 128)] == [((16, 64), 0)] * 2
    assert [tile(rows) for rows in (129, 512)] == [((128, 128), 2)] * 2
    assert tile(513) == ((256, 256), 4)
    # What large tiles cannot have: one step, a part of a step, two formats.
    assert [tile(10**6, K) for K in (128, 192)] == [((128, 128), 2)] * 2
    assert tile(10**6, 128, ("bf16", "bf16")) == ((256, 256), 4)
    assert [tile(10**6, 256, kinds) for kinds in (("bf8", "bf8"), ("fp8", "bf8"))] == [((128, 128), 2)] * 2


@pytest.mark.parametrize("tuned", ["gfx942", "gfx950"])
def test_the_table_has_a_tile_for_any_rows_and_one_for_short_k(tuned):
    tiles = defaults("grouped_gemm", tuned)["tiles"]
    assert [rows is None for rows, _, _ in tiles] == [False] * (len(tiles) - 1) + [True]
    limits = [rows for rows, _, _ in tiles[:-1]]
    assert limits == sorted(limits)
    assert [128, 128] in [tile for _, tile, _ in tiles]


def test_any_division_of_the_rows_by_the_same_kernel(arch):
    """70 groups, more than lanes of a wave; and the kernel that was built for one division serves the others."""
    generator = torch.Generator().manual_seed(3)
    before = grouped_dispatch._built.cache_info().misses
    for seed in range(3):
        ends = torch.sort(torch.randint(0, 91, (70,), generator=generator))[0].tolist()
        ends[-1] = 90 + seed
        problem = Grouped(ends, 64, 64, (torch.float16, torch.float16), seed)
        problem.check(fk.grouped_gemm(problem.a, problem.b, problem.offsets))
    assert grouped_dispatch._built.cache_info().misses == before + 1


def test_rows_of_no_group_are_not_written(run, arch):
    problem = Grouped([5, 21, 30], 64, 128, (own(arch), own(arch)))
    problem.offsets = torch.tensor([4, 5, 21, 25])  # rows 0 to 3 and 25 to 29 belong to none
    c = torch.empty(30, 64, dtype=torch.bfloat16)

    def launch(a, b, out, offsets, scale_a, scale_b):
        grouped_dispatch.multiply_grouped("test", a, b, out, offsets, scale_a, scale_b)

    run(launch, problem.a, problem.b, c, problem.offsets, problem.scale_a, problem.scale_b, writes=[c])
    assert c[:4].isnan().all()
    assert c[25:].isnan().all()
    problem.check(c, problem.scale_a, problem.scale_b)


@pytest.mark.parametrize("offsets", [[0, 5, 21, 900], [-70, 5, 21, 30], [30, 20, 10, 0]])
def test_offsets_that_are_wrong_write_nowhere_else(arch, offsets):
    problem = Grouped([5, 21, 30], 64, 64, (torch.bfloat16, torch.bfloat16))
    memory = torch.full((32, 64), 7.0, dtype=torch.bfloat16)
    grouped_dispatch.multiply_grouped("test", problem.a, problem.b, memory[1:31], torch.tensor(offsets))
    assert (memory[[0, 31]] == 7).all()


def test_values_that_are_no_numbers_stay_in_their_row_and_group(arch):
    problem = Grouped([10, 20], 64, 256, (own(arch), own(arch)))
    nan = 0x80 if arch == "gfx942" else 0x7F
    problem.a.view(torch.uint8)[3, 200] = nan
    problem.b.view(torch.uint8)[1, 5, 0] = nan
    c = fk.grouped_gemm(problem.a, problem.b, problem.offsets, scale_a=problem.scale_a, scale_b=problem.scale_b)
    expected = torch.zeros(20, 64, dtype=torch.bool)
    expected[3], expected[10:, 5] = True, True
    assert torch.equal(c.isnan(), expected)


def test_a_scale_for_each_row_and_column(arch):
    problem = Grouped([7, 40], 66, 128, (own(arch), own(arch)))
    scale_a, scale_b = torch.rand(40) + 0.5, torch.rand(2, 66) + 0.5
    c = fk.grouped_gemm(
        problem.a, problem.b, problem.offsets, scale_a=scale_a, scale_b=scale_b, out_dtype=torch.float32
    )
    problem.check(c, scale_a, scale_b)


def test_is_one_operator(arch):
    problem = Grouped([7, 20], 64, 64, (torch.bfloat16, torch.bfloat16))
    arguments = (problem.a, problem.b, problem.offsets, None, None, torch.float32)
    torch.library.opcheck(torch.ops.flydsl.grouped_gemm, arguments, test_utils=("test_schema", "test_faketensor"))
    compiled = torch.compile(lambda *one: fk.grouped_gemm(*one), fullgraph=True, backend="eager")
    problem.check(compiled(problem.a, problem.b, problem.offsets))
    none = Grouped([0, 0], 64, 64, (torch.bfloat16, torch.bfloat16))
    assert fk.grouped_gemm(none.a, none.b, none.offsets).shape == (0, 64)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"group_offs": torch.tensor([0, 20])}, r"group_offs: expected \(3,\) of torch.int64"),
        ({"group_offs": torch.tensor([0, 7, 20], dtype=torch.int32)}, "got .* of torch.int32"),
        ({"a_scale": torch.ones(20)}, r"a_scale: expected \(1,\)"),
        ({"b_T": torch.zeros(2, 64, 128)}, "expected a .M, K. and b"),
        ({"out_dtype": torch.float64}, "out_dtype is one of"),
        ({"a": torch.zeros(20, 64)}, "a is torch.float32, expected a type of 8 bits"),
    ],
)
def test_refusals(arch, change, said):
    problem = Grouped([7, 20], 64, 64, (own(arch), own(arch)))
    given = {"a": problem.a, "b_T": problem.b, "a_scale": problem.scale_a, "b_scale": problem.scale_b}
    with pytest.raises(ValueError, match=said):
        grouped_gemm_fp8_forward(**(given | {"group_offs": problem.offsets} | change))


def test_refusals_of_the_operator(arch):
    problem = Grouped([7, 20], 64, 64, (own(arch), own(arch)))
    with pytest.raises(ValueError, match="needs both scales"):
        fk.grouped_gemm(problem.a, problem.b, problem.offsets)
    with pytest.raises(ValueError, match=r"scale_b: expected \(2, 64\) of torch.float32, or one number"):
        fk.grouped_gemm(problem.a, problem.b, problem.offsets, scale_a=torch.ones(20), scale_b=torch.ones(64))
    with pytest.raises(ValueError, match="scales are for 8-bit types"):
        fk.grouped_gemm(
            problem.a.half(), problem.b.half(), problem.offsets, scale_a=torch.ones(1), scale_b=torch.ones(1)
        )


def test_the_example_of_the_page():
    page = Path(__file__).parents[4] / "docs" / "kernels" / "gemm.md"
    (block,) = [one for one in re.findall(r"```python\n(.*?)```", page.read_text(), re.S) if "grouped_gemm" in one]
    names = {}
    exec(compile(block, str(page), "exec"), names)
    a, b, c = (names[one].double() for one in "abc")
    expected = torch.cat([a[:17] @ b[0].t(), a[17:] @ b[2].t()])
    assert ((c - expected).abs() <= expected.abs() * 2.0**-8 + 2.0**-12).all()
