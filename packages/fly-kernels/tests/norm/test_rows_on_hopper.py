# SPDX-License-Identifier: Apache-2.0
"""Row kernels on NVIDIA Hopper: which of them begin while the launches before them end. No device is asked for."""

import re

import pytest
import torch

import flydsl.compiler as flyc
from flydsl.kernels.common.row_config import row_config
from flydsl.kernels.common.row_plan import RowConfig, plan_rows
from flydsl.kernels.layernorm_kernel import build_layernorm_module
from flydsl.kernels.norm.compact import Compact, Fetched, form_of, threads_of
from flydsl.kernels.norm.forward import ForwardNorm
from flydsl.kernels.norm.layernorm_kernel import build_fused_add_layernorm_module
from flydsl.kernels.rmsnorm_kernel import build_rmsnorm_module
from flydsl.kernels.softmax_kernel import build_softmax_module


def operands(builder, columns, dtype=torch.bfloat16):
    matrix, vector = torch.empty(4, columns, dtype=dtype), torch.empty(columns, dtype=dtype)
    vectors = {build_softmax_module: 0, build_rmsnorm_module: 1, build_layernorm_module: 2}[builder]
    return [matrix, *[vector] * vectors, matrix, 4]


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_softmax_module, build_rmsnorm_module, build_layernorm_module])
@pytest.mark.parametrize(("columns", "config"), [(1024, None), (2048, None), (16384, None), (512, RowConfig(block=64))])
def test_rows_wait_by_themselves(builder, columns, config, monkeypatch):
    """With workgroups of 64 threads the instruction that lets others begin takes too long."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16", config=config), *operands(builder, columns), None)
    (kernel,) = compiled.note["kernels"]
    assert kernel["griddepcontrol_wait"] is True
    few = config is not None
    one_wave = 128 if builder is build_softmax_module else 256  # threads of a workgroup of rows of one wave each
    assert kernel["block"][0] == (64 if few else {1024: one_wave, 2048: 128, 16384: 256}[columns])
    assert ("griddepcontrol.launch_dependents" in compiled.ir("isa")) is not few


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_softmax_module, build_layernorm_module])
@pytest.mark.parametrize(("columns", "loads"), [(1024, 4), (16384, 8), (1000, 3), (1001, 0), (100_000, 0)])
def test_rows_are_read_by_a_policy_of_the_cache(builder, columns, loads, monkeypatch):
    """Whole vectors of 16 bytes that all threads have, of rows that are read once."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None)
    assert compiled.ir("isa").count("L2::cache_hint") == loads


# Columns, workgroups of a multiprocessor, their threads, vectors of each weight ahead of the reductions, loads of rows.
COMPACT = [
    (build_layernorm_module, 16384, 3, 256, 2, 8),
    (build_layernorm_module, 8192, 4, 128, 4, 8),
    (build_layernorm_module, 6144, 6, 128, 2, 6),
    (build_layernorm_module, 12288, 3, 256, 2, 6),
    (build_rmsnorm_module, 16384, 3, 256, 2, 8),
    (build_layernorm_module, 32768, 2, 256, 2, 16),
    (build_rmsnorm_module, 20480, 2, 256, 2, 10),
    (build_layernorm_module, 3584, 12, 64, 2, 7),
]


@pytest.mark.once
@pytest.mark.parametrize(("builder", "columns", "together", "threads", "ahead", "loads"), COMPACT)
def test_long_rows_are_held_in_their_own_type(builder, columns, together, threads, ahead, loads, monkeypatch):
    """So there is room for more workgroups. The L1 keeps the weights, some of which come during the reductions."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None)
    ptx, (kernel,) = compiled.ir("isa"), compiled.note["kernels"]
    assert kernel["block"][0] == threads
    weights = 2 if builder is build_layernorm_module else 1
    assert f".minnctapersm {together}\n" in ptx
    assert ptx.count("L2::cache_hint") == loads
    assert ptx.count("ld.global.L1::evict_last.v4.b32") == weights * loads
    assert ptx[: ptx.index("bar")].count("L1::evict_last") == weights * ahead
    # The first results are stored before the last weights are asked for.
    assert ptx.index("st.global.v4.b32") < ptx.rindex("L1::evict_last")
    assert ptx.count("st.global.v4.b32") == loads


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_rmsnorm_module, build_layernorm_module])
def test_rows_of_one_wave_are_held_in_their_own_type(builder, monkeypatch):
    """Eight of them are a workgroup; no wave waits for another."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    ptx = flyc.compile.only(builder(1024, "f16"), *operands(builder, 1024, torch.float16), None).ir("isa")
    assert ".minnctapersm 4\n" in ptx
    assert "bar.sync" not in ptx
    assert ptx.count("L1::evict_last") == (8 if builder is build_layernorm_module else 4)


# What a plan of bf16 is and how it is held: LayerNorm, then RMSNorm.
FORMS = [
    (256, 16, None, 16, None),
    (512, 32, Compact(6, 2, 2), 32, None),
    (768, 32, Compact(5, 0, 2), 32, None),
    (1000, 32, None, 32, None),
    (1024, 32, Compact(4, 0, 2), 32, Compact(4, 0, 2)),
    (1536, 64, None, 128, None),
    (2000, 128, None, 128, None),
    (2048, 128, Fetched(12), 128, None),
    (2560, 64, None, 128, None),
    (3072, 128, None, 128, None),
    (3584, 64, Compact(12, 2, 4), 128, None),
    (4096, 128, Compact(8, 1, 2), 256, None),
    (5120, 128, None, 128, None),
    (7168, 128, Compact(6, 2, 4), 128, None),
    (10240, 256, Compact(4, 0, 2), 256, Compact(3, 2, 4)),
    (11008, 256, None, 256, Fetched(None)),
    (14336, 256, Compact(3, 2, 4), 256, Compact(3, 2, 4)),
    (18432, 256, Compact(2, 2, 4), 256, Compact(2, 2, 4)),
    (18440, 512, None, 512, None),
    (32768, 256, Compact(2, 2, 4), 256, Compact(2, 2, 4)),
    (34816, 1024, None, 1024, None),
]


