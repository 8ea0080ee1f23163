# SPDX-License-Identifier: Apache-2.0
"""y = f(x), its backward, and z = f(x, y), element by element, over contiguous tensors of any number of elements.

A thread moves 16 bytes at a time, several times (`WorkgroupConfig`), a workgroup's length apart; the elements after the
last whole vector are moved by one thread each. Every element is read and written once.

Limits: fewer than 2^31 elements, gfx942 and gfx950.
"""

from __future__ import annotations

from typing import Any

from ..common.convert import round_to
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_row
from ..common.rows import pointer
from ..common.workgroup_config import WorkgroupConfig, workgroup_config
from .functions import BINARY, GRADIENTS, UNARY, function


def build_unary_module(name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None) -> Any:
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


def build_unary_bwd_module(name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None) -> Any:
    """Build the launcher `(DY, X, DX, count, stream)`: DX[i] = DY[i] · f'(X[i]) for i < count.

    `name` is a key of `functions.GRADIENTS`; else as `build_unary_module`.
    """
    launch = _pointwise(function(GRADIENTS, name), f"{name}_bwd", dtype_str, config)

    @flyc.jit
    def unary_bwd(DY: Any, X: Any, DX: Any, count: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        launch({"DY": DY, "X": X}, {"DX": DX}, count, stream)

    return unary_bwd


def build_binary_module(name: str, dtype_str: str = "f32", config: WorkgroupConfig | None = None) -> Any:
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

    def move(sources: Any, target: Any, at: Any, width: int) -> None:
        """Elements at to at + width - 1."""
        layout = fx.make_layout(width, 1)
        values = [fx.make_view(one + at, layout).load().to(fx.Float32) for one in sources]
        fx.make_view(target + at, layout).store(round_to(apply(*values), element))

    @flyc.kernel(name=f"pointwise_{name}_{dtype_str}", known_block_size=(threads, 1, 1))
    def pointwise_kernel(inputs: Any, output: Any, count: fx.Int32) -> None:
        sources, target = [pointer(one) for one in inputs], pointer(output)
        thread, block = fx.thread_idx.x, fx.block_idx.x
        groups = count // vector
        for part in fx.range_constexpr(vectors):
            group = (block * vectors + part) * threads + thread
            if group < groups:
                move(sources, target, group * vector, vector)
        rest = groups * vector + thread
        if block == 0 and rest < count:
            move(sources, target, rest, 1)

    def launch(inputs: dict[str, Any], outputs: dict[str, Any], count: Any, stream: Any) -> None:
        expect_count("count", count)
        for label, tensor in (inputs | outputs).items():
            expect_row(label, tensor, element, count)
        (output,) = outputs.values()
        span = threads * vectors * vector
        grid = ((fx.Int64(count) + (span - 1)) // span).to(fx.Int32)  # a count may be next to 2^31
        pointwise_kernel(list(inputs.values()), output, count).launch(grid=(grid,), block=(threads,), stream=stream)

    return launch
