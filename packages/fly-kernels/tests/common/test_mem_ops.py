# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and atomics at tensors, pointers and addresses, against torch."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common import mem_ops
from flydsl.kernels.common.buffer_ops import create_buffer_resource, create_llvm_ptr

LANES = 64

BASES = {
    "tensor": lambda tensor: tensor,
    "pointer": lambda tensor: tensor.iter,
    "address": lambda tensor: fx.ptrtoint(tensor.iter),
    "raw pointer": lambda tensor: create_llvm_ptr(tensor, 1),
    "generic pointer": lambda tensor: create_llvm_ptr(tensor),
}


def launched(body):
    """A launcher of workgroups of one wave that run `body(In, Out, thread)`."""

    @flyc.kernel
    def kernel(In: fx.Tensor, Out: fx.Tensor):
        body(In, Out, fx.thread_idx.x)

    @flyc.jit
    def launch(In: fx.Tensor, Out: fx.Tensor, blocks: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        kernel(In, Out).launch(grid=(blocks,), block=(LANES,), stream=stream)

    return launch


def numbers(count, dtype=torch.float32):
    return (torch.arange(count) + 1).to(dtype)


@pytest.mark.parametrize("base", BASES)
def test_loads_and_stores(base, run):
    at = BASES[base]

    def body(In, Out, thread):
        pair = mem_ops.global_load(at(In), thread * 8 + 8, fx.Float32, 2)
        mem_ops.global_store(at(Out), thread * 4, pair[0] * 1000.0 + pair[1])
        mem_ops.global_store(at(Out), thread * 8 + 256, pair)

    x = numbers(2 * LANES + 2)
    out = run.empty(x, (3 * LANES,))
    run(launched(body), x, out, 1, writes=[out], seeds=[0])
    assert torch.equal(out, torch.cat([x[2::2] * 1000 + x[3::2], x[2:]]))


def test_vectors_at_the_alignment_of_an_element(run):
    def body(In, Out, thread):
        values = mem_ops.global_load(In, thread * 16 + 4, fx.Int32, 4, alignment=4)
        mem_ops.global_store(Out, thread * 16 + 12, values, alignment=4)

    x = numbers(4 * LANES + 1, torch.int32)
    out = torch.zeros(4 * LANES + 4, dtype=torch.int32)
    run(launched(body), x, out, 1, updates=[out], writes=[], seeds=[0])
    assert torch.equal(out, torch.cat([torch.zeros(3, dtype=torch.int32), x[1:], torch.zeros(1, dtype=torch.int32)]))


def test_bytes_at_any_address(run):
    def body(In, Out, thread):
        word = mem_ops.global_load(In, thread * 4 + 3, fx.Int8, 4, alignment=1)
        mem_ops.global_store(Out, thread * 4 + 1, word, alignment=1)

    x = torch.arange(4 * LANES + 3, dtype=torch.int32).to(torch.int8)
    out = torch.zeros(4 * LANES + 2, dtype=torch.int8)
    run(launched(body), x, out, 1, updates=[out], writes=[], seeds=[0])
    assert torch.equal(out[1:257], x[3:259])
    assert out[0] == out[257] == 0


def test_offsets_of_64_bits(run):
    """From an address 4 GiB below a tensor."""

    def body(In, Out, thread):
        value = mem_ops.global_load(
            fx.ptrtoint(In.iter) - 0x1_0000_0000, fx.Int64(thread) * 4 + 0x1_0000_0000, fx.Float32
        )
        target = mem_ops.get_llvm_ptr(fx.ptrtoint(Out.iter) - 0x1_0000_0000, fx.Int64(thread) + 0x4000_0000, 4)
        mem_ops.global_store(target, 0, value)

    x = numbers(LANES)
    out = run.empty(x)
    run(launched(body), x, out, 1, writes=[out], seeds=[0])
    assert torch.equal(out, x)


@pytest.mark.parametrize("base", BASES)
def test_atomic_add_returns_what_was_there(base, run):
    at = BASES[base]

    def body(In, Out, thread):
        old = mem_ops.atomic_add(at(Out), thread, In[thread])
        mem_ops.atomic_add(at(Out), thread * 4 + 256, old, dtype_bytes=1)

    for dtype in (torch.float32, torch.int32):
        x = numbers(LANES, dtype)
        out = torch.zeros(2 * LANES, dtype=dtype)
        run(launched(body), x, out, 3, writes=[], updates=[out])
        assert torch.equal(out[:LANES], 3 * x)
        assert torch.equal(out[LANES:], 0 * x + 1 * x + 2 * x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
def test_buffer_atomic_add_stays_in_bounds(dtype, run):
    size = dtype.itemsize

    def body(In, Out, thread):
        target = create_buffer_resource(Out, num_records_bytes=40 * size)
        mem_ops.buffer_atomic_add(In[thread], target, thread * size, 2 * size)

    x = numbers(LANES, dtype)
    out = torch.zeros(LANES, dtype=dtype)
    run(launched(body), x, out, 3, writes=[], updates=[out])
    expected = torch.zeros_like(out)
    expected[2:40] = 3 * x[:38]
    assert torch.equal(out, expected)


def test_pairs_of_16_bit_floats(run):
    def body(In, Out, thread):
        pair = mem_ops.global_load(In, thread * 4, fx.Float16, 2)
        mem_ops.buffer_atomic_add(pair, create_buffer_resource(Out), thread * 4)

    x = numbers(2 * LANES, torch.float16)
    out = torch.zeros_like(x)
    run(launched(body), x, out, 2, writes=[], updates=[out])
    assert torch.equal(out, 2 * x)


def test_mistakes():
    def body(In, Out, thread):
        with pytest.raises(TypeError, match=r"fx.Float32\(1.0\)"):
            mem_ops.atomic_add(Out, 0, 1.0)
        with pytest.raises(ValueError, match="4 bytes needs that alignment"):
            mem_ops.atomic_add(Out, 0, fx.Float32(1.0), alignment=2)
        with pytest.raises(TypeError, match="not Int8"):
            mem_ops.buffer_atomic_add(fx.Int8(1), create_buffer_resource(Out), 0)
        with pytest.raises(ValueError, match="power of two"):
            mem_ops.global_load(In, 0, fx.Float32, alignment=3)
        with pytest.raises(ValueError, match="vec_width"):
            mem_ops.global_load(In, 0, fx.Float32, 0)
        with pytest.raises(TypeError, match="integer address"):
            mem_ops.global_load("In", 0, fx.Float32)

    launched(body)(numbers(LANES), numbers(LANES), 1)
