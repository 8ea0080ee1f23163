# SPDX-License-Identifier: Apache-2.0
"""rmsnorm and fused_add_rmsnorm, with their forward and backward halves by themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..common.arch import architecture
from ..norm.forward import EPS
from ..norm.rmsnorm_bwd_kernel import (
    build_fused_add_rmsnorm_bwd_module,
    build_fused_add_rmsnorm_bwd_two_stage_module,
    build_rmsnorm_bwd_module,
    build_rmsnorm_bwd_two_stage_module,
    is_rmsnorm_bwd_two_stage_vec_config,
)
from ..norm.rmsnorm_kernel import build_fused_add_rmsnorm_module, build_rmsnorm_module
from .launching import (
    DTYPES,
    built,
    check_matrices,
    check_row_numbers,
    check_same,
    check_weight,
    dtype_name,
    empty,
    numbers_of_rows,
    rows,
    stream_of,
)
from .registration import operator

_forward = built(build_rmsnorm_module)
_fused_forward = built(build_fused_add_rmsnorm_module)
_backward = built(build_rmsnorm_bwd_module)
_fused_backward = built(build_fused_add_rmsnorm_bwd_module)
_two_stage = built(build_rmsnorm_bwd_two_stage_module)
_fused_two_stage = built(build_fused_add_rmsnorm_bwd_two_stage_module)


def _programs(row_count: int, columns: int, dtype: str) -> int:
    """Workgroups of the deterministic backward; 0 where the atomic one is taken."""
    if row_count < 512 or columns > 8192:
        return 0
    programs = architecture().compute_units
    if is_rmsnorm_bwd_two_stage_vec_config(columns, dtype):
        programs = programs * 3 // 2 if row_count >= 2048 else programs
    elif row_count >= 1024:
        programs *= 2
    return min(programs, row_count)


@operator("rmsnorm")
def _rmsnorm(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    check_weight("rmsnorm", "weight", weight, x)
    dtype, matrix = dtype_name("rmsnorm", x), rows(x)
    y, rstd = empty(x), numbers_of_rows(x)
    if x.numel():
        launch = _forward(x.shape[-1], dtype, True, eps, weight_dtype_str=DTYPES[weight.dtype])
        launch(matrix, weight.contiguous(), rows(y), rstd.view(-1), matrix.shape[0], stream_of(x))
    return y, rstd


@_rmsnorm.register_fake
def _(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    return empty(x), numbers_of_rows(x)


@operator("rmsnorm_backward")
def _rmsnorm_backward(x: Tensor, weight: Tensor, dy: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    check_same("rmsnorm_bwd", x=x, dy=dy)
    check_weight("rmsnorm_bwd", "weight", weight, x)
    dtype, matrix, columns = dtype_name("rmsnorm_bwd", x), rows(x), x.shape[-1]
    dx, dweight = empty(x), torch.zeros(columns, dtype=torch.float32, device=x.device)
    if x.numel():
        programs, kind = _programs(matrix.shape[0], columns, dtype), DTYPES[weight.dtype]
        tensors = [matrix, weight.contiguous(), rows(dy), rstd.reshape(-1), rows(dx), dweight]
        if programs:
            partial = empty(x, programs * columns, dtype=torch.float32)
            _two_stage(columns, dtype, programs, kind)(*tensors, partial, matrix.shape[0], stream_of(x))
        else:
            _backward(columns, dtype, kind)(*tensors, matrix.shape[0], stream_of(x))
    return dx, dweight.to(weight.dtype)


@_rmsnorm_backward.register_fake
def _(x: Tensor, weight: Tensor, dy: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    return empty(x), empty(weight)


@operator("fused_add_rmsnorm")
def _fused_add_rmsnorm(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    check_same("fused_add_rmsnorm", x=x, residual=residual)
    check_weight("fused_add_rmsnorm", "weight", weight, x)
    dtype, matrix = dtype_name("fused_add_rmsnorm", x), rows(x)
    y, added = empty(x), empty(x)
    rstd = numbers_of_rows(x)
    if x.numel():
        launch = _fused_forward(x.shape[-1], dtype, True, eps, weight_dtype_str=DTYPES[weight.dtype])
        tensors = [matrix, rows(residual), weight.contiguous(), rows(y), rows(added), rstd.view(-1)]
        launch(*tensors, matrix.shape[0], stream_of(x))
    return y, added, rstd


@_fused_add_rmsnorm.register_fake
def _(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    return empty(x), empty(x), numbers_of_rows(x)


@operator("fused_add_rmsnorm_backward")
def _fused_add_rmsnorm_backward(
    added: Tensor, weight: Tensor, dy: Tensor, dadded: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor]:
    check_same("fused_add_rmsnorm_bwd", added=added, dy=dy, dresidual=dadded)
    check_weight("fused_add_rmsnorm_bwd", "weight", weight, added)
    dtype, matrix, columns = dtype_name("fused_add_rmsnorm_bwd", added), rows(added), added.shape[-1]
    dx, dweight = empty(added), torch.zeros(columns, dtype=torch.float32, device=added.device)
    if added.numel():
        programs, kind = _programs(matrix.shape[0], columns, dtype), DTYPES[weight.dtype]
        tensors = [matrix, weight.contiguous(), rows(dy), rows(dadded), rstd.reshape(-1), rows(dx), dweight]
        if programs:
            partial = empty(added, programs * columns, dtype=torch.float32)
            launch = _fused_two_stage(columns, dtype, programs, kind)
            launch(*tensors, partial, matrix.shape[0], stream_of(added))
        else:
            _fused_backward(columns, dtype, kind)(*tensors, matrix.shape[0], stream_of(added))
    return dx, dweight.to(weight.dtype)


@_fused_add_rmsnorm_backward.register_fake
def _(added: Tensor, weight: Tensor, dy: Tensor, dadded: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    return empty(added), empty(weight)


def _save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0], inputs[1], output[1])
    ctx.set_materialize_grads(True)


def _differentiate(ctx, dy, _drstd):  # type: ignore[no-untyped-def]
    dx, dweight = _rmsnorm_backward(ctx.saved_tensors[0], ctx.saved_tensors[1], dy, ctx.saved_tensors[2])
    return dx, dweight, None


_rmsnorm.register_autograd(_differentiate, setup_context=_save)


def _fused_save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[2], output[1], output[2])
    ctx.set_materialize_grads(True)


def _fused_differentiate(ctx, dy, dadded, _drstd):  # type: ignore[no-untyped-def]
    weight, added, rstd = ctx.saved_tensors
    dx, dweight = _fused_add_rmsnorm_backward(added, weight, dy, dadded, rstd)
    return dx, dx.clone(), dweight, None


_fused_add_rmsnorm.register_autograd(_fused_differentiate, setup_context=_fused_save)


def rmsnorm_fwd(x: Tensor, weight: Tensor, eps: float = EPS, store_rstd: bool = False) -> tuple[Tensor, Tensor | None]:
    """(y, rstd of every row in f32, or None unless asked for) of a contiguous (M, N).

    Raises ValueError for x of another rank or order in memory, and for a weight that is not one row of x.
    """
    check_matrices("rmsnorm_fwd", x=x)
    y, rstd = _rmsnorm(x, weight, eps)
    return y, rstd if store_rstd else None


def rmsnorm_bwd(x: Tensor, weight: Tensor, dout: Tensor, rstd: Tensor, eps: float = EPS) -> tuple[Tensor, Tensor]:
    """(dx, dweight in the weight's dtype) of contiguous (M, N); `rstd` is the forward's, so `eps` is not used again.

    From 512 rows of at most 8192 elements the result has the same bits every time; below, the gradient of the weight
    is added up atomically. Raises as `rmsnorm_fwd` does.
    """
    check_matrices("rmsnorm_bwd", x=x, dout=dout)
    check_row_numbers("rmsnorm_bwd", x, rstd=rstd)
    dx, dweight = _rmsnorm_backward(x, weight, dout, rstd)
    return dx, dweight


def rmsnorm(x: Tensor, weight: Tensor, eps: float = EPS) -> Tensor:
    """x / sqrt(mean(x²) + eps) · weight over the last dimension; f32, f16 or bf16. Differentiable.

    The weight has x's dtype or f32. All arithmetic is in f32.
    """
    y: Tensor = _rmsnorm(x, weight, eps)[0]
    return y


def fused_add_rmsnorm_fwd(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float = EPS, store_rstd: bool = False
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(y, x + residual, rstd or None unless asked for) of contiguous (M, N)."""
    check_matrices("fused_add_rmsnorm_fwd", x=x, residual=residual)
    y, added, rstd = _fused_add_rmsnorm(x, residual, weight, eps)
    return y, added, rstd if store_rstd else None


def fused_add_rmsnorm_bwd(
    added: Tensor, weight: Tensor, dout: Tensor, dresidual_out: Tensor, rstd: Tensor, eps: float = EPS
) -> tuple[Tensor, Tensor]:
    """(the gradient of x, which is also the residual's; dweight). `dresidual_out` is the gradient of the sum."""
    check_matrices("fused_add_rmsnorm_bwd", added=added, dout=dout, dresidual_out=dresidual_out)
    check_row_numbers("fused_add_rmsnorm_bwd", added, rstd=rstd)
    dx, dweight = _fused_add_rmsnorm_backward(added, weight, dout, dresidual_out, rstd)
    return dx, dweight


def fused_add_rmsnorm(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float = EPS, prenorm: bool = True
) -> Tensor | tuple[Tensor, Tensor]:
    """rmsnorm(x + residual), and with `prenorm` also the sum, rounded to x's dtype. Differentiable."""
    y, added, _ = _fused_add_rmsnorm(x, residual, weight, eps)
    return (y, added) if prenorm else y
