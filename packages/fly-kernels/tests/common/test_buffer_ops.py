# SPDX-License-Identifier: Apache-2.0
"""Buffer resources, their bounds, masks, offsets, and raw pointers, against torch."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common import buffer_ops

LANES = 64


def launched(body, elements=LANES):
    """A launcher of one wave that runs `body(In, Out, thread)`."""

    @flyc.kernel
    def kernel(In: fx.Tensor, Out: fx.Tensor):
        body(In, Out, fx.thread_idx.x)

    @flyc.jit
    def launch(In: fx.Tensor, Out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        kernel(In, Out).launch(grid=(1,), block=(LANES,), stream=stream)

    return launch


def evaluate(run, body, x, count=LANES, dtype=None):
    out = run.empty(x, (count,), dtype)
    run(launched(body), x, out, writes=[out], seeds=[0])
    return out


def numbers(count, dtype=torch.float32):
    return (torch.arange(count) + 1).to(dtype)


def test_loads_have_the_type_of_the_tensor_and_four_elements(run):
    def body(In, Out, thread):
        values = buffer_ops.buffer_load(buffer_ops.create_buffer_resource(In), thread * 4)
        buffer_ops.buffer_store(values + values, buffer_ops.create_buffer_resource(Out), thread * 4)

    for dtype in (torch.float32, torch.float16, torch.int32):
        x = numbers(4 * LANES, dtype)
        assert torch.equal(evaluate(run, body, x, 4 * LANES), 2 * x)


def test_reads_past_the_end_are_zero_and_writes_there_are_dropped(run):
    def body(In, Out, thread):
        source = buffer_ops.create_buffer_resource(In, max_size=False)
        buffer_ops.buffer_store(
            buffer_ops.buffer_load(source, thread, 1), buffer_ops.create_buffer_resource(Out), thread
        )
        limited = buffer_ops.create_buffer_resource(Out, num_records_bytes=4)
        buffer_ops.buffer_store(fx.Float32(-1.0), limited, thread)

    x = numbers(40)
    expected = torch.cat([x, torch.zeros(24)])
    expected[0] = -1
    assert torch.equal(evaluate(run, body, x), expected)


@pytest.mark.parametrize("dynamic", [False, True])
def test_base_offset_moves_the_start_and_keeps_the_end(dynamic, run):
    def body(In, Out, thread):
        base = fx.block_dim.x - 44 if dynamic else 20
        source = buffer_ops.create_buffer_resource(In, max_size=False, base_byte_offset=base)
        buffer_ops.buffer_store(
            buffer_ops.buffer_load(source, thread, 1), buffer_ops.create_buffer_resource(Out), thread
        )

    x = numbers(40)
    assert torch.equal(evaluate(run, body, x), torch.cat([x[5:], torch.zeros(29)]))


def test_resource_of_an_address(run):
    def body(In, Out, thread):
        address = fx.ptrtoint(In.iter)
        source = buffer_ops.create_buffer_resource_from_addr(address + 8, num_records_bytes=4 * 32)
        value = buffer_ops.buffer_load(source, thread, 1) + buffer_ops.buffer_load(source, thread, 1, fx.Float32)
        buffer_ops.buffer_store(value, buffer_ops.create_buffer_resource(Out), thread)

    x = numbers(80)
    assert torch.equal(evaluate(run, body, x), torch.cat([2 * x[2:34], torch.zeros(32)]))


def test_masks_and_uniform_offsets(run):
    def body(In, Out, thread):
        even = thread % 2 == 0
        source = buffer_ops.create_buffer_resource(In)
        value = buffer_ops.buffer_load(source, thread, 1, mask=even, soffset_bytes=12)
        target = buffer_ops.create_buffer_resource(Out)
        buffer_ops.buffer_store(value, target, thread, mask=thread < 32)
        buffer_ops.buffer_store(
            value + 100, target, thread * 4, mask=thread < 31, soffset_bytes=128, offset_is_bytes=True
        )
        buffer_ops.buffer_store(fx.Float32(7.0), target, thread * 4, mask=thread == 63, offset_is_bytes=True)

    x = numbers(70)
    loaded = torch.where(torch.arange(64) % 2 == 0, x[3:67], torch.zeros(64))
    expected = torch.cat([loaded[:32], loaded[:31] + 100, torch.tensor([7.0])])
    assert torch.equal(evaluate(run, body, x), expected)


def test_scalar_loads(run, counters):
    def body(In, Out, thread):
        source = buffer_ops.create_buffer_resource(In)
        four = buffer_ops.buffer_load(source, fx.block_idx.x + 4, is_scalar=True)
        one = buffer_ops.buffer_load(source, fx.block_idx.x + 9, 1, fx.Int32, is_scalar=True)
        total = one + four[0] * 2 + four[3] * 3
        buffer_ops.buffer_store(total, buffer_ops.create_buffer_resource(Out), thread)

    x = numbers(16, torch.int32)
    out = evaluate(run, body, x)
    assert torch.equal(out, torch.full((LANES,), 10 + 5 * 2 + 8 * 3, dtype=torch.int32))
    assert counters(launched(body), x, out)["classes"]["vmem"]["bytes_loaded"] == 0


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"mask": True}, ValueError),
        ({"soffset_bytes": 4}, ValueError),
        ({"vec_width": 2}, ValueError),
        ({"dtype": "f32"}, TypeError),
    ],
)
def test_scalar_loads_refuse_what_they_have_not(keywords, error):
    def body(In, Out, thread):
        with pytest.raises(error, match="a scalar load"):
            buffer_ops.buffer_load(buffer_ops.create_buffer_resource(In), 0, is_scalar=True, **keywords)

    launched(body)(numbers(64), numbers(64))


def test_resources_refuse_strides_and_pointers_of_unknown_size():
    def body(In, Out, thread):
        with pytest.raises(ValueError, match="stride"):
            buffer_ops.create_buffer_resource(In, 4)
        with pytest.raises(ValueError, match="num_records_bytes"):
            buffer_ops.create_buffer_resource(In.iter, max_size=False)
        with pytest.raises(TypeError, match="integer address"):
            buffer_ops.create_buffer_resource_from_addr(1.5)
        with pytest.raises(ValueError, match="address space 7"):
            buffer_ops.create_llvm_ptr(In, 7)
        with pytest.raises(ValueError, match="address space 3"):
            buffer_ops.extract_base_index(In, 3)

    launched(body)(numbers(64), numbers(64))


def test_raw_pointers(run):
    def body(In, Out, thread):
        base = buffer_ops.extract_base_index(In)
        generic = buffer_ops.create_llvm_ptr(base)
        moved = buffer_ops.get_element_ptr(generic, thread, 2, fx.Float32)
        first = buffer_ops.pointer_at("test", moved, 0, fx.Float32).load()
        shifted = buffer_ops.get_element_ptr(In, static_byte_offset=4)
        second = buffer_ops.pointer_at("test", shifted, thread * 4, fx.Float32).load()
        there = buffer_ops.create_llvm_ptr(Out, 1)
        target = buffer_ops.get_element_ptr(there, thread * 4)
        buffer_ops.pointer_at("test", target, 0, fx.Float32).store(first * 1000 + second)

    x = numbers(70)
    assert torch.equal(evaluate(run, body, x), x[2:66] * 1000 + x[1:65])


def test_raw_pointers_move_by_more_than_31_bits(run):
    """There and back again: the sum is computed, not cut to the constants of the op."""

    def body(In, Out, thread):
        far = buffer_ops.get_element_ptr(In, static_byte_offset=(5 << 32) + 4)
        back = buffer_ops.get_element_ptr(far, fx.Int64(thread) * 4, -(5 << 32))
        target = buffer_ops.get_element_ptr(Out, thread * 4)
        value = buffer_ops.pointer_at("test", back, 0, fx.Float32).load()
        buffer_ops.pointer_at("test", target, 0, fx.Float32).store(value)

    x = numbers(70)
    assert torch.equal(evaluate(run, body, x), x[1:65])
