# SPDX-License-Identifier: Apache-2.0
"""Programs for NVIDIA GPUs: what their PTX holds, and what is refused. No device is asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest
from compiled_ptx import ptx_of_the_last

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call import jit_function
from flydsl.compile import backends, pipeline
from flydsl.runtime import read_note
from flydsl.trace.diagnostics import DSLCompileError

pytestmark = pytest.mark.usefixtures("hopper")


def compiled(launch, *arguments):
    """The note and the PTX of a program's artifact."""
    launch(*arguments)
    return read_note(flyc.compilation_reports()[-1].path), ptx_of_the_last()


def of(body, *, block=64, smem=0):
    """A launcher of one kernel on one f32 tensor."""

    @flyc.kernel(known_block_size=(block, 1, 1))
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(block,), smem=smem)

    return launch


X = np.zeros(1024, np.float32)


def test_the_backend_follows_the_architecture():
    assert flyc.compile_backend_name() == "cuda"
    assert backends.current_target() == flyc.GPUTarget("cuda", "sm_90a", 32)
    assert flyc.get_backend(arch="gfx942").target.backend == "rocm"
    with pytest.raises(ValueError, match="compiles for no target"):
        flyc.get_backend(arch="sm_80")


def test_who_calls_has_the_driver_compile_before_the_artifact_is_written(monkeypatch):
    """It gets the PTX that the artifact will hold. Who only compiles, or compiles again, runs nothing."""
    monkeypatch.delenv("COMPILE_ONLY")
    begun = []
    sealed, seal = [], pipeline.seal_artifact
    monkeypatch.setattr(jit_function, "load_ptx_ahead", lambda arch, ptx: begun.append((arch, ptx, len(sealed))))
    monkeypatch.setattr(pipeline, "seal_artifact", lambda path: (sealed.append(path), seal(path)))

    def body(x):
        x[fx.thread_idx.x] = 5.0

    launch = of(body)
    flyc.compile.only(of(body, block=32), X)
    assert not begun
    launch.specialise((X,), runs=True)
    ((arch, ptx, before),) = begun
    assert (arch, before, len(sealed)) == ("sm_90a", 1, 2)
    made = launch.compiled_for((X,))
    assert b"\0" not in ptx
    assert ptx + b"\0" in made.path.read_bytes()
    made.path.unlink()
    with made.private_copy() as copy:
        assert ptx in copy.read_bytes()
    assert len(sealed) == 3
    assert len(begun) == 1


def test_a_kernel_of_universal_copies():
    def body(x):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] * 3.0 + 1.0

    note, ptx = compiled(of(body), X)
    assert note["architectures"] == ["sm_90a"]
    assert note["device_code"] == {"sm_90a": "ptx"}
    (kernel,) = note["kernels"]
    assert kernel["block"] == [64, 1, 1]
    assert kernel["lds_bytes"] == 0
    assert f".visible .entry {kernel['name']}(" in ptx
    assert ".target sm_90a" in ptx
    assert ".version 8.0" in ptx
    assert "ld.global" in ptx
    assert "st.global" in ptx
    assert "mul.rn.f32" in ptx
    assert "add.rn.f32" in ptx  # two roundings, unless the program says otherwise
    assert ".loc" in ptx  # lines of the kernel
    assert ", debug" not in ptx


def test_extents_of_blocks_and_grids_are_special_registers():
    def body(x):
        x[fx.thread_idx.x] = (fx.block_dim.y + fx.grid_dim.x).to(fx.Float32)

    @flyc.kernel
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(grid=(n,), block=(n,))

    ptx = compiled(launch, X, 4)[1]
    assert "%ntid.y" in ptx
    assert "%nctaid.x" in ptx


@pytest.mark.parametrize(("width", "mask"), [(32, r"31, -1;"), (16, r"4127, %r\d+;")])
def test_a_wave_has_32_lanes(width, mask):
    def body(x):
        at = fx.thread_idx.x
        x[at] = fx.coop.warp_reduce(x[at], "add", width=width)

    ptx = compiled(of(body), X)[1]
    found = re.findall(r"shfl\.sync\.bfly\.b32.*", ptx)
    assert len(found) == width.bit_length() - 1
    assert all(re.search(mask, one) for one in found)


