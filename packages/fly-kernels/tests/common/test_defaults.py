# SPDX-License-Identifier: Apache-2.0
"""Defaults come from one file: a builder that is asked for nothing does what the file says."""

import copy
import json
from importlib import resources

import pytest
import torch
from rows import rows

from flydsl.kernels.attention.config import FlashConfig
from flydsl.kernels.attention.config import default_config as attention_default
from flydsl.kernels.common import defaults as module
from flydsl.kernels.common.defaults import shape_class
from flydsl.kernels.common.row_config import RowConfig, row_config
from flydsl.kernels.common.workgroup_config import WorkgroupConfig, workgroup_config
from flydsl.kernels.gemm.config import GemmConfig, default_config
from flydsl.kernels.gemm.dispatch import multiply
from flydsl.kernels.norm.softmax_kernel import build_softmax_module

FILE = json.loads(resources.files("flydsl.kernels").joinpath("defaults.json").read_text())
SHAPES = [(arch, one) for arch, found in FILE["gemm_shapes"].items() for one in found]


@pytest.fixture
def table(monkeypatch):
    """The content of the file, which a test may change."""
    content = copy.deepcopy(FILE)
    monkeypatch.setattr(module, "_table", lambda: content)
    return content


def test_each_family_takes_its_numbers_from_the_file(table, arch):
    for kernel in table["rows"][arch]:
        table["rows"][arch][kernel] = {"elements": 24}
        assert row_config(kernel) == RowConfig(elements=24)
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


def test_a_builder_builds_what_the_file_says(table, arch, run):
    table["rows"][arch]["softmax"] = {"elements": 4}
    build_softmax_module.cache_clear() if hasattr(build_softmax_module, "cache_clear") else None
    x = rows(2, 512, "f16")
    y = run.empty(x)
    launch = build_softmax_module(512, "f16")
    run(launch, x, y, 2, writes=[y])
    assert torch.allclose(y.double(), torch.softmax(x.double(), -1), atol=1e-3)


def test_a_tuned_class_of_shapes_comes_before_the_rules(table, arch):
    config = {"tile_m": 64, "tile_n": 64, "split_k": 2, "waves": [2, 2]}
    table["gemm_shapes"][arch] = [{"in_dtype": "bf16", "class": [256, 512, 1024], "config": config}]
    found = default_config(arch, "bf16", 200, 400, 1024)
    assert found == GemmConfig(64, 64, 256, 2, waves=(2, 2))
    table["gemm_shapes"][arch][0]["config"] = {**config, "split_k": 16}
    assert default_config(arch, "bf16", 200, 400, 544).split_k != 16  # 544 has no 16 parts: the rules
    assert default_config(arch, "fp16", 200, 400, 1024).waves is None  # nothing was found for it
    assert default_config(arch, "bf16", 300, 400, 1024).waves is None


def test_classes_of_shapes():
    assert shape_class(1, 2, 3, 4096, 4097) == [1, 2, 4, 4096, 8192]


@pytest.mark.parametrize(("of", "found"), SHAPES, ids=lambda one: one if isinstance(one, str) else str(one["class"]))
def test_what_was_tuned_computes_right_on_a_small_problem(of, found, arch):
    if of != arch:
        pytest.skip("tuned for another architecture")
    values = dict(found["config"])
    waves = values.pop("waves")
    config = GemmConfig(**values, tile_k=32, waves=None if waves is None else tuple(waves))
    m, n, k = config.tile_m + 5, config.tile_n + 12, 128 * config.split_k
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(size, k, generator=generator).to(torch.bfloat16) for size in (m, n))
    out = torch.full((m, n), float("nan"), dtype=torch.bfloat16)
    multiply(a, b, out, config=config)
    expected = a.double() @ b.double().t()
    bound = 2.0**-8 * expected.abs() + 2.0**-18 * k * (a.double().abs() @ b.double().abs().t()).max() / k
    assert ((out.double() - expected).abs() <= bound).all()


def test_the_entries_of_tuning_say_where_they_come_from():
    for _, one in SHAPES:
        assert one["class"] == shape_class(*one["shape"])
        assert one["measure"] in ("predicted", "device")
        assert one["milliseconds"] > 0
        assert one["model"] or one["measure"] == "device"
