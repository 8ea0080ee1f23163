# SPDX-License-Identifier: Apache-2.0
"""The second half of a GEMM with split K: add the parts in order, finish, store.

The workspace is (parts, M, N) f32. A thread adds up 4 neighbouring elements: one 16-byte load a part, one store; every
access of a wave is one contiguous stretch. Every element is read once and written once. All tensors are (4 neighbours,
(groups of a row, rows)), so that the number of a group is a coordinate of each of them, whatever its strides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue, element_functions
from ..common.utils import cdiv
from ..common.views import MOST
from .arguments import expect_rows, row_strides, tile_tensor, wanted_extras

__all__ = ["build_splitk_reduce"]

_THREADS = 256
_GROUP = 4


def build_splitk_reduce(*, N: int, split_k: int, output: str, epilogue: Epilogue, name: str) -> Callable[..., None]:
    """Return the function `(C, workspace, M, stream, **extras)` that a `@flyc.jit` body calls to launch the kernel.

    N is a multiple of 4; `output` names the language's type of C; `extras` has the tensors that the epilogue reads, by
    the names of `Epilogue`. With no parts (`split_k` = 0) the sums are 0, and `workspace` is not read and may be None;
    only then can `output` be "Int32".
    """
    kind = getattr(fx, output)
    groups = N // _GROUP  # of a row

    wanted = wanted_extras(epilogue, kind)
    rows_of = groups, MOST

    @flyc.kernel(name=f"{name}_{output}_{N}_{split_k}", known_block_size=(_THREADS, 1, 1))
    def splitk_reduce(M: fx.Int32, C: fx.Tensor, workspace: fx.Tensor, extras: Any, strides: Any) -> None:
        first = fx.block_idx.x * _THREADS
        thread, group = fx.thread_idx.x, first + fx.thread_idx.x
        # Of the elements of this workgroup; the last one may have fewer.
        count = fx.min(M * groups - first, _THREADS) * _GROUP
        parts_layout = fx.make_layout((_GROUP, _THREADS), (1, _GROUP))
        total = fx.full(_GROUP, 0, fx.Int32) if kind is fx.Int32 else fx.full(_GROUP, 0.0, fx.Float32)
        for part in fx.range_constexpr(split_k):
            begin = part * fx.Int64(M) * groups + first
            part_tensor = tile_tensor(workspace, fx.Float32, begin, _GROUP * 4, count * 4, 0, parts_layout)
            total = total + _read(part_tensor[None, thread])

        def vector(tensor: Any, element: Any, extent: Any, shape: int, stride: tuple[int, tuple[int, int]]) -> Any:
            width = element.width // 8
            layout = fx.make_layout((shape, rows_of), stride)
            return tile_tensor(tensor, element, 0, width, extent * width, 0, layout)[None, group]

        # Of the rows of this workgroup; its first element is somewhere in the first of them.
        top = first // groups

        def matrix(tensor: Any, which: str) -> Any:
            stride, size = strides.get(which, N), kind.width // 8
            extent = (M - 1 - top) * fx.Int64(stride) + N
            # A third mode, of which 1 is past the end of any resource: the hardware drops what is stored there, and
            # there is no branch.
            layout = fx.make_layout((_GROUP, rows_of, 2), (1, (_GROUP, stride), 2**31 // size))
            past = (thread * _GROUP < count).select(0, 1)
            tile = tile_tensor(tensor, kind, top, stride * size, extent * size, 0, layout)
            return tile[None, group - top * groups, past]

        read = {}
        if epilogue.scaled:
            read["scale_a"] = _read(vector(extras["scale_a"], fx.Float32, M, 1, (0, (0, 1))))[0]
            read["scale_b"] = _read(vector(extras["scale_b"], fx.Float32, N, _GROUP, (1, (_GROUP, 0))))
        if epilogue.bias:
            read["bias"] = _read(vector(extras["bias"], kind, N, _GROUP, (1, (_GROUP, 0))))
        if epilogue.residual:
            read["residual"] = _read(matrix(extras["residual"], "residual"))
        for function, names in element_functions(epilogue, kind):
            total = function(total, *[read[name] for name in names])
        target = matrix(C, "C")
        result = fx.make_fragment_like(target)
        result.store(total)
        fx.copy(_atom(target), result, target)

    def launch(C: Any, workspace: Any, M: Any, stream: Any, **extras: Any) -> None:
        if split_k:
            expect_rows("workspace", workspace, fx.Float32)
        else:
            workspace = C
        for one in wanted:
            expect_rows(one, extras[one], wanted[one])
        matrices = {"C": C, "residual": extras["residual"]} if epilogue.residual else {"C": C}
        strides = row_strides(matrices, {"C": N, "residual": N}, _THREADS)
        splitk_reduce(M, C, workspace, {one: extras[one] for one in wanted}, strides).launch(
            grid=(cdiv(M * groups, _THREADS),), block=(_THREADS,), stream=stream
        )

    return launch


def _atom(tensor: Any) -> Any:
    """The copy of all elements of a buffer tensor in one access."""
    element = tensor.element_type
    return fx.make_copy_atom(fx.rocdl.BufferCopy(fx.get_scalar(fx.size(tensor)) * element.width), element)


def _read(source: Any) -> Any:
    """What a buffer tensor of one access holds, as a Vector; past its end zeros."""
    held = fx.make_fragment_like(source)
    fx.copy(_atom(source), source, held)
    return held.load()