def test_votes():
    def body(x):
        at = fx.thread_idx.x
        x[at] = fx.nvgpu.ballot(x[at] > 0.0).to(fx.Float32)

    assert "vote.sync.ballot.b32" in compiled(of(body), X)[1]


@pytest.mark.parametrize(("scope", "said"), [("wavefront", "cta"), ("workgroup", "cta"), ("agent", "gpu")])
def test_scopes_of_amd_have_names_here(scope, said):
    """A warp has no scope of its own: that of the block has it in."""

    def body(x):
        at = fx.thread_idx.x
        x[at] = 1.0
        fx.memory_fence(syncscope=scope, ordering=fx.AtomicOrdering.AcqRel)
        x[at + 64] = 2.0

    assert re.search(rf"(fence\.\w+\.{said}|membar\.{said.replace('gpu', 'gl')});", compiled(of(body), X)[1])


def test_scopes_that_there_are_not():
    def body(x):
        fx.atomic_add(fx.get_iter(x), fx.Float32(1.0), syncscope="agent-one-as")

    with pytest.raises(ValueError, match=r"there is no scope 'agent-one-as' on sm_90a; use one of agent, .*, cluster,"):
        of(body)(X)


@pytest.mark.parametrize("what", ["generic_load", "generic_store"])
def test_a_hint_that_does_nothing_is_refused(what):
    def body(x):
        getattr(fx, what)(fx.get_iter(x), *(1.0,) * (what == "generic_store"), nontemporal=True)

    with pytest.raises(ValueError, match=r"nontemporal=True has no effect on sm_90a: .* fx\.nvgpu\.load_by_policy"):
        of(body)(X)


ORDERS = {"Monotonic": "a", "Acquire": "af", "Release": "fa", "AcqRel": "faf", "SeqCst": "faf"}


@pytest.mark.parametrize("order", ORDERS)
def test_atomics_order_what_stands_around_them(order):
    """By fences: an atomic operation without an order is relaxed in PTX."""

    def body(x):
        at = fx.thread_idx.x
        counter = fx.recast_iter(fx.Int32, fx.get_iter(x))
        x[at] = fx.Float32(
            fx.atomic_add(counter + 100, fx.Int32(1), syncscope="agent", ordering=fx.AtomicOrdering[order])
        )

    found = re.findall(r"fence\.(?:acq_rel|sc)\.gpu|atom\.global\.add", compiled(of(body), X)[1])
    assert "".join(one[0] for one in found) == ORDERS[order]
    assert ("fence.sc.gpu" in found) is (order == "SeqCst")


def test_shared_memory_and_barriers():
    def body(x):
        at = fx.thread_idx.x
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64, 16]).peek()
        slots[at] = x[at]
        fx.barrier()
        x[at] = slots[63 - at]

    note, ptx = compiled(of(body), X)
    assert note["kernels"][0]["lds_bytes"] == 256
    assert re.search(r"\.shared \.align 16 \.b8 \w+\[256\]", ptx)
    assert ".extern .shared" not in ptx
    assert re.search(r"bar(rier)?(\.cta)?\.sync", ptx)


def test_messages_and_assertions_end_the_thread():
    def body(x):
        at = fx.thread_idx.x
        fx.printf("x[{}] = {}", at, x[at])
        fx.device_assert(x[at] >= 0.0, "negative")

    note, ptx = compiled(of(body), X)
    assert [one["kind"] for one in note["messages"]] == ["print", "assert"]
    assert ".visible .global .align 8 .u64 __flydsl_print" in ptx
    assert "exit;" in ptx
    assert "trap" not in ptx
    assert re.search(r"atom(\.relaxed)?(\.gpu)?\.global(\.gpu)?\.add", ptx)


FUNCTIONS = [
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "erf",
    "cbrt",
    "floor",
    "ceil",
]


