# SPDX-License-Identifier: Apache-2.0
"""Kernels for NVIDIA's Hopper with a bug on purpose, one for each tool of compute-sanitizer, and for its limits.

`plant(folder)` compiles them and puts their launches there, as `cuda_launches` keeps them. `FINDS` says which tool has
to find which, `TRIED` what is tried beside: of those it is only reported what the tool says, so that it is known what a
clean run is worth. On an H200, with the tools of CUDA 13, nothing is said of them: neither of boxes that the copy
engine (TMA) reads behind the end of an allocation or where nothing was written, nor of one that is read in shared
memory before it has come, nor of a barrier that some threads of a warp do not come to. So of what the copy engine moves
the results are the evidence (`cuda_gemm.py check`, `cuda_attention.py check`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cuda_launches

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 64
FINDS = {
    "memcheck": "planted_store_behind_the_end",
    "racecheck": "planted_race_of_warps",
    "synccheck": "planted_barrier_that_is_none",
    "initcheck": "planted_read_of_nothing",
}
"""The bug that each tool has to find."""
TRIED = {
    "memcheck": ("planted_box_behind_the_end",),
    "racecheck": ("planted_box_read_too_early", "planted_box_that_has_come"),
    "synccheck": ("planted_barrier_of_some", "planted_box_that_has_come"),
    "initcheck": ("planted_box_of_nothing", "planted_box_that_has_come"),
}
"""What each tool is tried on besides; `planted_box_that_has_come` has no bug."""


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def planted_store_behind_the_end(x: fx.Tensor, n: fx.Int32) -> None:
    """Stores one element behind what there is."""
    x[n - THREADS + 1 + fx.thread_idx.x] = 1.0


@flyc.jit
def store_behind_the_end(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
    """Of `x`, with `n` elements."""
    planted_store_behind_the_end(x, n).launch(grid=(1,), block=(THREADS,))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def planted_race_of_warps(x: fx.Tensor, y: fx.Tensor) -> None:
    """Reads what the other warp writes, without a barrier."""
    room = fx.SharedAllocator(4 * THREADS).allocate(fx.Array[fx.Float32, THREADS], 16).peek()
    room.ptr[fx.thread_idx.x] = x[fx.thread_idx.x]
    y[fx.thread_idx.x] = room.ptr[THREADS - 1 - fx.thread_idx.x]


@flyc.jit
def race_of_warps(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
    """From `x` to `y`."""
    planted_race_of_warps(x, y).launch(grid=(1,), block=(THREADS,))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def planted_barrier_of_some(x: fx.Tensor, y: fx.Tensor) -> None:
    """Some threads of a warp are at a barrier, the others are not."""
    if fx.thread_idx.x < THREADS - 5:
        y[fx.thread_idx.x] = x[fx.thread_idx.x]
        fx.barrier()
        y[fx.thread_idx.x + 1] = x[fx.thread_idx.x]


@flyc.jit
def barrier_of_some(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
    """From `x` to `y`."""
    planted_barrier_of_some(x, y).launch(grid=(1,), block=(THREADS,))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def planted_barrier_that_is_none(x: fx.Tensor, y: fx.Tensor) -> None:
    """All arrive at an mbarrier that nobody has made."""
    room = fx.SharedAllocator(64).allocate(fx.Array[fx.Int64, 1], 8).peek()
    fx.nvgpu.Mbarriers(room.ptr, 1).arrive(0)
    y[fx.thread_idx.x] = x[fx.thread_idx.x]


@flyc.jit
def barrier_that_is_none(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
    """From `x` to `y`."""
    planted_barrier_that_is_none(x, y).launch(grid=(1,), block=(THREADS,))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def planted_read_of_nothing(x: fx.Tensor, y: fx.Tensor) -> None:
    """Reads what nobody has written: its launch leaves `x` so."""
    y[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0


@flyc.jit
def read_of_nothing(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
    """From `x` to `y`."""
    planted_read_of_nothing(x, y).launch(grid=(1,), block=(THREADS,))


BOX = (8, 32)


def _box(waits: bool) -> Any:
    """The body of a kernel that has the copy engine bring a box, and reads it when it has come, or at once."""

    def body(box: fx.nvgpu.TensorMap, y: fx.Tensor) -> None:
        shared = fx.SharedAllocator(1024, static=False)
        room = shared.allocate(fx.Array[fx.Float32, BOX[0] * BOX[1]], 1024).peek()
        tile = fx.make_view(room.ptr, fx.make_layout(BOX, (BOX[1], 1)))
        barriers = fx.nvgpu.Mbarriers(shared.allocate(fx.Array[fx.Int64, 1], 8).peek().ptr, 1)
        boxes = fx.flat_divide(box.coordinates(BOX), BOX)
        if fx.thread_idx.x == 0:
            barriers.init(1)
            fx.nvgpu.fence_mbarrier_init()
        fx.barrier()
        if fx.thread_idx.x == 0:
            barriers.expect(0, box.transferred)
            fx.copy(box.load_atom().set_value("barrier", barriers.at(0)), boxes[None, None, 0, 0], tile)
        if fx.const_expr(waits):
            barriers.wait(0, 0)
        y[fx.thread_idx.x] = room.ptr[fx.thread_idx.x]
        fx.barrier()
        if fx.const_expr(not waits):
            barriers.wait(0, 0)

    return body


def _of_boxes(name: str, waits: bool) -> Any:
    kernel = flyc.kernel(_box(waits), name=name, known_block_size=(THREADS, 1, 1))

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32) -> None:
        view = fx.make_view(fx.get_iter(x), fx.make_layout(BOX, (BOX[1], 1)))
        kernel(fx.nvgpu.make_tensor_map(view, BOX), y).launch(grid=(1,), block=(THREADS,))

    return launch


def bugs() -> dict[str, tuple[Callable[..., Any], int, bool]]:
    """By the kernel's name: its launcher, the elements of `x`, and whether they were written before."""
    whole = BOX[0] * BOX[1]
    return {
        "planted_race_of_warps": (race_of_warps, THREADS, True),
        "planted_read_of_nothing": (read_of_nothing, THREADS, False),
        "planted_box_that_has_come": (_of_boxes("planted_box_that_has_come", True), whole, True),  # no bug
        "planted_box_of_nothing": (_of_boxes("planted_box_of_nothing", True), whole, False),
        "planted_box_read_too_early": (_of_boxes("planted_box_read_too_early", False), whole, True),
        "planted_barrier_of_some": (barrier_of_some, THREADS, True),
        "planted_barrier_that_is_none": (barrier_that_is_none, THREADS, True),
        "planted_box_behind_the_end": (_of_boxes("planted_box_behind_the_end", True), whole - 64, True),
        "planted_store_behind_the_end": (store_behind_the_end, THREADS, True),
    }


def plant(folder: Path) -> None:
    """Compile all for sm_90a and put their launches into a folder, by the kernel's name."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    for name, (launch, count, is_written) in bugs().items():
        x, y = torch.zeros(count, device="cpu"), torch.zeros(2 * THREADS, device="cpu")
        compiled = flyc.compile.only(launch, x, y, count)
        sizes = {0: count, 1: 2 * THREADS}
        arguments: list[list[Any]] = [["tensor", at, "float32", [size], [1], 0] for at, size in sizes.items()]
        arguments.append(["value", count])
        before = torch.zeros(4 * count, dtype=torch.uint8, device="cpu") if is_written else None
        storages = [cuda_launches.Storage(4 * count, before, None), cuda_launches.Storage(8 * THREADS, None, None)]
        roles = [one["kind"] for one in compiled.note["arguments"]]
        arguments += [["stream"]] * (len(roles) - len(arguments))
        cuda_launches.write(folder / name, compiled.path, compiled.note, arguments, storages, exact=False)
