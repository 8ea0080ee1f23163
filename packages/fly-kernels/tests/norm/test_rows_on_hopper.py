# SPDX-License-Identifier: Apache-2.0
"""Row kernels on NVIDIA Hopper: which of them begin while the launches before them end. No device is asked for."""

import pytest
import torch

import flydsl.compiler as flyc
from flydsl.kernels.common.row_config import row_config
from flydsl.kernels.common.row_plan import RowConfig, plan_rows
from flydsl.kernels.layernorm_kernel import build_layernorm_module
from flydsl.kernels.norm.compact import compact_of
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
    few = config is not None or (columns, builder) == (1024, build_softmax_module)
    assert kernel["block"][0] == (64 if few else 256 if columns in (1024, 16384) else 128)
    assert ("griddepcontrol.launch_dependents" in compiled.ir("isa")) is not few


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_softmax_module, build_layernorm_module])
@pytest.mark.parametrize(("columns", "loads"), [(1024, 4), (16384, 8), (1000, 3), (1001, 0), (100_000, 0)])
def test_rows_are_read_by_a_policy_of_the_cache(builder, columns, loads, monkeypatch):
    """Whole vectors of 16 bytes that all threads have, of rows that are read once."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None)
    few = columns in (1000, 1024) and builder is build_softmax_module  # of two waves a row
    assert compiled.ir("isa").count("L2::cache_hint") == (loads // 2 if few else loads)


# Columns, workgroups of a multiprocessor, vectors of each weight ahead of the reductions, loads of rows.
COMPACT = [
    (build_layernorm_module, 16384, 3, 2, 8),
    (build_layernorm_module, 8192, 4, 4, 8),
    (build_layernorm_module, 6144, 6, 0, 6),
    (build_layernorm_module, 12288, 3, 2, 6),
    (build_rmsnorm_module, 16384, 3, 2, 8),
]


@pytest.mark.once
@pytest.mark.parametrize(("builder", "columns", "together", "ahead", "loads"), COMPACT)
def test_long_rows_are_held_in_their_own_type(builder, columns, together, ahead, loads, monkeypatch):
    """So there is room for more workgroups. The L1 keeps the weights, some of which come during the reductions."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    ptx = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None).ir("isa")
    weights = 2 if builder is build_layernorm_module else 1
    assert f".minnctapersm {together}\n" in ptx
    assert ptx.count("L2::cache_hint") == loads
    assert ptx.count("ld.global.L1::evict_last.v4.b32") == weights * loads
    assert ptx[: ptx.index("bar")].count("L1::evict_last") == weights * ahead
    # The first results are stored before the last weights are asked for.
    assert ptx.index("st.global.v4.b32") < ptx.rindex("L1::evict_last")
    assert ptx.count("st.global.v4.b32") == loads


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
        (build_layernorm_module, 4096, "bf16", {}),
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
def test_amd_holds_no_row_compact(monkeypatch):
    for arch, held in (("gfx950", False), ("gfx942", False), ("sm_90a", True)):
        for name in ("ARCH", "FLYDSL_GPU_ARCH"):
            monkeypatch.setenv(name, arch)
        plan = plan_rows(16384, 16, RowConfig(held=64, threads_aim=128))
        assert (compact_of(plan, 16, centred=True, residual=False, bfloat=True) is not None) is held
    plan = plan_rows(16384, 16, row_config("norm", 16384, 16))
    assert compact_of(plan, 16, centred=False, residual=True, bfloat=True) is None
