# SPDX-License-Identifier: Apache-2.0
"""Asynchronous copies by threads and reductions by the copy engine: what their PTX holds, and what is refused.

`tests/expr/run/test_asynchronous_copies.py` runs the same kernels on a GPU.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from compiled_ptx import ptx_of_the_last

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.trace.diagnostics import DSLCompileError

pytestmark = pytest.mark.usefixtures("hopper")

X = np.zeros(64, np.float32)


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "expr" / "run"))
    return importlib.import_module("hopper_copies")


def once(body):
    """A launcher of a kernel for 64 threads."""

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(64,))

    return launch


@pytest.mark.parametrize(
    ("bits", "dtype", "instruction"),
    [(32, torch.float32, "ca.shared.global"), (64, torch.float32, "ca.shared.global"),
     (128, torch.float16, "cg.shared.global")],
)  # fmt: skip
def test_two_stages(kernels, bits, dtype, instruction):
    x, y = torch.zeros((77, 304), dtype=dtype), torch.zeros((80, 320), dtype=dtype)
    kernels.reverse_rows(x, y, 77, 304, bits, (3, 4, 3), False)
    ptx = ptx_of_the_last()
    copies = re.findall(rf"cp\.async\.{instruction} \[[^]]*\], \[[^]]*\], {bits // 8}, %r\d+;", ptx)
    each = 16 * 64 * x.element_size() * 8 // bits // 128
    assert len(copies) == ptx.count(".shared.global [") == 2 * each  # before the loop and in it
    assert ptx.count("cp.async.commit_group") == 2
    assert re.findall(r"cp\.async\.wait_group \t?(\d);", ptx) == ["1", "0"]
    # In the loop: copies of the next stage, the wait, a barrier, and only then reads of shared memory.
    loop = ptx[ptx.rindex(".shared.global [") :]
    order = [loop.index(part) for part in ("commit_group", "wait_group", "bar.sync", "ld.shared", "st.global")]
    assert order == sorted(order)
    assert "ld.shared" not in ptx[: ptx.index("cp.async.wait_group")]
    # The predicate says how much is read.
    assert re.search(rf"selp\.b32 \t%r\d+, {bits // 8}, 0, %p\d+;", ptx)


def test_stages_that_an_mbarrier_counts(kernels):
    x, y = torch.zeros((77, 301)), torch.zeros((80, 320))
    kernels.reverse_rows(x, y, 77, 301, 32, (), True)
    ptx = ptx_of_the_last()
    assert len(re.findall(r"cp\.async\.mbarrier\.arrive\.noinc(\.shared)?\.b64", ptx)) == 2
    assert "cp.async.commit_group" not in ptx


def test_128_bits_by_the_l1():
    def body(x):
        room = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4], 16).peek()
        for l1 in (False, True):
            atom = fx.make_copy_atom(fx.nvgpu.CpAsync(128, l1=l1), fx.Float32)
            fx.copy(atom, fx.make_view(x.iter, fx.make_layout(4, 1)), fx.make_view(room.ptr, fx.make_layout(4, 1)))
        fx.nvgpu.cp_async_commit()
        fx.nvgpu.cp_async_wait()
        x[fx.thread_idx.x] = room.ptr[fx.thread_idx.x % 4]

    once(body)(X)
    found = re.findall(r"cp\.async\.(c\w)\.shared\.global \[[^]]*\], \[[^]]*\], (\d+);", ptx_of_the_last())
    assert found == [("cg", "16"), ("ca", "16")]


def test_reads_stay_behind_the_wait():
    """Of an address that was read before, too: what is read again is what has come."""

    def body(x):
        room = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64], 16).peek()
        thread = fx.Int32(fx.thread_idx.x)
        room.ptr[thread] = 3.0
        before = room.ptr[thread]
        atom = fx.make_copy_atom(fx.nvgpu.CpAsync(32), fx.Float32)
        one = fx.make_layout(1, 1)
        fx.copy(atom, fx.make_view(x.iter + thread, one), fx.make_view(room.ptr + thread, one))
        fx.nvgpu.cp_async_commit()
        fx.nvgpu.cp_async_wait()
        x[thread] = before + room.ptr[thread]

    once(body)(X)
    ptx = ptx_of_the_last()
    assert "ld.shared" in ptx[ptx.index("cp.async.wait_group") :]
    assert ptx.index("st.shared") < ptx.index("cp.async.ca")


def copied(bits=128, dtype=fx.Float32, *, elements=4, alignment=16, offset=0, from_shared=False, to_registers=False):
    def body(x):
        room = fx.SharedAllocator(alignment).allocate(fx.Array[dtype, 64], alignment).peek()
        layout = fx.make_layout(elements, 1)
        source = fx.make_view(room.ptr if from_shared else x.iter, layout)
        target = fx.make_rmem_tensor(elements, dtype) if to_registers else fx.make_view(room.ptr + offset, layout)
        fx.copy(fx.make_copy_atom(fx.nvgpu.CpAsync(bits), dtype), source, target)

    return once(body)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bits": 96}, ValueError, "CpAsync moves 32 or 64 or 128 bits, not 96"),
        ({"bits": 16.0}, TypeError, "CpAsync takes its width in bits as a Python int, got 16.0"),
        (
            {"alignment": 8},
            DSLCompileError,
            "writes at multiples of 16 bytes, but of its destination .* only multiples of 8 are known",
        ),
        ({"offset": 1}, DSLCompileError, "only multiples of 4 are known; allocate the shared memory"),
        ({"from_shared": True}, DSLCompileError, "is from a tensor in global memory to one in shared memory"),
        ({"to_registers": True}, DSLCompileError, "is from a tensor in global memory to one in shared memory"),
        ({"elements": 2}, DSLCompileError, "64"),
    ],
)
def test_a_copy_that_there_is_not(arguments, error, message):
    with pytest.raises(error, match=message):
        copied(**arguments)(X)


@pytest.mark.parametrize("pending", [-1, 1.0, True])
def test_a_wait_that_there_is_not(pending):
    with pytest.raises(ValueError, match="cp_async_wait: pending is an int from 0 on"):
        once(lambda x: fx.nvgpu.cp_async_wait(pending))(X)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_a_sum_that_workgroups_share(kernels, dtype):
    kernels.reduce_all(torch.zeros((9, 37, 40), dtype=dtype), torch.zeros((37, 40), dtype=dtype), 9, "add")
    ptx = ptx_of_the_last()
    assert ptx.count("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group") == 1
    parts = ("fence.proxy.async.shared::cta", "bar.sync", "cp.reduce.async.bulk", "commit_group", "wait_group")
    order = [ptx.index(part) for part in parts]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("kind", "dtype", "message"),
    [
        ("max", torch.float32, "has the reduction max of i32, i64, f16 and bf16, got 'f32'"),
        ("xor", torch.float16, "has the reduction xor of i32 and i64, got 'f16'"),
        ("add", torch.float64, "has the reduction add of i32, i64, f32, f16 and bf16, got 'f64'"),
        ("add", torch.int64, "has add of Uint64, not of Int64, .* fx.recast_iter"),
        ("and", torch.int64, "has and of Uint64, not of Int64, .* fx.recast_iter"),
        ("inc", torch.int32, "a reduction is add, min, max, and, or or xor, got inc"),
    ],
)
def test_a_reduction_that_there_is_not(kernels, kind, dtype, message):
    with pytest.raises(ValueError, match=message):
        kernels.reduce_all(torch.zeros((1, 16, 16), dtype=dtype), torch.zeros((16, 16), dtype=dtype), 1, kind)


@pytest.mark.parametrize("kind", ["add", "min", "xor"])
def test_a_reduction_of_unsigned_bits(kernels, kind):
    given = torch.zeros((1, 16, 16), dtype=torch.int64), torch.zeros((16, 16), dtype=torch.int64)
    kernels.reduce_all(*given, 1, kind, unsigned=True)
    assert f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{kind}.tile" in ptx_of_the_last()


@pytest.mark.parametrize("atom", ["store_atom", "reduce_atom"])
def test_a_map_that_copies_only_read(atom):
    @flyc.kernel(known_block_size=(32, 1, 1))
    def kernel(out: fx.nvgpu.TensorMap):
        getattr(out, atom)(*("add",) * (atom == "reduce_atom"))

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(fx.nvgpu.make_tensor_map(x, (16, 16))).launch(grid=(1,), block=(32,))

    with pytest.raises(ValueError, match=rf"{atom}: the map says that copies only read the tensor; .*written=True"):
        launch(torch.zeros((16, 16)))


@pytest.mark.parametrize(
    ("dtype", "signed"), [(torch.int32, True), (torch.int64, True), (torch.uint8, False), (torch.float32, False)]
)
def test_integers_with_a_sign(dtype, signed):
    made = []

    @flyc.jit
    def launch(x: fx.Tensor):
        made.append(str(fx.nvgpu.make_tensor_map(x, (16, 16), written=True).value.owner))

    launch(torch.zeros((16, 16), dtype=dtype))
    assert ("isSigned" in made[0]) == signed


def test_elsewhere_they_are_refused(kernels, monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")
    with pytest.raises(
        ValueError, match=r"cp_async<128> needs sm_90a, but the kernel is compiled for gfx942; use fx\.UniversalCopy"
    ):
        copied()(X)
    for function in (fx.nvgpu.cp_async_commit, fx.nvgpu.cp_async_wait):
        with pytest.raises(
            ValueError, match=f"{function.__name__} needs sm_90a, but the kernel is compiled for gfx942"
        ):
            once(lambda x, function=function: function())(X)
    with pytest.raises(ValueError, match="make_tensor_map needs sm_90a, but the kernel is compiled for gfx942"):
        kernels.reduce_all(torch.zeros((1, 16, 16)), torch.zeros((16, 16)), 1, "add")
