# SPDX-License-Identifier: Apache-2.0
"""Defaults come from one file: a builder that is asked for nothing does what the file says."""

import copy
import itertools
from dataclasses import replace
from importlib import resources

import pytest
import torch
from rows import rows
from test_awkward_shapes import BUILDERS, launch

from flydsl.kernels.attention.config import FlashConfig
from flydsl.kernels.attention.config import default_config as attention_default
from flydsl.kernels.common import defaults as module
from flydsl.kernels.common.arch import float8_of
from flydsl.kernels.common.defaults import shape_class
from flydsl.kernels.common.row_config import RowConfig, row_config
from flydsl.kernels.common.row_plan import plan_rows
from flydsl.kernels.common.workgroup_config import WorkgroupConfig, workgroup_config
from flydsl.kernels.gemm.arguments import ELEMENT_BYTES
from flydsl.kernels.gemm.config import GemmConfig, default_config
from flydsl.kernels.gemm.dispatch import multiply
from flydsl.kernels.norm import softmax_kernel
from flydsl.kernels.norm.softmax_kernel import build_softmax_module
from flydsl.kernels.tuning.device import peak
from flydsl.kernels.tuning.rows import row_estimate, row_space

TEXT = resources.files("flydsl.kernels").joinpath("defaults.json").read_text()
FILE = module.load(TEXT)
SHAPES = [(arch, one) for arch, found in FILE["gemm_shapes"].items() for one in found]
# Forms of the rules, as findings: with bf16 and fp8, and two parts of K.
FORMS = [
    (arch, {"in_dtype": kind, "shape": form["tile"], "config": config})
    for arch, forms in FILE["gemm"]["gfx950"]["forms"].items()
    for form, kind in itertools.product(forms, ("bf16", "fp8"))
    for config in [{"tile_m": form["tile"][0], "tile_n": form["tile"][1], "split_k": 2, "waves": form["waves"]}]
]
ROW_SHAPES = [one for found in FILE["row_shapes"].values() for one in found]


@pytest.fixture
def table(monkeypatch):
    """The content of the file, which a test may change."""
    content = copy.deepcopy(module._table())
    monkeypatch.setattr(module, "_table", lambda: content)
    return content


def test_each_family_takes_its_numbers_from_the_file(table, arch):
    table["row_shapes"][arch] = []
    for kernel in table["rows"][arch]:
        table["rows"][arch][kernel] = {"elements": 24}
        assert row_config(kernel, 1000, 16) == RowConfig(elements=24)
    for kernel in table["workgroups"][arch]:
        table["workgroups"][arch][kernel] = {"threads": 192}
        assert workgroup_config(kernel) == WorkgroupConfig(192)
    table["attention"]["wave64"]["usual"] = {"waves": 4, "kv_tile": 32, "waves_per_eu": 3}
    assert attention_default(128) == FlashConfig(4, 1, 32, 3)
    table["attention"]["wave64"]["large_heads"]["kv_tile"] = 64
    assert attention_default(256) == FlashConfig(4, 1, 64, 1)
    table["gemm_shapes"][arch] = []
    table["gemm"][arch]["few_rows"] = [[5, [32, 128]]]
    assert (default_config(arch, "bf16", 5, 4096, 4096).tile_m, default_config(arch, "bf16", 5, 4096, 4096).tile_n) == (
        32,
        128,
    )


def test_a_kernel_without_a_row_is_told_where_it_goes(arch):
    for family, ask in (
        ("rows", lambda: row_config("halves", 64, 16)),
        ("workgroups", lambda: workgroup_config("halves")),
    ):
        with pytest.raises(
            KeyError, match=f"kernel 'halves' has no default .* a row of that name under '{family}', '{arch}'"
        ):
            ask()


def test_a_builder_builds_what_the_file_says(table, arch, run, monkeypatch):
    entry = {"kernel": "softmax", "bits": 16, "columns": 512, "config": {"elements": 8, "block": 128}}
    table["rows"][arch]["softmax"], table["row_shapes"][arch] = {"elements": 4}, [entry]
    plans = []
    monkeypatch.setattr(softmax_kernel, "plan_rows", lambda *of: plans.append(plan_rows(*of)) or plans[-1])
    for columns in (512, 520):  # of the class, and of none
        x = rows(2, columns, "f16")
        y = run.empty(x)
        run(build_softmax_module(columns, "f16"), x, y, 2, writes=[y])
        assert torch.allclose(y.double(), torch.softmax(x.double(), -1), atol=1e-3)
    assert plans == [plan_rows(512, 16, RowConfig(8, block=128)), plan_rows(520, 16, RowConfig(4))]
    assert plans[0].block == 128


