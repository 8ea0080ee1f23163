# SPDX-License-Identifier: Apache-2.0
"""The kernel library: one kernel per file, by family; and one operator of torch per operation.

Importing this package or any module of a family needs fly-runtime only. A builder (`build_…`, `compile_…`) imports the
compiler when it is called, and says which extra to install when there is none. The operators (`flydsl.kernels.softmax`
and the others of `OPERATORS`) import torch at their first use.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

OPERATORS = {
    "absolute": "elementwise",
    "add": "elementwise",
    "argmax": "reductions",
    "exp": "elementwise",
    "flash_attention": "flash_attention",
    "fused_add_layernorm": "layernorm",
    "fused_add_layernorm_quant": "quantised_norms",
    "fused_add_rmsnorm": "rmsnorm",
    "fused_add_rmsnorm_quant": "quantised_norms",
    "geglu": "elementwise",
    "gelu": "elementwise",
    "gemm": "gemm",
    "grouped_gemm": "grouped_gemm",
    "layernorm": "layernorm",
    "layernorm_quant": "quantised_norms",
    "log": "elementwise",
    "maximum": "elementwise",
    "mean": "reductions",
    "multiply": "elementwise",
    "mx_quant": "quant",
    "per_block2d_quant": "quant",
    "per_block_quant": "quant",
    "per_tensor_quant": "quant",
    "per_token_quant": "quant",
    "relu": "elementwise",
    "rmsnorm": "rmsnorm",
    "rmsnorm_quant": "quantised_norms",
    "rope_cache": "rope",
    "row_max": "reductions",
    "row_sum": "reductions",
    "rsqrt": "elementwise",
    "sigmoid": "elementwise",
    "silu": "elementwise",
    "softmax": "softmax",
    "softplus": "elementwise",
    "sqrt": "elementwise",
    "swiglu": "elementwise",
    "tanh": "elementwise",
}
"""Where each operator is: the module in `flydsl.kernels.operators`."""

_WEIGHTS = ("ShuffledWeights", "shuffle_weight", "unshuffle_weight")  # of `common.shuffle`; they need no torch


def operators_of(module: str) -> ModuleType:
    """The module of that name in `flydsl.kernels.operators`, imported."""
    from flydsl.runtime.imports import without_collections_of_imports

    known = sys.modules.get(f"{__name__}.operators.{module}")
    if known is not None:
        return known
    with without_collections_of_imports():
        return importlib.import_module(f"{__name__}.operators.{module}")


def __getattr__(name: str) -> Any:
    if name in OPERATORS:
        return getattr(operators_of(OPERATORS[name]), name)
    if name in _WEIGHTS:
        return getattr(importlib.import_module(f"{__name__}.common.shuffle"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; operators: {', '.join(OPERATORS)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *OPERATORS, *_WEIGHTS])


class _Operators(ModuleType):
    """This package, whose operators keep their names: importing the sub-package `gemm` does not hide `gemm(a, b)`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in OPERATORS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Operators