FUNCTIONS = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "floor", "ceil", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_need_no_library(name):
    def body(x):
        at = fx.thread_idx.x
        x[at] = getattr(fx, name)(x[at])

    ptx = compiled(of(body), X)[1]
    assert ".extern .func" not in ptx
    assert "__nv_" not in ptx


def test_what_amd_gpus_have_is_refused_by_name_and_line():
    def body(x):
        at = fx.thread_idx.x
        x[at] = fx.Float32(fx.rocdl.rcp(fx.Float32, x[at]))

    with pytest.raises(DSLCompileError, match=r"rocdl\.rcp exists on AMD GPUs.*sm_90a.*reciprocal_approx") as caught:
        of(body)(X)
    assert "fx.rocdl.rcp" in str(caught.value)


def test_what_is_refused_has_no_amd_instruction_in_its_place():
    with pytest.raises(ValueError, match=r"s_waitcnt needs gfx908.*for sm_90a\n") as caught:
        of(lambda x: fx.rocdl.s_waitcnt(lgkmcnt=0))(X)
    assert "it has" not in str(caught.value)
    with pytest.raises(ValueError, match=r"sm_90a has no WMMA; it has fx\.nvgpu\.WGMMA"):
        of(lambda x: fx.make_mma_atom(fx.rocdl.WMMA(16, 16, 16, fx.Float16)))(X)


@pytest.mark.parametrize(
    ("arch", "name", "owner"),
    [("sm_90a", "rocdl.waves_per_eu", "AMD"), ("gfx942", "nvvm.maxnreg", "NVIDIA")],
)
def test_attributes_of_functions_of_other_gpus(arch, name, owner, monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", arch)

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = 1.0

    @flyc.jit
    def launch(x: fx.Tensor, value: fx.Constexpr[int | None]):
        kernel(x, value_attrs={name: value}).launch(grid=(1,), block=(64,))

    launch(X, None)
    with pytest.raises(ValueError, match=f"the attribute {name} is for {owner} GPUs, but the kernel .* for {arch}"):
        launch(X, 2)


def test_registers_are_bounded_by_an_attribute():
    with pytest.raises(ValueError, match=r"no hint maxnreg: .*NVIDIA's its launch with value_attrs={'nvvm.maxnreg'"):
        flyc.compile[{"maxnreg": 64}]

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = 1.0

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(64,), value_attrs={"nvvm.maxnreg": 64})

    assert ".maxnreg 64" in compiled(launch, X)[1]


def test_what_nvidia_gpus_have_is_refused_elsewhere(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")

    def body(x):
        at = fx.thread_idx.x
        x[at] = fx.nvgpu.exp2_approx(x[at])

    with pytest.raises(ValueError, match=r"fx\.nvgpu\.exp2_approx needs an NVIDIA GPU.*gfx942"):
        of(body)(X)


def test_too_much_static_shared_memory():
    def body(x):
        at = fx.thread_idx.x
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 16384, 16]).peek()
        slots[at] = x[at]
        fx.barrier()
        x[at] = slots[63 - at]

    with pytest.raises(DSLCompileError, match="65536 bytes of static shared memory, and PTX for sm_90a may have 49152"):
        of(body)(X)


@pytest.mark.parametrize(
    ("hints", "said"), [({"unsafe_fp_math": True}, "unsafe_fp_math"), ({"waves_per_eu": 2}, "waves_per_eu")]
)
def test_hints_that_there_are_for_amd_only(hints, said):
    with pytest.raises(ValueError, match=f"compile backend 'cuda' does not have the hint {said}"):
        flyc.get_backend().stages(hints=hints, opt_level=2, debug_info=True)


def test_a_kernel_that_waits_for_the_launches_before_it():
    def body(x):
        fx.nvgpu.griddepcontrol_wait()
        fx.nvgpu.griddepcontrol_launch_dependents()
        at = fx.thread_idx.x
        if at < 7:
            x[at] = x[at] + 1.0

    note, ptx = compiled(of(body), X)
    assert note["kernels"][0]["griddepcontrol_wait"] is True
    wait, launch, load = (ptx.index(one) for one in ("griddepcontrol.wait;", "griddepcontrol.launch", "ld.global"))
    assert wait < launch < load


