# SPDX-License-Identifier: Apache-2.0
"""Tensors of a place, a type, extents and strides; and calls of launchers that are kept."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr.typing import T
from flydsl.kernels.common.element_names import element_type
from flydsl.kernels.common.tensor_shim import (
    GTensor,
    STensor,
    TorchTensor,
    _run_compiled,
    get_dtype_bytes,
    get_dtype_str,
    get_dtype_vec_size,
)
from flydsl.utils.smem_allocator import SmemAllocator

LANES = 64
M, N = 16, 64


def launched(body):
    """A launcher of one wave that runs `body(In, Out, thread)`."""

    @flyc.kernel
    def kernel(In: fx.Tensor, Out: fx.Tensor):
        body(In, Out, fx.thread_idx.x)

    @flyc.jit
    def launch(In: fx.Tensor, Out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        kernel(In, Out).launch(grid=(1,), block=(LANES,), stream=stream)

    return launch


def numbers(*shape, dtype=torch.float32):
    return torch.arange(torch.Size(shape).numel()).view(shape).to(dtype)


GLOBAL = {
    "tensor": lambda t: GTensor(t, fx.Float32, (M, N)),
    "pointer": lambda t: GTensor(t.iter, "f32", (M, N), (N, 1)),
    "address": lambda t: GTensor(fx.ptrtoint(t.iter), fx.Float32.ir_type, (M, N)),
    "address, offset": lambda t: GTensor(fx.ptrtoint(t.iter) - 64, T.f32, (M, N), None, 0, 0, fx.Int64(64)),
    "tensor, offset": lambda t: GTensor(t, "f32", (M, N), base_offset=16, static_bytes_offset_i64=-64),
    "non-temporal": lambda t: GTensor(t, torch.float32, (M, N), cache_modifier=2),
    "torch": lambda t: TorchTensor(t),
}


@pytest.mark.parametrize("kind", GLOBAL)
def test_elements_and_vectors(kind, run):
    def body(In, Out, thread):
        source, target = GLOBAL[kind](In), GLOBAL[kind](Out)
        for row in fx.range_constexpr(M // 2):
            target[row, thread] = source[row + M // 2, thread] + 0.5
        at = (thread // 8 + M // 2, thread % 8 * 8)
        target.vec_store(at, source.vec_load((at[0] - M // 2, at[1]), 8), 8)

    x = numbers(M, N)
    y = run.empty(x)
    run(launched(body), x, y, writes=[y], seeds=[0])
    assert torch.equal(y, torch.cat([x[M // 2 :] + 0.5, x[: M // 2]]))


@pytest.mark.parametrize("kind", ["tensor", "torch"])
def test_tiles_and_strides(kind, run):
    """Out is the transpose of In, tile by tile; the second tile of a tile counts from the first one's origin."""

    def body(In, Out, thread):
        source, target = GLOBAL[kind](In), GTensor(Out, "f32", (M, N), (1, M))
        assert source.linear_offset((3, 5)) == 3 * N + 5 if kind == "tensor" else True
        for i in fx.range_constexpr(M // 8):
            for j in fx.range_constexpr(N // 16):
                ours = source.local_tile((8, 16), (i, j)).local_tile((8, 8), (0, 1))
                theirs = target.local_tile((8, 16), (i, j)).local_tile((8, 8), (0, 1))
                theirs[thread // 8, thread % 8] = ours[thread // 8, thread % 8]
                first = target.local_tile((8, 16), (i, j))
                first[thread // 8, thread % 8] = source.local_tile((8, 16), (i, j))[thread // 8, thread % 8]

    x = numbers(M, N)
    y = run.empty(x, (N, M))
    run(launched(body), x, y, writes=[y], seeds=[0])
    assert torch.equal(y, x.t())


@pytest.mark.parametrize("kind", ["array", "pointer", "tensor"])
def test_copy_through_lds_converts(kind, run):
    def body(In, Out, thread):
        place = fx.SharedAllocator().allocate(fx.Array[fx.Float16, M * N, 16]).peek()
        if kind == "tensor":
            place = place.view(fx.make_layout(M * N, 1))
        staged = STensor(place.ptr if kind == "pointer" else place, "f16", (M, N))
        staged.copy_(GTensor(In, "f32", (M, N)), (4, 16), (2, 4), thread, 4)
        fx.barrier()
        # The same threads in the other order, with values of their own.
        threads = fx.make_layout((16, 4), (4, 1))
        GTensor(Out, "f32", (M, N)).copy_(staged, threads, (1, 8), thread, 2)

    x = numbers(M, N)
    y = run.empty(x)
    run(launched(body), x, y, writes=[y])
    assert torch.equal(y, x)


def test_older_lds_pointers(run):
    def build():
        allocator = SmemAllocator(None, arch=None, global_sym_name="shim")
        handle = allocator.allocate_array(T.f32, M * N)

        @flyc.kernel
        def kernel(In: fx.Tensor, Out: fx.Tensor):
            thread = fx.thread_idx.x
            staged = STensor(handle(allocator.get_base()), fx.Float32, (M, N))
            staged.copy_(GTensor(In, "f32", (M, N)), (M, 4), (1, 16), thread, 4)
            fx.barrier()
            out = TorchTensor(Out)
            for row in fx.range_constexpr(M):
                out[row, thread] = staged[row, N - 1 - thread]
            staged[0, 0] = 1.0

        @flyc.jit
        def launch(In: fx.Tensor, Out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
            kernel(In, Out).launch(grid=(1,), block=(LANES,), stream=stream)
            with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
                allocator.finalize()

        return launch

    x = numbers(M, N)
    y = run.empty(x)
    run(build(), x, y, writes=[y])
    assert torch.equal(y, x.flip(1))


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda t: t[0], IndexError, "1 indices for 2 extents"),
        (lambda t: t.local_tile((4,), (0,)), IndexError, "1 extents for 2 dimensions"),
        (lambda t: t.vec_load((0, 0), 0), ValueError, "a positive int, got 0"),
        (lambda t: t.vec_store((0, 0), t.vec_load((0, 0), 4), 8), ValueError, "8 elements were announced"),
        (lambda t: t.copy_(t, (4, 16), (3, 4), 0, 4), ValueError, r"tiles of \(12, 64\) do not fill \(16, 64\)"),
        (lambda t: t.copy_(t, (4, 16), (2, 4), 0, 3), ValueError, "accesses of 3 do not fill"),
        (lambda t: t.copy_(t, (64,), (1,), 0, 1), ValueError, "layouts of 2 modes"),
        (lambda t: t.copy_(t.local_tile((8, 64), (0, 0)), (4, 16), (2, 4), 0), ValueError, "the same static extents"),
    ],
)
def test_refusals(use, error, said):
    def body(In, Out, thread):
        use(GTensor(In, "f32", (M, N)))

    with pytest.raises(error, match=said):
        launched(body)(numbers(M, N), numbers(M, N))


def test_names_and_sizes(arch):
    kinds = ("f32", "bf16", fx.Float16, torch.int8, "fp16", "torch.float32", torch.float8_e5m2)
    assert [get_dtype_str(one) for one in kinds] == ["f32", "bf16", "f16", "i8", "f16", "f32", "f8e5m2"]
    assert [get_dtype_bytes(one) for one in kinds] == [4, 2, 2, 1, 2, 4, 1]
    assert [get_dtype_vec_size(one) for one in kinds] == [4, 8, 8, 16, 8, 4, 16]
    assert get_dtype_str("fp8") == ("f8e4m3fnuz" if arch == "gfx942" else "f8e4m3fn")
    assert element_type(torch.uint8) is fx.Uint8
    for wrong in ("f33", None, object()):
        with pytest.raises(ValueError, match="is not known; use one of f32"):
            element_type(wrong)


def test_run_compiled_keeps_what_it_compiled():
    def body(In, Out, thread):
        TorchTensor(Out)[thread] = TorchTensor(In)[thread] + 1

    launch = launched(body)
    x, y = numbers(LANES), torch.zeros(LANES)
    for _ in range(3):
        y.zero_()
        _run_compiled(launch, x, y, None)
        assert torch.equal(y, x + 1)
    assert launch.hits + launch.misses == 1  # compiled, or loaded from the disk cache, once
    half = torch.zeros(LANES, dtype=torch.float16)  # other types than the first call's
    _run_compiled(launch, x.half(), half, None)
    assert torch.equal(half, x.half() + 1)
    with pytest.raises(TypeError):
        _run_compiled(launch, x)


def test_run_compiled_runs_once_at_each_call():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=4)

    x = torch.zeros(4)
    for count in (1, 2, 3):
        _run_compiled(launch, x)
        assert x.tolist() == [count] * 4


def test_run_compiled_only_compiles_when_asked_to(monkeypatch):
    def body(In, Out, thread):
        TorchTensor(Out)[thread] = TorchTensor(In)[thread] + 1

    monkeypatch.setenv("COMPILE_ONLY", "1")
    x, y = numbers(LANES), torch.zeros(LANES)
    assert _run_compiled(launched(body), x, y, None) is None
    assert (y == 0).all()