def test_a_class_of_rows_is_a_kernel_a_width_and_a_length(table, arch):
    config = {"elements": 8, "block": 64}
    table["row_shapes"][arch] = [{"kernel": "norm", "bits": 16, "columns": 512, "config": config}]
    usual = RowConfig(**table["rows"][arch]["norm"])
    found = replace(usual, elements=8, block=64)
    assert found != usual
    assert [row_config("norm", columns, 16) for columns in (257, 300, 512)] == [found] * 3
    assert [row_config("norm", columns, 16) for columns in (256, 513)] == [usual] * 2
    assert row_config("norm", 512, 32) == usual
    assert row_config("softmax", 512, 16) == RowConfig(**table["rows"][arch]["softmax"])
    assert row_config("norm", 512, 16, usual) is usual
    with pytest.raises(ValueError, match="N must be a positive integer, got 0"):
        row_config("norm", 0, 16)


def test_a_tuned_class_of_shapes_comes_before_the_rules(table, arch):
    config = {"tile_m": 64, "tile_n": 64, "split_k": 2, "waves": [2, 2]}
    table["gemm_shapes"][arch] = [{"in_dtype": "bf16", "class": [256, 512, 1024], "config": config}]
    found = default_config(arch, "bf16", 200, 400, 1024)
    assert found == GemmConfig(64, 64, 256, 2, waves=(2, 2))
    table["gemm_shapes"][arch][0]["config"] = {**config, "split_k": 16}
    assert default_config(arch, "bf16", 200, 400, 544).split_k != 16  # 544 has no 16 parts: the rules
    assert default_config(arch, "fp16", 200, 400, 1024) == default_config(arch, "bf16", 200, 400, 1024)
    assert default_config(arch, "int8", 200, 400, 1024).waves is None  # nothing was found for it
    assert default_config(arch, "bf16", 300, 400, 1024).waves is None


def test_the_file_is_what_the_tools_write():
    """One row a line, and architectures whose rows are the same share them."""
    assert module.dump(FILE) == TEXT
    for line in TEXT.splitlines():
        assert len(line) < 250


def test_a_table_is_read_as_it_is_written():
    rows = {"softmax": {"elements": 16}, "norm": {"elements": 8, "single": True}}
    table = {"rows": {"gfx942": rows, "gfx950": dict(rows), "sm_90a": {}}}
    table["found"] = {"gfx942": [], "gfx950": [{"a": [1]}]}
    text = module.dump(table)
    assert module.load(text) == table
    assert text.splitlines()[2:5] == [
        '  "gfx942 gfx950": {', '   "softmax": {"elements": 16},', '   "norm": {"elements": 8, "single": true}'
    ]  # fmt: skip
    read = module.load(text)
    read["rows"]["gfx942"]["softmax"]["elements"] = 4
    assert read["rows"]["gfx950"] == rows, "a row that is shared in the file is each architecture's own"


def test_classes_of_shapes():
    assert shape_class(1, 2, 3, 4096, 4097) == [1, 2, 4, 4096, 8192]


@pytest.mark.parametrize(
    ("of", "found"),
    SHAPES + FORMS,
    ids=lambda one: one if isinstance(one, str) else f"{one['in_dtype']} {one['shape']}",
)
def test_what_was_tuned_computes_right_on_a_small_problem(of, found, arch):
    if of != arch:
        pytest.skip("tuned for another architecture")
    values = dict(found["config"])
    waves = values.pop("waves")
    config = GemmConfig(
        **values, tile_k=64 // ELEMENT_BYTES[found["in_dtype"]], waves=None if waves is None else tuple(waves)
    )
    m, n, k = config.tile_m + 5, config.tile_n + 12, 128 * config.split_k
    generator = torch.Generator().manual_seed(0)
    if found["in_dtype"] == "int8":
        a, b = (torch.randint(-9, 9, (size, k), generator=generator, dtype=torch.int8) for size in (m, n))
    else:
        kinds = {"bf16": torch.bfloat16, "fp8": getattr(torch, float8_of(arch).torch_name)}
        kind = kinds[found["in_dtype"]]
        a, b = (torch.randn(size, k, generator=generator).to(kind) for size in (m, n))
    scales = [None, None] if found["in_dtype"] == "bf16" else [torch.rand(rows, generator=generator) for rows in (m, n)]
    out = torch.full((m, n), float("nan"), dtype=torch.bfloat16)
    multiply(a, b, out, scale_a=scales[0], scale_b=scales[1], config=config)
    factor = 1.0 if scales[0] is None else scales[0].double()[:, None] * scales[1].double()
    expected = (a.double() @ b.double().t()) * factor
    largest = ((a.double().abs() @ b.double().abs().t()) * factor).max()
    bound = 2.0**-8 * expected.abs() + 2.0**-18 * largest
    assert ((out.double() - expected).abs() <= bound).all()


