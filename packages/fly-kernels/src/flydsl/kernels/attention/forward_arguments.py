# SPDX-License-Identifier: Apache-2.0
"""The checks of what a forward kernel is built for, and of the tensors and lengths that it gets."""

from __future__ import annotations

import math
from typing import Any

from ..common.contiguous import expect_contiguous
from ..common.language import fx
from ..common.row_arguments import expect_count
from .config import check_head_dim
from .variant import AttentionVariant

_LARGEST_BYTES = 2**31  # of a sequence: what one buffer resource covers


def check_problem(dtype_str: str, head_dim: int, num_heads: int, num_kv_heads: int, sm_scale: float | None) -> None:
    """Raise ValueError for a dtype, a number of heads, a head size or a scale that no kernel is written for."""
    if dtype_str not in ("f16", "bf16"):
        raise ValueError(f"flash attention: dtype {dtype_str!r} is not supported; use one of f16, bf16")
    check_head_dim(head_dim)
    if num_heads < 1 or num_kv_heads < 1 or num_heads % num_kv_heads:
        raise ValueError(
            f"flash attention: num_heads must be a multiple of num_kv_heads, got {num_heads} and {num_kv_heads}"
        )
    if sm_scale is not None and not (math.isfinite(sm_scale) and sm_scale > 0.0):
        raise ValueError(f"flash attention: sm_scale must be positive and finite, got {sm_scale!r}")


def check_arguments(
    variant: AttentionVariant,
    element: type[fx.Numeric],
    main: dict[str, Any],
    given: dict[str, Any],
    heads: tuple[int, int, int],
    strides: tuple[Any, ...],
    batch: fx.Numeric | int,
    seq_len: fx.Numeric | int,
    seq_len_kv: fx.Numeric | int,
) -> None:
    """Refuse what the kernel would misread; to be called in a host function.

    Args:
        variant: the kernel's variant.
        element: the type of Q, K and V, and of O where the keys are not split.
        main: Q, K, V, O and, where it is written, LSE.
        given: what `AttentionVariant.chosen` gives.
        heads: query heads, heads of the keys, elements of a head.
        strides: elements from token to token of Q, K, V and O, with `AttentionVariant.strided`.
        batch, seq_len, seq_len_kv: the launch's.

    Raises TypeError for types, ValueError for the rest, by the name of the argument; what is not known while tracing
    is checked when the function is called, before a launch.
    """
    num_heads, num_kv_heads, head_dim = heads
    size = element.width // 8
    output = fx.Float32 if variant.splits > 1 else element
    q_row, kv_row = num_heads * head_dim * (output.width // 8), num_kv_heads * head_dim * size
    rows_of: list[tuple[str, Any, Any]] = [("seq_len", seq_len, q_row), ("seq_len_kv", seq_len_kv, kv_row)]
    if variant.strided:
        q_row, k_row, v_row, o_row = (fx.Int64(one) * size for one in strides)
        rows_of = [("seq_len", seq_len, q_row), ("seq_len", seq_len, o_row)]
        rows_of += [("seq_len_kv", seq_len_kv, k_row), ("seq_len_kv", seq_len_kv, v_row)]
    for label, length, row in rows_of:
        fx.host_assert(
            fx.Int64(length) * row < _LARGEST_BYTES,
            f"argument '{label}': one sequence must be less than 2 GiB, got {{}} rows of {{}} bytes",
            length,
            row,
        )
        expect_count(label, length)
    expect_count("batch", batch)
    rows: Any = None  # known to the kernel only, with `varlen`, as are keys and the rows of the bias
    keys = parts = bias = None
    if not variant.varlen:
        rows = fx.Int64(batch) * fx.Int64(seq_len) * num_heads
        keys = fx.Int64(batch) * fx.Int64(seq_len_kv) * num_kv_heads
        parts, bias = rows * variant.splits, fx.Int64(seq_len) * fx.Int64(seq_len_kv)
    kinds = (("Q", element, rows), ("K", element, keys), ("V", element, keys), ("O", output, parts))
    for index, (label, kind, count) in enumerate(kinds):
        if variant.strided:
            own = num_heads if label in "QO" else num_kv_heads
            length = seq_len if label in "QO" else seq_len_kv
            _check_strided(label, main[label], kind, (batch, length, own, head_dim), strides[index])
        else:
            expect_contiguous(label, main[label], kind, None if count is None else count * head_dim)
    if "LSE" in main:
        expect_contiguous("LSE", main["LSE"], fx.Float32, parts)
    slopes = fx.Int64(batch if variant.slopes_per_batch else 1) * num_heads
    for label, kind, count in (
        ("cu_seqlens_q", fx.Int32, fx.Int64(batch) + 1),
        ("cu_seqlens_kv", fx.Int32, fx.Int64(batch) + 1),
        ("bias", element, bias),
        ("alibi_slopes", fx.Float32, slopes),
        ("sink", fx.Float32, fx.Int64(num_heads)),
        ("debug_counts", fx.Float32, fx.Int64(2)),
    ):
        if label in given:
            expect_contiguous(label, given[label], kind, count)


def _check_strided(name: str, tensor: Any, element: Any, extents: tuple[Any, ...], stride: Any) -> None:
    """Refuse a tensor whose tokens are not `stride` elements apart, as far as its modes say, or that is too small."""
    _, length, heads, head_dim = extents
    least, step = heads * head_dim, 16 * 8 // element.width
    fx.host_assert(
        (stride >= least) & (stride % step == 0),
        f"argument '{name}_stride1': expected a multiple of {step} elements, at least {least}, got {{}}",
        stride,
    )
    if not isinstance(tensor, fx.Tensor) or fx.rank(tensor) != 4:
        tokens = fx.Int64(extents[0]) * fx.Int64(length)
        count = (tokens > 0).select((tokens - 1) * fx.Int64(stride) + least, fx.Int64(0))
        expect_contiguous(name, tensor, element, count)
        return
    if tensor.element_type is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {tensor.element_type.__name__}")
    strides = (fx.Int64(length) * fx.Int64(stride), stride, head_dim, 1)
    for mode, (extent, step_of_mode) in enumerate(zip(extents, strides, strict=True)):
        found, given = (fx.Int64(part[mode].unpack()) for part in (tensor.shape, tensor.stride))
        fx.host_assert(
            found == fx.Int64(extent),
            f"argument '{name}': dimension {mode} must have {{}} elements, got {{}}",
            extent,
            found,
        )
        fx.host_assert(
            (given == fx.Int64(step_of_mode)) | (found <= 1),
            f"argument '{name}': the stride of dimension {mode} must be {{}}, got {{}}",
            step_of_mode,
            given,
        )
