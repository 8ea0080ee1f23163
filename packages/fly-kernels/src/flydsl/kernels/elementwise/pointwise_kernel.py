# SPDX-License-Identifier: Apache-2.0
"""y = f(x), its backward, and z = f(x, y), element by element, over contiguous tensors of any number of elements.

A thread moves 16 bytes at a time, several times (`WorkgroupConfig`), a workgroup's length apart; the elements after the
last whole vector are moved by one thread each. Every element is read and written once.

Limits: fewer than 2^31 elements; gfx942, gfx950, gfx1100 and gfx1201.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.convert import round_to
from ..common.dtypes import float_type
from ..common.functions import BINARY, GRADIENTS, UNARY, function
from ..common.language import flyc, fx
from ..common.row_arguments import expect_aligned, expect_count, expect_row
from ..common.views import start_of
from ..common.workgroup_config import WorkgroupConfig, workgroup_config


def build_unary_module(name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None) -> Callable[..., Any]:
    """Build the launcher `(X, Y, count, stream)`: Y[i] = f(X[i]) for i < count.

    `name` is a key of `functions.UNARY`. X and Y are one-dimensional contiguous tensors of `dtype_str` ("f32", "f16",
    "bf16"), or pointers; Y may be X. `config` is another cut than the default.

    Raises ValueError for an unknown function or dtype; ImportError without the compiler.
    """
    launch = _pointwise(function(UNARY, name), name, dtype_str, config)

    @flyc.jit
    def unary(X: Any, Y: Any, count: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        launch({"X": X}, {"Y": Y}, count, stream)

    return unary


def build_unary_bwd_module(
    name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(DY, X, DX, count, stream)`: DX[i] = DY[i] · f'(X[i]) for i < count.

    `name` is a key of `functions.GRADIENTS`; else as `build_unary_module`.
    """
    launch = _pointwise(function(GRADIENTS, name), f"{name}_bwd", dtype_str, config)

    @flyc.jit
    def unary_bwd(DY: Any, X: Any, DX: Any, count: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        launch({"DY": DY, "X": X}, {"DX": DX}, count, stream)

    return unary_bwd


def build_binary_module(name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None) -> Callable[..., Any]:
    """Build the launcher `(X, Y, Z, count, stream)`: Z[i] = f(X[i], Y[i]) for i < count.

    `name` is a key of `functions.BINARY`; else as `build_unary_module`.
    """
    launch = _pointwise(function(BINARY, name), name, dtype_str, config)

    @flyc.jit
    def binary(X: Any, Y: Any, Z: Any, count: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        launch({"X": X, "Y": Y}, {"Z": Z}, count, stream)

    return binary


def _pointwise(apply: Any, name: str, dtype_str: str, config: WorkgroupConfig | None) -> Any:
    element, config = float_type(dtype_str), workgroup_config("pointwise", config)
    threads, vectors = config.threads, config.vectors
    vector = 128 // element.width

    span = threads * vectors * vector

    def move(sources: list[Any], target: Any, width: int, passes: int, end: Any) -> None:
        """The elements before `end` of a tile of `threads` times `passes` vectors of `width`."""
        layout = fx.make_layout(((threads,), (width, passes)), ((width,), (1, threads * width)))
        atom, extent = fx.make_copy_atom(fx.UniversalCopy(width * element.width), element), threads * width * passes
        copy = fx.make_tiled_copy(atom, layout, (extent,))
        mine, tile = copy.get_slice(fx.thread_idx.x), fx.make_layout(extent, 1)
        coordinates: Any = mine.partition_S(fx.make_view(0, tile))
        result = mine.partition_D(fx.make_view(target, tile))
        inside = fx.make_rmem_tensor((passes, 1), fx.Boolean)
        for index in fx.range_constexpr(passes):
            inside[index, 0] = coordinates[(0, index), 0].unpack() < end
        values = []
        for one in sources:
            source = mine.partition_S(fx.make_view(one, tile))
            fragment = fx.make_fragment_like(source)
            fragment.fill(0)  # a function may branch on what it is given
            fx.copy(copy, source, fragment, pred=inside)
            values.append(fragment)
        out = fx.make_fragment_like(result)
        out.store(round_to(apply(*(one.load().reshape(width * passes).to(fx.Float32) for one in values)), element))
        fx.copy(copy, out, result, pred=inside)

    @flyc.kernel(name=f"pointwise_{name}_{dtype_str}", known_block_size=(threads, 1, 1))
    def pointwise_kernel(inputs: Any, output: Any, count: fx.Int32) -> None:
        start = fx.Int64(fx.block_idx.x) * span
        left = (fx.Int64(count) - start).to(fx.Int32)
        sources, target = [start_of(one) + start for one in inputs], start_of(output) + start
        whole = left // vector * vector
        move(sources, target, vector, vectors, whole)
        if whole < span:  # the last workgroup: what no vector holds
            move([one + whole for one in sources], target + whole, 1, 1, left - whole)

    def launch(inputs: dict[str, Any], outputs: dict[str, Any], count: Any, stream: Any) -> None:
        expect_count("count", count)
        for label, tensor in (inputs | outputs).items():
            expect_row(label, tensor, element, count)
            expect_aligned(label, tensor, vector)
        (output,) = outputs.values()
        grid = ((fx.Int64(count) + (span - 1)) // span).to(fx.Int32)  # a count may be next to 2^31
        pointwise_kernel(list(inputs.values()), output, count).launch(grid=(grid,), block=(threads,), stream=stream)

    return launch
