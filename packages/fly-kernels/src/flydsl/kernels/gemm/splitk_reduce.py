# SPDX-License-Identifier: Apache-2.0
"""The second half of a GEMM with split K: add the parts in order, finish, store.

The workspace is (parts, M, N) f32. A thread adds up 4 neighbouring elements: one 16-byte load a part, one store; every
access of a wave is one contiguous stretch. Every element is read once and written once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue, element_functions
from ..common.utils import cdiv
from .arguments import expect_rows, resource, row_strides, wanted_extras

__all__ = ["build_splitk_reduce"]

_THREADS = 256
_GROUP = 4


def build_splitk_reduce(*, N: int, split_k: int, output: str, epilogue: Epilogue, name: str) -> Callable[..., None]:
    """Return the function `(C, workspace, M, stream, **extras)` that a `@flyc.jit` body calls to launch the kernel.

    N is a multiple of 4; `output` names the language's type of C; `extras` has the tensors that the epilogue reads, by
    the names of `Epilogue`.
    """
    kind = getattr(fx, output)
    groups = N // _GROUP  # of a row

    wanted = wanted_extras(epilogue, kind)
    four, size = fx.VectorAlias(kind, _GROUP), kind.width // 8

    @flyc.kernel(name=f"{name}_{output}_{N}_{split_k}", known_block_size=(_THREADS, 1, 1))
    def splitk_reduce(M: fx.Int32, C: fx.Tensor, workspace: fx.Tensor, extras: Any, strides: Any) -> None:
        first = fx.block_idx.x * _THREADS
        at, group = fx.thread_idx.x * _GROUP, first + fx.thread_idx.x
        # Of the elements of this workgroup; the last one may have fewer.
        count = fx.min(M * groups - first, _THREADS) * _GROUP
        total = fx.full(_GROUP, 0.0, fx.Float32)
        for part in fx.range_constexpr(split_k):
            values = resource(workspace, part * fx.Int64(M) * groups + first, _GROUP * 4, count * 4)
            total = total + _load(fx.Float32x4, values, at * 4)
        row, column = group // groups, group % groups * _GROUP
        read = {}
        if epilogue.scaled:
            read["scale_a"] = fx.Float32(_raw(fx.Float32, resource(extras["scale_a"], 0, 0, M * 4), row * 4))
            read["scale_b"] = _load(fx.Float32x4, resource(extras["scale_b"], 0, 0, N * 4), column * 4)
        if epilogue.bias:
            read["bias"] = _load(four, resource(extras["bias"], 0, 0, N * size), column * size)
        # Of the rows of this workgroup; its first element is somewhere in the first of them.
        top = first // groups

        def matrix(tensor: Any, which: str) -> tuple[Any, Any]:
            stride = strides.get(which, N)
            extent = (M - 1 - top) * fx.Int64(stride) + N
            past = (at < count).select(((row - top) * stride + column) * size, -1)
            return resource(tensor, top, stride * size, extent * size), past

        if epilogue.residual:
            read["residual"] = _load(four, *matrix(extras["residual"], "residual"))
        for function, names in element_functions(epilogue, kind):
            total = function(total, *[read[name] for name in names])
        fx.rocdl.raw_ptr_buffer_store(total.bitcast(fx.Int32), *matrix(C, "C"))

    def launch(C: Any, workspace: Any, M: Any, stream: Any, **extras: Any) -> None:
        expect_rows("workspace", workspace, fx.Float32)
        for one in wanted:
            expect_rows(one, extras[one], wanted[one])
        matrices = {"C": C, "residual": extras["residual"]} if epilogue.residual else {"C": C}
        strides = row_strides(matrices, {"C": N, "residual": N}, _THREADS)
        splitk_reduce(M, C, workspace, {one: extras[one] for one in wanted}, strides).launch(
            grid=(cdiv(M * groups, _THREADS),), block=(_THREADS,), stream=stream
        )

    return launch


def _raw(kind: Any, source: Any, offset: Any) -> Any:
    return fx.rocdl.raw_ptr_buffer_load(kind, source, offset)


def _load(kind: Any, source: Any, offset: Any) -> Any:
    return fx.Vector(_raw(kind, source, offset))
