# SPDX-License-Identifier: Apache-2.0
"""Looking inside: the program after each stage, annotated ISA, and reports of what was compiled from where."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile.dumps import annotated_isa


@flyc.kernel
def double_kernel(x: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        x[i] = x[i] * 2.0


@flyc.kernel
def shared_kernel(x: fx.Tensor):
    space = fx.SharedAllocator(static=False).allocate(fx.Array[fx.Float32, 64]).peek()
    space[fx.thread_idx.x] = x[fx.thread_idx.x]
    x[fx.thread_idx.x] = space[fx.thread_idx.x]


@flyc.jit
def double(x: fx.Tensor, n: fx.Int32, twice: fx.Constexpr[bool] = False):
    double_kernel(x, n).launch(grid=((n + 63) // 64,), block=(64,))
    if fx.const_expr(twice):
        shared_kernel(x).launch(block=(64,))


def vector(n=100):
    return np.ones(n, np.float32)


def test_a_kernel_shows_its_program_after_each_stage():
    double(vector(), 100)
    origin = double_kernel.ir()
    assert origin.startswith("gpu.func @double_kernel_0")
    assert "fly.memref.load" in origin
    lowered = double_kernel.ir("fly-layout-lowering")
    assert "fly.memref.load" not in lowered
    assert "fly.ptr.load" in lowered
    assert "llvm.func @double_kernel_0" in double_kernel.ir("convert-gpu-to-rocdl")
    assert "define amdgpu_kernel void @double_kernel_0" in double_kernel.ir("llvm")
    assert "gpu.binary" in double_kernel.ir("gpu-module-to-binary")


def test_a_host_function_shows_the_whole_program():
    text = double.ir("origin", vector(), 100, True)
    assert text.count("gpu.func @") == 2
    assert "func.func @double" in text
    assert flyc.compile(double, vector(), 100).ir().count("gpu.func @") == 1


def test_an_unknown_stage_lists_the_known_ones():
    double(vector(), 100)
    with pytest.raises(ValueError, match=r"no stage 'fly-lowering'; there are: origin, .*fly-layout-lowering.*isa"):
        double_kernel.ir("fly-lowering")


def test_nothing_compiled_yet():
    @flyc.kernel
    def fresh(x: fx.Tensor):
        pass

    with pytest.raises(RuntimeError, match="kernel 'fresh' was not compiled in this process yet"):
        fresh.ir()


def test_isa_has_the_lines_of_the_kernel():
    double(vector(), 100)
    lines = double_kernel.ir("isa").splitlines()
    line = double_kernel.func.__code__.co_firstlineno + 4
    heading = lines.index(f"; test_inspection.py:{line}  x[i] = x[i] * 2.0")
    assert any("v_add_f32" in one or "v_mul_f32" in one for one in lines[heading:])


def test_annotation_of_assembly_without_lines_changes_nothing():
    assert annotated_isa("s_nop 0\ns_endpgm\n") == "s_nop 0\ns_endpgm\n"


def test_reports_say_what_came_from_where(monkeypatch):
    monkeypatch.setattr(double, "_entries", {})
    before = flyc.compilation_reports()

    @flyc.jit
    def local(x: fx.Tensor, n: fx.Int32):
        double_kernel(x, n).launch(grid=(2,), block=(64,))

    first = local.report(vector(), 100)
    assert (first.origin, first.function, first.arguments) == ("compiled", "local", ["x: float32 ?:1", "n: int32"])
    assert {"trace", "fly-layout-lowering", "gpu-module-to-binary", "emit"} <= set(first.seconds)
    assert first.total > 0
    assert local.report(vector(), 7).origin == "memory"
    local.specialise(local.bind((vector(), 9), {}))
    assert [one.function for one in flyc.compilation_reports() if one not in before] == ["local"]
    text = str(first)
    assert "local(x: float32 ?:1, n: int32) for gfx" in text
    assert "compiled now" in text
    assert "waves/simd" in text
    assert first.kernels[0]["name"] == "double_kernel_0"


SCRIPT = """
import numpy as np, sys
sys.path.insert(0, {folder!r})
import flydsl.compiler as flyc
from test_inspection import double
print(double.report(np.ones(100, np.float32), 100).origin, *flyc.compilation_reports()[-1].seconds)
"""


def test_another_process_takes_it_from_disk(run_script):
    script = SCRIPT.format(folder=__file__.rpartition("/")[0])
    assert run_script(script).stdout.split()[0:4] == ["compiled", "key", "trace", "verify"]
    # The key is what was traced, so that much is done in every process.
    assert run_script(script).stdout.split() == ["disk", "key", "trace"]


def test_workgroups_per_compute_unit():
    assert flyc.compile(double, vector(), 100).max_blocks_per_cu() >= 1
    with pytest.raises(RuntimeError, match="double has 2 launches"):
        flyc.compile(double, vector(), 100, True).max_blocks_per_cu()

    @flyc.jit
    def open_block(x: fx.Tensor, n: fx.Int32):
        double_kernel(x, n).launch(block=(n, 1, 1))

    with pytest.raises(RuntimeError, match="at run time"):
        flyc.compile(open_block, vector(), 64).max_blocks_per_cu()


def test_lds_bounds_the_workgroups():
    @flyc.kernel
    def greedy(x: fx.Tensor):
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 12000]).peek()
        space[fx.thread_idx.x] = x[fx.thread_idx.x]
        fx.barrier()
        x[fx.thread_idx.x] = space[fx.thread_idx.x]

    @flyc.jit
    def launch(x: fx.Tensor):
        greedy(x).launch(block=(64,))

    assert flyc.compile(launch, vector()).max_blocks_per_cu() < flyc.compile(double, vector(), 1).max_blocks_per_cu()
