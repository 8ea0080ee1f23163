#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""QuACK's kernels compiled ahead, for a machine to which its compiler does not fit.

    python3 cuda_quack_ahead.py pack FOLDER       # anywhere: a library for each kernel, 0.1 MB each
    FLYDSL_BENCH_QUACK=FOLDER python3 cuda.py run build/cuda/pack out.json     # on the GPU; or cuda_gemm.py

Row kernels, of bf16 and f16, are those that QuACK configures for itself, with weights of the rows' type. Of its product
C = A B^T of bf16 there are all configurations that it tries on Hopper but those that swap A and B; the fastest is taken
at each shape. To pack needs a
C compiler and `python3 -m pip install quack-kernels==0.6.5 'nvidia-cutlass-dsl[cu13]' numpy torch`; to run, torch for
CUDA 13 and `apache-tvm-ffi`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cuda_ahead

OPERATIONS = ("softmax", "rmsnorm", "layernorm")
COLUMNS = (1024, 2048, 4096, 8192, 16384)
_TRIALS = 5
# What the product takes beside tensors: of the epilogue so many values, and of an H200 so many clusters of two.
_EPILOGUE, _CLUSTERS, _SWIZZLE = 12, 66, 8
TYPES = {"bf16": "BFloat16", "f16": "Float16"}
_DSL = "dsl.txt"


def cute_dsl(folder: Path) -> str:
    """The version of CuTe DSL that compiled a folder."""
    return (folder / _DSL).read_text()


def rows(folder: Path, operation: str, x: Any, w: Any, b: Any, y: Any, eps: float) -> Callable[[], Any]:
    """A call of softmax, rmsnorm or layernorm of a (rows, columns) tensor x into y, with weights w and b of its type.

    Raises:
        OSError: the folder has none for these columns or this type.
    """
    kind = {"torch.bfloat16": "bf16", "torch.float16": "f16"}.get(str(x.dtype), str(x.dtype))
    function = cuda_ahead.loaded(folder / _name(operation, kind, x.shape[-1]))
    if operation == "softmax":
        return lambda: function(x, y)
    # Residual, its sum, rstd and mean are not asked for.
    bias = b if operation == "layernorm" else None
    return lambda: function(x, w, bias, None, y, None, None, None, eps)


def product(folder: Path) -> Callable[[Any], Any]:
    """A call of C = A B^T for operands a (m, k), b (n, k) and c (m, n) of bf16.

    The first of a shape tries all configurations, so that it must not be captured.

    Raises:
        FileNotFoundError: at the call, the folder has no product.
    """
    best: dict[tuple[int, ...], Callable[[Any], Any]] = {}

    def run(given: Any) -> Any:
        shape = (*given.c.shape, given.a.shape[-1])
        if shape not in best:
            best[shape] = _fastest(folder, given)
        return best[shape](given)

    return run


def _fastest(folder: Path, given: Any) -> Callable[[Any], Any]:
    import torch

    calls = {path.stem: _product_of(path) for path in sorted(folder.glob("quack-gemm-*.so"))}
    if not calls:
        raise FileNotFoundError(f"{folder} has no product")
    times: dict[str, float] = {}
    for name, call in calls.items():
        found = []
        for _ in range(_TRIALS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call(given)
            end.record()
            torch.cuda.synchronize()
            found.append(begin.elapsed_time(end))
        times[name] = min(found[1:])
    name = min(times, key=lambda one: times[one])
    print(f"QuACK's product of {tuple(given.c.shape)} with {given.a.shape[-1]}: {name}")
    return calls[name]


def _product_of(path: Path) -> Callable[[Any], Any]:
    function = cuda_ahead.loaded(path)
    # Of the epilogue nothing is asked for. The scheduler takes as many workgroups of two as there is room for, in an
    # order of its own, and the swizzle that QuACK has at most.
    epilogue, scheduler = (None,) * _EPILOGUE, (_CLUSTERS, None, _SWIZZLE, None, None, None)
    return lambda given: function(given.a, given.b, given.c, None, epilogue, scheduler, None, None, None)


def _name(operation: str, kind: str, columns: int) -> str:
    return f"quack-{operation}-{kind}-{columns}.so"


def pack(folder: Path) -> None:
    """Compile each operation for rows of each length, and the product in each configuration, into a folder."""
    cuda_ahead.pack(
        folder,
        "quack-kernels",
        _kernels(),
        lambda cache: {"QUACK_ARCH": "90", "QUACK_CACHE_ENABLED": "1", "QUACK_CACHE_DIR": cache},
    )
    (folder / _DSL).write_text(importlib.metadata.version("nvidia-cutlass-dsl"))


def _kernels() -> Iterator[tuple[str, Callable[[], None]]]:
    """The library of each kernel, and what has QuACK compile it."""
    for one in itertools.product(OPERATIONS, TYPES, COLUMNS):
        yield _name(*one), functools.partial(_compile, *one)
    for one in importlib.import_module("quack.gemm_config")._get_sm90_configs():
        if not one.swap_ab:
            kind = "pingpong" if one.pingpong else "cooperative"
            name = f"quack-gemm-{one.tile_m}x{one.tile_n}-{one.cluster_m}x{one.cluster_n}-{kind}.so"
            yield name, functools.partial(_compile_product, one)


def _compile_product(configuration: Any) -> None:
    import cutlass

    gemm, kind = importlib.import_module("quack.gemm"), cutlass.BFloat16
    one = configuration
    assert len(gemm.GemmDefaultSm90.EpilogueArguments._fields) == _EPILOGUE
    gemm._compile_gemm(
        a_dtype=kind, b_dtype=kind, d_dtype=kind, c_dtype=None, a_major="k", b_major="k", d_major="n", c_major=None,
        tile_shape_mn=(one.tile_m, one.tile_n), cluster_shape_mnk=(one.cluster_m, one.cluster_n, 1),
        pingpong=one.pingpong, persistent=True, is_dynamic_persistent=False, rowvec_dtype=None, colvec_dtype=None,
        colvec_ndim=0, alpha_mode=0, beta_mode=0, add_to_output=False, concat_layout=(), varlen_m=False,
        varlen_k=False, gather_A=False, use_tma_gather=False, has_batch_idx_permute=False, device_capacity=(9, 0),
        rounding_mode=importlib.import_module("quack.rounding").RoundingMode.RN, sr_seed_mode=0, num_warps=None,
        batched=False,
    )  # fmt: skip


def _compile(operation: str, type_name: str, columns: int) -> None:
    """Have QuACK put an object into its cache."""
    import cutlass

    kind = getattr(cutlass, TYPES[type_name])
    if operation == "softmax":
        # `quack.softmax` is also the name of a function.
        importlib.import_module("quack.softmax").Softmax.compile(kind, kind, columns)
        return
    centred = operation == "layernorm"
    types = (kind, kind, None, kind, kind if centred else None, None)
    importlib.import_module("quack.rmsnorm")._compile_rmsnorm_fwd(*types, columns, False, False, centred, False, 0.0)


if __name__ == "__main__":
    cuda_ahead.main(__doc__, pack)
