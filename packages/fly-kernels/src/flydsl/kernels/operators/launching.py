# SPDX-License-Identifier: Apache-2.0
"""What every operator does around a kernel: names of types, rows of a tensor, the current stream, cached builders."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}


class DtypeError(TypeError, ValueError):
    """A dtype that an operator does not take: a TypeError, and the ValueError that builders raise for one."""


def dtype_name(operator: str, tensor: Tensor) -> str:
    """ "f32", "f16" or "bf16"; DtypeError, with the operator's name, for another dtype."""
    if tensor.dtype not in DTYPES:
        raise DtypeError(f"{operator}: {tensor.dtype} is not supported; use one of {', '.join(map(str, DTYPES))}")
    return DTYPES[tensor.dtype]


def rows(tensor: Tensor) -> Tensor:
    """The tensor as an (M, N) matrix whose rows are contiguous: a view where possible, else a copy."""
    if tensor.dim() == 0:
        raise ValueError("expected a tensor with at least one dimension, got a scalar")
    if tensor.dim() == 2 and (tensor.stride(-1) == 1 or tensor.shape[-1] <= 1):
        return tensor
    return tensor.contiguous().view(-1, tensor.shape[-1]) if tensor.numel() else tensor.reshape(0, tensor.shape[-1])


def stream_of(tensor: Tensor) -> Any:
    """torch's current stream of the tensor's device; None on the emulated device, where tensors are on the CPU."""
    return torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else None


def empty(like: Tensor, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
    """A contiguous tensor on the same device."""
    return torch.empty(shape or like.shape, dtype=dtype or like.dtype, device=like.device)


def numbers_of_rows(x: Tensor, of_nothing: float = math.nan) -> Tensor:
    """Memory for one f32 of each row of x, in the shape of its leading dimensions.

    Rows of no elements, for which nothing is launched, have the number `of_nothing`.
    """
    if x.shape[-1] == 0:
        return torch.full(x.shape[:-1], of_nothing, dtype=torch.float32, device=x.device)
    return torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device)


def check_row_numbers(operator: str, x: Tensor, **numbers: Tensor) -> None:
    """Refuse what is not one f32 of each row of x, an (M, N) matrix."""
    for name, tensor in numbers.items():
        if tensor.numel() != x.shape[0]:
            raise ValueError(f"{operator}: {name} has shape {tuple(tensor.shape)}, expected ({x.shape[0]},)")
        if tensor.dtype != torch.float32:
            raise DtypeError(f"{operator}: {name} is {tensor.dtype}, expected torch.float32")


def check_weight(operator: str, name: str, weight: Tensor, x: Tensor) -> None:
    """Refuse a weight that is not one row of x, of x's dtype or f32, on x's device."""
    if weight.shape != x.shape[-1:]:
        raise ValueError(f"{operator}: {name} has shape {tuple(weight.shape)}, expected ({x.shape[-1]},)")
    if weight.dtype not in (x.dtype, torch.float32):
        raise DtypeError(f"{operator}: {name} is {weight.dtype}, expected {x.dtype} or torch.float32")
    if weight.device != x.device:
        raise ValueError(f"{operator}: {name} is on {weight.device}, x is on {x.device}")


def check_matrices(operator: str, **tensors: Tensor) -> None:
    """Refuse what is not an (M, N) matrix in row-major order, and matrices that `check_same` would refuse.

    The forward and backward halves of an operator are for callers that plan their memory: they copy nothing.
    """
    for name, tensor in tensors.items():
        if tensor.dim() != 2:
            raise ValueError(f"{operator}: {name} has shape {tuple(tensor.shape)}, expected (M, N); use .view(-1, N)")
        if not tensor.is_contiguous():
            raise ValueError(f"{operator}: {name} is not contiguous (strides {tensor.stride()}); use .contiguous()")
    check_same(operator, **tensors)


def check_same(operator: str, **tensors: Tensor) -> None:
    """Refuse tensors that differ in shape, dtype or device from the first."""
    (first, x), *others = tensors.items()
    for name, tensor in others:
        if (tensor.shape, tensor.dtype, tensor.device) != (x.shape, x.dtype, x.device):
            raise ValueError(
                f"{operator}: {name} is {tuple(tensor.shape)} {tensor.dtype} on {tensor.device}, "
                f"expected as {first}: {tuple(x.shape)} {x.dtype} on {x.device}"
            )


def built(builder: Callable[..., Any]) -> Callable[..., Any]:
    """A builder that builds once for the same arguments and the same target."""
    from flydsl.runtime.device import get_rocm_arch

    @functools.lru_cache(maxsize=256)
    def cached(arch: str, *args: Any, **keywords: Any) -> Any:
        return builder(*args, **keywords)

    @functools.wraps(builder)
    def call(*args: Any, **keywords: Any) -> Any:
        return cached(get_rocm_arch(), *args, **keywords)

    return call
