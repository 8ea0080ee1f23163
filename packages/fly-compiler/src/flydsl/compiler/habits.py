# SPDX-License-Identifier: Apache-2.0
"""Hints for those who bring habits along: from Python, Triton, CUDA, CuTe and torch."""

from __future__ import annotations

import difflib
import importlib
import re

__all__ = ["hints_for"]

_NO_TORCH_TENSOR = (
    "it is a view of memory with a layout, not a torch tensor: index it, t.load() and t.store(v), t.fill(value), "
    "fx.size(t), fx.make_view"
)
_BY_TEXT = (
    (r"unsupported operand .*'Tensor'", "a tensor is memory: compute with what is in it, x[i] or x.load()"),
    (r"unsupported operand .* /: 'IntTuple'", "extents are integers: divide them with // or fx.ceildiv"),
    (r"'Storage\[.*item assignment", "a storage is written with .poke(value) and read with .peek()"),
    (r"'IntTuple' object does not support item assignment", "shapes and layouts do not change: make another one"),
    (r"'\w+\d*' object has no attribute 'item'", "inside a kernel a value is used as it is, without .item()"),
    (r"no attribute '(float|half|bfloat16|int|long|double|astype|type|cast)'", "convert with .to(fx.Float16)"),
    (r"'Tensor' object has no attribute '(copy_|clone|zero_|sum|view|reshape|numel|size|dim)'", _NO_TORCH_TENSOR),
    (r"got torch\.\w+", "torch's types are for the host: fx.Float16, fx.Int32, ..."),
    (
        r"got 'Vector'",
        "to store n lanes, slice the tensor: fx.logical_divide(t, fx.make_layout(n, 1))[None, i].store(v)",
    ),
    (r"got 'Tuple3D'", "take one axis, for example fx.thread_idx.x"),
    (r"name '(thread|block)(Idx|Dim)' is not defined", "they are fx.thread_idx, fx.block_idx and fx.block_dim"),
)

_ELSEWHERE = {
    "arange": "a thread computes one element: its number is fx.thread_idx.x",
    "atomicAdd": "fx.atomic_add(fx.get_iter(tensor) + i, value)",
    "cdiv": "fx.ceildiv(a, b)",
    "constexpr": "fx.Constexpr",
    "cp_async": "fx.rocdl.BufferCopyLDS128b() is the copy that goes to LDS by itself",
    "dot": "fx.gemm(tiled_mma, d, a, b, c) on fragments",
    "device_print": "fx.printf(...)",
    "load": "x[i] for one element, fx.copy(atom, src, dst) for a tile",
    "local_partition": "tiled_copy.get_slice(fx.thread_idx.x).partition_S(tile)",
    "local_tile": "fx.zipped_divide(tensor, tile)[None, coordinate]",
    "make_fragment": "fx.make_rmem_tensor(shape, dtype), or tiled_mma.make_fragment_A(tile)",
    "make_tensor": "fx.make_view(pointer, layout)",
    "num_programs": "fx.grid_dim.x",
    "program_id": "fx.block_idx.x",
    "shared_memory": "fx.SharedAllocator().allocate(fx.Array[dtype, n])",
    "shfl_down_sync": "fx.gpu.shuffle_down(value, offset, width)",
    "shfl_xor_sync": "fx.gpu.shuffle_xor(value, offset, width)",
    "static_assert": "a plain assert, of what is known while tracing; fx.device_assert when the kernel runs",
    "static_range": "fx.range_constexpr(...)",
    "store": "x[i] = value for one element, fx.copy(atom, src, dst) for a tile",
    "sum": "vector.reduce('add') in a thread, fx.coop.warp_reduce and fx.coop.BlockReduce among threads",
    "sync_threads": "fx.barrier()",
    "syncthreads": "fx.barrier()",
    "where": "condition.select(a, b), or `a if condition else b`",
    "zeros": "fx.full(shape, 0.0, dtype) makes a vector, fx.make_rmem_tensor(shape, dtype) registers to fill",
}

_MISSING = re.compile(r"module '(flydsl\.expr[\w.]*)' has no attribute '(\w+)'")


def hints_for(text: str) -> list[str]:
    """Return what to say besides the text of an exception."""
    found = [hint for pattern, hint in _BY_TEXT if re.search(pattern, text)]
    missing = _MISSING.search(text)
    if missing is not None:
        module, name = missing.groups()
        if name in _ELSEWHERE:
            return [*found, f"here it is {_ELSEWHERE[name]}"]
        close = difflib.get_close_matches(name, dir(importlib.import_module(module)), n=3)
        if close:
            found.append(f"did you mean {' or '.join(close)}?")
    return found
