# SPDX-License-Identifier: Apache-2.0
"""Row kernels on NVIDIA Hopper: when they begin, how they divide rows among threads, and how they hold them.

What is said of PTX asks for no device. How rows are held in their own type runs on the device of the tests.
"""

import math
import re

import pytest
import torch
from rows import check, layernorm, rmsnorm, row, rows

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.row_config import row_config
from flydsl.kernels.common.row_plan import RowConfig, plan_rows
from flydsl.kernels.layernorm_kernel import build_layernorm_module
from flydsl.kernels.norm import forward, softmax_kernel
from flydsl.kernels.norm.compact import Compact, Fetched, form_of, softmax_together, threads_of
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
@pytest.mark.parametrize(("columns", "loads"), [(1024, 4), (16384, 8), (1784, 1), (1001, 0), (100_000, 0)])
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
    (build_layernorm_module, 3584, 8, 128, 1, 4),
    (build_layernorm_module, 2000, 12, 128, 0, 2),
    (build_layernorm_module, 4104, 6, 128, 2, 5),
    (build_layernorm_module, 7176, 4, 128, 4, 8),
    (build_layernorm_module, 11008, 3, 256, 2, 6),
    (build_layernorm_module, 14344, 3, 256, 0, 8),
    (build_rmsnorm_module, 11008, 3, 256, 2, 6),
    (build_rmsnorm_module, 22016, 2, 256, 2, 11),
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
    (768, 32, Compact(5, 0, 2), 32, Compact(5, 0, 2)),
    (600, 32, None, 32, Compact(5, 0, 2)),
    (896, 32, Compact(4, 0, 2), 32, Compact(4, 0, 2)),
    (1000, 32, Compact(4, 0, 2), 32, Compact(4, 0, 2)),
    (1004, 32, None, 32, None),
    (1024, 32, Compact(4, 0, 2), 32, Compact(4, 0, 2)),
    (1536, 64, None, 128, None),
    (1784, 128, None, 128, None),
    (2000, 128, Compact(12, 0, 1), 128, None),
    (2048, 128, Fetched(12), 128, None),
    (2560, 64, None, 128, None),
    (3072, 128, None, 128, None),
    (2568, 128, Compact(10, 0, 2), 128, None),
    (3584, 128, Compact(8, 1, 2), 128, None),
    (4096, 128, Compact(8, 1, 2), 256, None),
    (4104, 128, Compact(6, 2, 4), 128, None),
    (5120, 128, None, 128, None),
    (5128, 128, Compact(6, 2, 3), 128, None),
    (6152, 128, Compact(5, 2, 4), 128, None),
    (7168, 128, Compact(6, 2, 4), 128, None),
    (7176, 128, Compact(4, 4, 6), 128, None),
    (9216, 256, Compact(4, 0, 2), 256, Compact(3, 2, 4)),
    (10240, 256, Compact(4, 0, 2), 256, Compact(3, 2, 4)),
    (11008, 256, Compact(3, 2, 3), 256, Compact(3, 2, 4)),
    (13312, 256, Compact(3, 0, 3), 256, Compact(3, 2, 4)),
    (14336, 256, Compact(3, 2, 4), 256, Compact(3, 2, 4)),
    (14344, 256, Compact(3, 0, 2), 256, Compact(3, 2, 4)),
    (18432, 256, Compact(2, 2, 4), 256, Compact(2, 2, 4)),
    (18440, 256, Compact(2, 2, 4), 256, Compact(2, 2, 4)),
    (18444, 512, None, 512, None),
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
def test_weights_come_when_a_row_is_normed(monkeypatch):
    """And are not kept beside it, which leaves room for another workgroup."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    given = operands(build_layernorm_module, 2048)
    ptx = flyc.compile.only(build_layernorm_module(2048, "bf16"), *given, None).ir("isa")
    assert ".minnctapersm 12\n" in ptx
    assert "L1::evict_last" not in ptx
    assert len(re.findall(r"ld\.global\.v4\.b32", ptx[ptx.rindex("bar.sync") :])) == 4


@pytest.mark.once
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("columns", "together", "loads"), [(18432, 3, 9), (28672, 3, 14), (28664, 2, 14), (32768, 2, 16)]
)
def test_exponentials_of_long_rows_are_computed_twice(columns, together, loads, dtype, monkeypatch):
    """So a row is held in its own type. In f32 one workgroup would take the registers of a multiprocessor."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    named = {torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
    given = operands(build_softmax_module, columns, dtype)
    compiled = flyc.compile.only(build_softmax_module(columns, named), *given, None)
    ptx, (kernel,) = compiled.ir("isa"), compiled.note["kernels"]
    assert kernel["block"][0] == 256
    assert f".minnctapersm {together}\n" in ptx
    assert ptx.count("L2::cache_hint") == ptx.count("st.global.v4.b32") == loads
    assert ptx.count("ex2.approx") == 2 * 8 * loads


