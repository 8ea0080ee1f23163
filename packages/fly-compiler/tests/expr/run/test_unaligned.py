# SPDX-License-Identifier: Apache-2.0
"""Wide copies of narrow elements at any address: views that begin at an odd element, and rows of odd length.

A load that is the same for all threads may become a scalar one, which drops the lowest two bits of its address.
"""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

DTYPES = (torch.int8, torch.uint8, torch.float16, torch.bfloat16, torch.float8_e4m3fnuz)
PLACES = {
    "aligned": (0, 0),
    "an odd start": (1, 0),
    "another odd start": (3, 0),
    "rows of odd length": (0, 3),
    "both": (3, 1),
}
ROWS = 3


def view(dtype, place, fill):
    """A (ROWS, 16 bytes) view into bytes that are all different, or zeros."""
    count = 16 // dtype.itemsize
    start, more = PLACES[place]
    room = torch.arange(256, dtype=torch.uint8) if fill else torch.zeros(256, dtype=torch.uint8)
    return torch.as_strided(room.view(dtype), (ROWS, count), (count + more, 1), start)


def octets(tensor):
    return tensor.contiguous().view(torch.uint8)


@flyc.kernel
def through_registers(x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]):
    row = fx.block_idx.x if uniform else fx.thread_idx.x
    atom, registers = fx.make_copy_atom(fx.UniversalCopy128b(), x.dtype), fx.make_rmem_tensor(count, x.dtype)
    fx.copy_atom_call(atom, x[row, None], registers)
    fx.copy_atom_call(atom, registers, y[row, None])


@flyc.kernel
def memory_to_memory(x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]):
    row = fx.block_idx.x if uniform else fx.thread_idx.x
    fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy128b(), x.dtype), x[row, None], y[row, None])


@flyc.kernel
def by_vector(x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]):
    row = fx.block_idx.x if uniform else fx.thread_idx.x
    fx.logical_divide(y[row, None], fx.make_layout(count, 1))[None, 0].store(
        fx.logical_divide(x[row, None], fx.make_layout(count, 1))[None, 0].load()
    )


@flyc.kernel
def through_pointers(x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]):
    row = fx.block_idx.x if uniform else fx.thread_idx.x
    kind = fx.Vector.make_type(count, x.dtype)
    fx.get_iter(y[row, None]).store(fx.get_iter(x[row, None]).load(kind))


@flyc.kernel
def through_lds(x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]):
    """Rows of LDS begin at odd elements and are of odd length, whatever those in memory are."""
    row = fx.block_idx.x if uniform else fx.thread_idx.x
    room = fx.SharedAllocator().allocate(fx.Array[x.dtype, 128]).peek()
    rows = fx.make_view(room.ptr + 1, fx.make_layout((ROWS, count), (count + 3, 1)))
    atom, registers = fx.make_copy_atom(fx.UniversalCopy128b(), x.dtype), fx.make_rmem_tensor(count, x.dtype)
    for i in fx.range_constexpr(count):
        rows[row, i] = x[row, i]
    fx.barrier()
    fx.copy_atom_call(atom, rows[row, None], registers)
    fx.barrier()
    fx.copy_atom_call(atom, registers, rows[ROWS - 1 - row, None])
    fx.barrier()
    for i in fx.range_constexpr(count):
        y[row, i] = rows[ROWS - 1 - row, i]


@flyc.jit
def launch(
    kernel: fx.Constexpr[int], x: fx.Tensor, y: fx.Tensor, count: fx.Constexpr[int], uniform: fx.Constexpr[bool]
):
    chosen = KERNELS[list(KERNELS)[kernel]]
    chosen(x, y, count, uniform).launch(grid=ROWS if uniform else 1, block=1 if uniform else ROWS)


KERNELS = {
    one._func.__name__: one for one in (through_registers, memory_to_memory, by_vector, through_pointers, through_lds)
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda one: str(one).removeprefix("torch."))
def test_a_wide_copy_of_narrow_elements_begins_anywhere(kernel, dtype):
    for place in PLACES:
        for uniform in (True, False):
            for wrap in (flyc.from_dlpack, lambda one: one):
                x, y = view(dtype, place, fill=True), view(dtype, place, fill=False)
                launch(list(KERNELS).index(kernel), wrap(x), wrap(y), x.shape[1], uniform)
                assert torch.equal(octets(x), octets(y)), (place, uniform, wrap)