@pytest.mark.once
@pytest.mark.parametrize(("columns", "threads", "form", "of_rmsnorm", "rmsnorm_form"), FORMS)
def test_how_norms_of_a_length_are_held(columns, threads, form, of_rmsnorm, rmsnorm_form, monkeypatch):
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    for centred, many, held in ((True, threads, form), (False, of_rmsnorm, rmsnorm_form)):
        plan = ForwardNorm(centred, columns, "bf16", None).plan(16)
        assert (plan.threads, form_of(plan, 16, centred=centred, residual=False, bfloat=True)) == (many, held)
        assert plan == ForwardNorm(centred, columns, "bf16", "bf16", stats=True).plan(16)
        # Behind an addition, with other weights or results, and of other types the plan is that of the defaults.
        usual = plan_rows(columns, 16, row_config("norm", columns, 16))
        assert ForwardNorm(centred, columns, "bf16", None, residual=True).plan(16) == usual
        assert ForwardNorm(centred, columns, "bf16", "f32").plan(16) == usual
        assert ForwardNorm(centred, columns, "f32", None).plan(32) == plan_rows(
            columns, 32, row_config("norm", columns, 32)
        )
        asked = RowConfig(elements=16, block=512)
        assert ForwardNorm(centred, columns, "bf16", None, config=asked).plan(16) == plan_rows(columns, 16, asked)


@pytest.mark.once
@pytest.mark.parametrize(
    ("builder", "columns", "together"), [(build_layernorm_module, 2048, 12), (build_rmsnorm_module, 11008, None)]
)
def test_weights_come_when_a_row_is_normed(builder, columns, together, monkeypatch):
    """And are not kept beside it, which leaves room for another workgroup."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    ptx = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None).ir("isa")
    assert re.findall(r"\.minnctapersm (\d+)", ptx) == ([] if together is None else [str(together)])
    assert "L1::evict_last" not in ptx
    weights = len(re.findall(r"ld\.global\.v4\.b32", ptx[ptx.rindex("bar.sync") :]))
    assert weights == (4 if builder is build_layernorm_module else 6)


@pytest.mark.once
@pytest.mark.parametrize(
    ("columns", "threads", "rows"),
    [
        *((300, 32, 4), (512, 32, 4), (1001, 32, 4), (1024, 32, 4), (1025, 128, 1), (2048, 128, 1), (3072, 128, 1)),
        *((4096, 256, 1), (5120, 128, 1), (6144, 256, 1), (8192, 256, 1), (10240, 256, 1), (20480, 512, 1)),
    ],
)
def test_threads_of_softmax(columns, threads, rows, monkeypatch):
    """Rows of up to 1024 elements have a wave each; longer ones 256 threads where they come out even."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    plan = plan_rows(columns, 16, row_config("softmax", columns, 16))
    assert (plan.threads, plan.rows) == (threads, rows)


@pytest.mark.once
def test_a_sum_that_is_held_compact_is_stored_as_it_is_normed(monkeypatch):
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    matrix, vector = torch.empty(4, 16384, dtype=torch.float16), torch.empty(16384, dtype=torch.float16)
    launch = build_fused_add_layernorm_module(16384, "f16")
    ptx = flyc.compile.only(launch, matrix, matrix, vector, vector, matrix, matrix, 4, None).ir("isa")
    assert ".minnctapersm 2\n" in ptx
    assert ptx.count("L2::cache_hint") == ptx.count("st.global.v4.b32") == 16


@pytest.mark.once
@pytest.mark.parametrize(
    ("builder", "columns", "dtype", "more"),
    [
        (build_layernorm_module, 16384, "bf16", {"weight_dtype_str": "f32"}),
        (build_layernorm_module, 16384, "f32", {}),
        (build_layernorm_module, 16380, "bf16", {}),
        (build_layernorm_module, 3072, "bf16", {}),
        (build_rmsnorm_module, 16384, "f16", {}),
        (build_rmsnorm_module, 8192, "bf16", {}),
    ],
)
def test_other_rows_are_held_in_f32(builder, columns, dtype, more, monkeypatch):
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    given = operands(builder, columns, types[dtype])
    if more:
        given[1:-2] = [one.float() for one in given[1:-2]]
    ptx = flyc.compile.only(builder(columns, dtype, **more), *given, None).ir("isa")
    assert "minnctapersm" not in ptx
    assert "L1::evict_last" not in ptx


@pytest.mark.once
def test_amd_holds_no_row_so(monkeypatch):
    for arch, held in (("gfx950", False), ("gfx942", False), ("sm_90a", True)):
        for name in ("ARCH", "FLYDSL_GPU_ARCH"):
            monkeypatch.setenv(name, arch)
        plan = plan_rows(16384, 16, RowConfig(held=64, threads_aim=128))
        assert (form_of(plan, 16, centred=True, residual=False, bfloat=True) is not None) is held
        for columns, centred in ((1536, True), (20480, False), (4096, False)):
            assert (threads_of(columns, 16, centred=centred) is not None) is held
    plan = plan_rows(16384, 16, row_config("norm", 16384, 16))
    assert form_of(plan, 16, centred=False, residual=True, bfloat=True) is None