@pytest.mark.once
@pytest.mark.parametrize("columns", [16384, 20480, 24576, 18436, 34816])
def test_other_rows_of_softmax_are_held_in_f32(columns, monkeypatch):
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    assert softmax_together(columns, 16) is None
    assert softmax_together(28672, 32) is None
    asked = build_softmax_module(28672, "bf16", config=RowConfig(elements=16, threads_aim=128))
    assert "minnctapersm" not in flyc.compile.only(asked, *operands(build_softmax_module, 28672), None).ir("isa")


def any_load(pointer, policy=None, *, l1=None):
    """What `fx.nvgpu.load_by_policy` does, on any target."""
    vector = 16 // pointer.element_type.width * 8
    fragment = fx.make_rmem_tensor(vector, pointer.element_type)
    fx.copy(
        fx.make_copy_atom(fx.UniversalCopy(128), pointer.element_type),
        fx.make_view(pointer, fx.make_layout(vector, 1)),
        fragment,
    )
    return fragment.load()


@pytest.fixture
def compact_anywhere(monkeypatch):
    """The device of the tests holds rows as Hopper does, so that its numbers can be looked at.

    `compact_anywhere(form, threads)`: how norms hold a row, and the threads of one of softmax.
    """

    def hold(form, threads):
        monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
        monkeypatch.setattr(fx.nvgpu, "load_by_policy", any_load)
        monkeypatch.setattr(forward, "form_of", lambda *args, **how: form)
        monkeypatch.setattr(softmax_kernel, "softmax_together", lambda columns, bits: 1)
        monkeypatch.setattr(softmax_kernel, "COMPACT_THREADS", threads)

    return hold


# The last access of a row is of all threads; of one; of all but one; of some of the first wave only; of two waves.
TAILS = [(2048, 128), (1032, 128), (2040, 128), (1160, 128), (1832, 128), (3592, 256), (4096, 256)]
ANYWHERE = [Compact(1, 0, 1), Compact(1, 2, 4)]


@pytest.mark.parametrize(("columns", "threads"), TAILS)
@pytest.mark.parametrize("form", ANYWHERE, ids=["late", "ahead"])
@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_compact_rows_with_every_tail(columns, threads, form, dtype, compact_anywhere, run):
    """No thread reduces or stores what is not its own: rows lie between NaN, which outputs are full of.

    A thread that has nothing in the last access gets its first vector again: these are large, to show in every sum.
    """
    compact_anywhere(form, threads)
    around = rows(5, columns + 16, dtype)
    around[:, :8], around[:, 8 + columns :] = math.nan, math.nan
    x = around[1:4, 8 : 8 + columns]
    x[:, : 8 * threads] += 3.0
    gamma, beta = row(columns, dtype), row(columns, dtype, 2)
    config = RowConfig(elements=16, held=64, block=threads)
    for launch, weights, expected in (
        (build_softmax_module(columns, dtype), (), torch.softmax(x.double(), -1)),
        (build_rmsnorm_module(columns, dtype, config=config), (gamma,), rmsnorm(x, gamma)[0]),
        (build_layernorm_module(columns, dtype, config=config), (gamma, beta), layernorm(x, gamma, beta)[0]),
    ):
        target = run.empty(around)
        y = target[1:4, 8 : 8 + columns]
        run(lambda _, call, args: call(*args), target, launch, (x, *weights, y, 3), writes=[target])
        check(y, expected, dtype, 4.0)
        y.fill_(math.nan)
        assert target.isnan().all()


@pytest.mark.parametrize("columns", [520, 896, 1000, 1016, 1024])
@pytest.mark.parametrize("builder", [build_rmsnorm_module, build_layernorm_module])
def test_compact_rows_of_one_wave_with_every_tail(columns, builder, compact_anywhere, run):
    compact_anywhere(Compact(1, 0, 2), 64)
    x, gamma, beta = rows(11, columns, "bf16"), row(columns, "bf16"), row(columns, "bf16", 2)
    config = RowConfig(elements=16, wave_limit=32)
    centred = builder is build_layernorm_module
    weights, (expected, *_) = ((gamma, beta), layernorm(x, gamma, beta)) if centred else ((gamma,), rmsnorm(x, gamma))
    y = run.empty(x)
    run(builder(columns, "bf16", config=config), x, *weights, y, 11, writes=[y])
    check(y, expected, "bf16", 4.0)


def test_a_compact_row_of_softmax_with_infinities(compact_anywhere, run):
    compact_anywhere(None, 128)
    x = rows(3, 1160, "bf16")
    x[0, :1152] = -math.inf
    x[1] = -math.inf
    x[2, 5] = math.nan
    y = run.empty(x)
    run(build_softmax_module(1160, "bf16"), x, y, 3, writes=[y])
    check(y[:1], torch.softmax(x[:1].double(), -1), "bf16", 4.0)
    assert y[1:].isnan().all()


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
        (build_layernorm_module, 1560, "bf16", {}),
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
        assert (softmax_together(28672, 16) is not None) is held
    plan = plan_rows(16384, 16, row_config("norm", 16384, 16))
    assert form_of(plan, 16, centred=False, residual=True, bfloat=True) is None