def test_the_entries_of_tuning_say_where_they_come_from():
    for _, one in SHAPES:
        assert one["milliseconds"] > 0
        assert "config" in one
    for one in ROW_SHAPES:
        assert shape_class(one["columns"]) == [one["columns"]]
        assert len(one["over_best"]) == 2
        assert ("rows_over_best" in one) == ("config" in one)
        assert all(ratio >= 1 for ratio in [*one["over_best"], *one.get("rows_over_best", ())])


def test_each_class_of_gemms_is_once_in_the_table():
    found = [(arch, one["in_dtype"], *shape_class(*one["shape"])) for arch, one in SHAPES]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("tuned", ["gfx942", "gfx950"])
def test_the_table_of_rows_has_each_class_once(tuned):
    found = [(one["kernel"], one["bits"], one["columns"]) for one in FILE["row_shapes"][tuned]]
    lengths = [2**power for power in range(7, 15)]
    assert sorted(found) == sorted(itertools.product(FILE["rows"][tuned], (16, 32), lengths))


def test_defaults_of_rows_hold_what_the_kernel_can_hold():
    """How much of a row a kernel holds, and whether it has a row a workgroup, are the kernel's, whatever was found."""
    for arch, found in FILE["row_shapes"].items():
        for one in found:
            usual, config = RowConfig(**FILE["rows"][arch][one["kernel"]]), one.get("config", {})
            assert not {"held", "single", "unroll"} & set(config), one
            assert config.get("elements", 0) <= usual.held, one


# Each configuration that a kernel has for a class of rows, with the longest of its classes.
TUNED_ROWS = {
    (arch, one["kernel"], RowConfig(**{**FILE["rows"][arch][one["kernel"]], **one["config"]})): (
        one["bits"],
        one["columns"],
    )
    for arch, found in FILE["row_shapes"].items()
    for one in sorted(found, key=lambda one: one["columns"])
    if "config" in one
}


@pytest.mark.once
@pytest.mark.usefixtures("hopper")
def test_rows_on_hopper_can_be_tuned():
    named = {"dtype": "bf16", "rows": 4096, "columns": 4096}
    found = row_space().configs(named)
    estimates = [row_estimate(one, named) for one in found]
    assert len(found) > 20
    assert min(estimates) / 1.83e9 >= 2 * 4096 * 4096 * 2 / 3.35e12, "no less than memory takes"
    assert len({round(one) for one in estimates}) > 1, "it tells them apart"


@pytest.mark.once
def test_what_has_no_data_sheet_here_has_no_estimate(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx1250")
    with pytest.raises(ValueError, match=r"tuning are for gfx942, gfx950, sm_90a, not for gfx1250"):
        peak()


@pytest.mark.parametrize(("of", "kernel", "config"), TUNED_ROWS, ids=str)
def test_what_was_found_for_rows_computes_right(of, kernel, config, arch, run):
    """A length of the class that is no multiple of anything, and more rows than a workgroup has."""
    if of != arch:
        pytest.skip("tuned for another architecture")
    bits, columns = TUNED_ROWS[of, kernel, config]
    n, dtype = columns - columns // 4 - 3, {16: "bf16", 32: "f32"}[bits]
    m = 2 * plan_rows(n, bits, config).rows + 1
    assert row_config(kernel, n, bits) == config
    names = {
        "norm": "build_fused_add_rmsnorm_module",
        "quantised_norm": "build_fused_add_rmsnorm_dynamicquant_module",
        "norm_bwd": "build_rmsnorm_bwd_two_stage_module",
    }
    name = names.get(kernel, f"build_{kernel}_module")
    launch(BUILDERS[name](name, m, n, dtype, lambda tensors: tensors), run)