def test_a_kernel_may_make_its_barriers_before_it_waits():
    def body(x):
        room = fx.SharedAllocator().allocate(fx.Array[fx.Int64, 2], 8).peek()
        if fx.thread_idx.x == 0:
            fx.nvgpu.Mbarriers(room.ptr, 2).init(1)
        fx.barrier()
        fx.nvgpu.griddepcontrol_wait()
        x[fx.thread_idx.x] = 1.0

    note, ptx = compiled(of(body), X)
    assert note["kernels"][0]["griddepcontrol_wait"] is True
    before = ptx[: ptx.index("griddepcontrol.wait;")]
    assert "mbarrier.init" in before
    assert "bra" in before


def test_loads_by_a_policy_of_the_cache():
    def body(x):
        at = fx.thread_idx.x * 4
        policy = (at < 8).select(fx.nvgpu.l2_policy("evict_last"), fx.nvgpu.l2_policy("evict_normal"))
        values = fx.nvgpu.load_by_policy(fx.get_iter(x) + at, policy)
        assert values.dtype is fx.Float32
        x[at] = values[0] + values[3]

    _, ptx = compiled(of(body), X)
    assert ptx.count("createpolicy.fractional.L2::evict_") == 2
    assert ptx.count("ld.global.L2::cache_hint.v4.b32") == 1


def test_loads_that_the_l1_keeps():
    def body(x):
        at = fx.thread_idx.x * 4
        last = fx.nvgpu.load_by_policy(fx.get_iter(x) + at, l1="evict_last")
        past = fx.nvgpu.load_by_policy(fx.get_iter(x) + at, fx.nvgpu.l2_policy("evict_first"), l1="no_allocate")
        x[at] = last[0] + past[3]

    _, ptx = compiled(of(body), X)
    assert ptx.count("ld.global.L1::evict_last.v4.b32") == 1
    assert ptx.count("ld.global.L1::no_allocate.L2::cache_hint.v4.b32") == 1


def test_a_priority_of_the_l1_that_there_is_not():
    with pytest.raises(ValueError, match="takes l1=evict_first, evict_last, no_allocate, not 'evict_normal'"):
        of(lambda x: fx.nvgpu.load_by_policy(fx.get_iter(x), l1="evict_normal"))(X)


def test_a_policy_that_there_is_not():
    with pytest.raises(ValueError, match="takes evict_first, evict_last, evict_normal, not 'evict'"):
        of(lambda x: fx.nvgpu.l2_policy("evict"))(X)


def test_the_gpu_waits_for_kernels_that_do_not():
    note, _ = compiled(of(lambda x: fx.nvgpu.griddepcontrol_launch_dependents()), X)
    assert "griddepcontrol_wait" not in note["kernels"][0]


def _reads_first(x):
    value = x[fx.thread_idx.x]
    fx.nvgpu.griddepcontrol_wait()
    x[fx.thread_idx.x] = value + 1.0


def _writes_first(x):
    x[fx.thread_idx.x] = 1.0
    fx.nvgpu.griddepcontrol_wait()


def _some_threads_alone(x):
    if fx.thread_idx.x < 7:
        fx.nvgpu.griddepcontrol_wait()
    x[fx.thread_idx.x] = 1.0


def _some_threads_end(x):
    if fx.thread_idx.x < 7:
        fx.barrier()
    else:
        fx.nvgpu.griddepcontrol_wait()
    x[fx.thread_idx.x] = 1.0


@pytest.mark.parametrize("body", [_reads_first, _writes_first, _some_threads_alone, _some_threads_end])
def test_a_kernel_that_waits_too_late_is_refused(body):
    with pytest.raises(DSLCompileError, match=r"calls fx\.nvgpu\.griddepcontrol_wait\(\) behind an access"):
        compiled(of(body), X)


def test_amd_gpus_have_no_such_wait(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")
    with pytest.raises(ValueError, match=r"fx\.nvgpu\.griddepcontrol_wait needs sm_90a"):
        of(lambda x: fx.nvgpu.griddepcontrol_wait())(X)
