# SPDX-License-Identifier: Apache-2.0
"""Every launcher compares its number of rows with the tensors at each call, before it launches anything."""

import inspect

import pytest
import torch

from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module
from flydsl.kernels.elementwise.argmax_kernel import build_argmax_module
from flydsl.kernels.elementwise.gated_kernel import build_gated_bwd_module, build_gated_module
from flydsl.kernels.elementwise.pointwise_kernel import build_binary_module, build_unary_bwd_module, build_unary_module
from flydsl.kernels.elementwise.row_reduce_kernel import build_row_reduce_module
from flydsl.kernels.norm.layernorm_bwd_kernel import build_fused_add_layernorm_bwd_module, build_layernorm_bwd_module
from flydsl.kernels.norm.layernorm_kernel import (
    build_fused_add_layernorm_module,
    build_fused_add_layernorm_smoothquant_module,
    build_layernorm_module,
)
from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_module, build_rmsnorm_bwd_two_stage_module
from flydsl.kernels.norm.rmsnorm_kernel import build_fused_add_rmsnorm_module, build_rmsnorm_module
from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module
from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module
from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

M, N, PROGRAMS = 4, 64, 2
# What the letters stand for: rows, rows of twice the columns, of codes and of scales; a weight; a number of each row.
KINDS = {
    "x": ((M, N), torch.float32),
    "2": ((M, 2 * N), torch.float32),
    "q": ((M, N), torch.int8),
    "b": ((M, N // 16), torch.float32),
    "w": ((N,), torch.float32),
    "n": ((M,), torch.float32),
    "i": ((M,), torch.int32),
    "p": ((PROGRAMS * N,), torch.float32),
}
LAUNCHERS = {
    "softmax": (lambda: build_softmax_module(N), "xx"),
    "softmax_bwd": (lambda: build_softmax_bwd_module(N), "xxx"),
    "layernorm": (lambda: build_layernorm_module(N, store_stats=True), "xwwxnn"),
    "fused_add_layernorm": (lambda: build_fused_add_layernorm_module(N, "f32"), "xxwwxx"),
    "smoothquant": (lambda: build_fused_add_layernorm_smoothquant_module(N, "f32"), "xxwwwqxn"),
    "layernorm_bwd": (lambda: build_layernorm_bwd_module(N, "f32"), "xwxnnxww"),
    "fused_add_layernorm_bwd": (lambda: build_fused_add_layernorm_bwd_module(N, "f32"), "xwxxnnxww"),
    "rmsnorm": (lambda: build_rmsnorm_module(N, store_rstd=True), "xwxn"),
    "fused_add_rmsnorm": (lambda: build_fused_add_rmsnorm_module(N, "f32"), "xxwxx"),
    "rmsnorm_bwd": (lambda: build_rmsnorm_bwd_module(N, "f32"), "xwxnxw"),
    "rmsnorm_bwd_two_stage": (lambda: build_rmsnorm_bwd_two_stage_module(N, "f32", PROGRAMS), "xwxnxwp"),
    "per_token_quant": (lambda: build_per_token_quant_module(N, "f32", "int8"), "xqn"),
    "per_block_quant": (lambda: build_per_block_quant_module(N, "f32", "int8", 16), "xqb"),
    "argmax": (lambda: build_argmax_module(N), "xi"),
    "row_reduce": (lambda: build_row_reduce_module(N), "xn"),
    "gated": (lambda: build_gated_module(N, "f32"), "2x"),
    "gated_bwd": (lambda: build_gated_bwd_module(N, "f32"), "x22"),
}
SMALLER = {"x": "4 or more rows, got 3", "2": "4 or more rows, got 3", "q": "4 or more rows, got 3"}
SMALLER |= {"b": "4 or more rows, got 3", "n": "4 or more elements, got 3", "i": "4 or more elements, got 3"}
SMALLER |= {"w": f"{N} elements, got {N - 1}", "p": f"{PROGRAMS * N} or more elements, got {PROGRAMS * N - 1}"}


def tensors_of(letters):
    return [torch.ones(KINDS[one][0], dtype=KINDS[one][1]) for one in letters]


@pytest.mark.parametrize("name", LAUNCHERS)
def test_rows_that_are_not_there(name):
    build, letters = LAUNCHERS[name]
    launch = build()
    tensors = tensors_of(letters)
    if name == "rmsnorm_bwd_two_stage":
        letters = letters[:-2] + "wp"
    launch(*tensors, M)
    for index, letter in enumerate(letters):
        short = [*tensors]
        short[index] = short[index][:-1]
        with pytest.raises(ValueError, match=rf"argument '\w+': expected {SMALLER[letter]}"):
            launch(*short, M)
    with pytest.raises(ValueError, match="argument 'm_in': expected a number that is not negative, got -1"):
        launch(*tensors, -1)
    launch(*tensors, M - 1)
    launch(*tensors, 0)


# Which of a launcher's arguments are written, of those that have rows.
WRITTEN = {"softmax": "C", "softmax_bwd": "DX", "layernorm": "Output", "fused_add_layernorm": "Output ResidualOut"}
WRITTEN |= {"smoothquant": "Output ResidualOut", "layernorm_bwd": "DX", "fused_add_layernorm_bwd": "DX"}
WRITTEN |= {"rmsnorm": "Output", "fused_add_rmsnorm": "Output ResidualOut", "rmsnorm_bwd": "DX"}
WRITTEN |= {"rmsnorm_bwd_two_stage": "DX", "per_token_quant": "Output", "per_block_quant": "Output Scale"}
WRITTEN |= {"argmax": "", "row_reduce": "", "gated": "Y", "gated_bwd": "DX"}


@pytest.mark.parametrize("name", LAUNCHERS)
def test_rows_that_are_written_must_not_overlap(name):
    build, letters = LAUNCHERS[name]
    launch, tensors = build(), tensors_of(letters)
    names = list(inspect.signature(launch).parameters)
    for index, one in enumerate(tensors):
        if one.dim() == 2:
            given = [*tensors]
            given[index] = one.as_strided(one.shape, (2, 1))  # a stride of 0 is refused before
            if names[index] in WRITTEN[name].split():
                said = rf"argument \d+ \('{names[index]}'\): expected a tensor whose elements have memory of their own"
                with pytest.raises(ValueError, match=said):
                    launch(*given, M)
            else:
                launch(*given, M)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_contiguous_rows_may_come_flattened(name):
    build, letters = LAUNCHERS[name]
    launch = build()
    torch.manual_seed(0)
    given = [one + torch.rand(one.shape) if one.is_floating_point() else one for one in tensors_of(letters)]
    plain, flat = [one.clone() for one in given], [one.clone().view(-1) for one in given]
    launch(*plain, M)
    launch(*flat, M)
    for one, other in zip(plain, flat, strict=True):
        torch.testing.assert_close(other.view(one.shape), one, rtol=1e-6, atol=1e-6)
    matrix = next(index for index, one in enumerate(given) if one.dim() == 2)
    flat[matrix] = flat[matrix][:-1]
    with pytest.raises(ValueError, match=r"argument '\w+': expected \d+ elements, got \d+"):
        launch(*flat, M)


@pytest.mark.parametrize(
    ("build", "count"),
    [(build_unary_module, 2), (build_unary_bwd_module, 3), (lambda name: build_binary_module(name), 3)],
)
def test_elements_that_are_not_there(build, count):
    launch = build("add" if count == 3 and build is not build_unary_bwd_module else "silu")
    tensors = [torch.ones(100) for _ in range(count)]
    launch(*tensors, 100)
    for index in range(count):
        short = [*tensors]
        short[index] = torch.ones(99)
        with pytest.raises(ValueError, match=r"argument '\w+': expected 100 or more elements, got 99"):
            launch(*short, 100)
    with pytest.raises(ValueError, match="argument 'count': expected a number that is not negative, got -5"):
        launch(*tensors, -5)


ROPE = ("Q", "K", "V", "Positions", "CosCache", "SinCache", "SlotMapping", "KeyCache", "ValueCache", "Q_out", "K_out")


@pytest.mark.parametrize("flash_layout", [True, False])
def test_rope(flash_layout):
    tokens, heads, kv_heads, dim, page = 3, 2, 1, 32, 4
    launch = build_fused_rope_cache_module(dim, -1, heads, kv_heads, page, flash_layout=flash_layout)
    q, k, tables = (torch.ones(*shape).bfloat16() for shape in ((tokens, heads, dim), (tokens, kv_heads, dim), (8, 16)))
    numbers = torch.arange(tokens, dtype=torch.int32)
    caches = [torch.zeros(2, page, kv_heads, dim).bfloat16() for _ in range(2)]
    if not flash_layout:
        caches = [torch.zeros(2, kv_heads, dim // 16, page, 16).bfloat16(), torch.zeros(2, 1, dim, page).bfloat16()]
    tensors = dict(zip(ROPE, (q, k, k, numbers, tables, tables, numbers, *caches, q.clone(), k.clone()), strict=True))
    one = torch.ones(1)
    launch(*tensors.values(), tokens, one, one)
    for name in ("Q", "K", "V", "Positions", "SlotMapping", "Q_out", "K_out"):
        changed = tensors | {name: tensors[name][:-1]}
        with pytest.raises(ValueError, match=f"argument '{name}': expected 3 or more along dimension 0, got 2"):
            launch(*changed.values(), tokens, one, one)
    for name, mode in (("Q", 1), ("K", 2), ("CosCache", 1), ("KeyCache", 1), ("ValueCache", 2)):
        wrong = torch.cat([tensors[name]] * 2, mode)
        size = tensors[name].shape[mode]
        with pytest.raises(ValueError, match=f"'{name}': expected {size} along dimension {mode}, got {2 * size}"):
            launch(*(tensors | {name: wrong}).values(), tokens, one, one)
    with pytest.raises(ValueError, match="argument 'num_tokens': expected a number that is not negative, got -1"):
        launch(*tensors.values(), -1, one, one)
    with pytest.raises(ValueError, match="argument 'Q': expected 192 elements, got 128"):
        launch(*(tensors | {"Q": q[:2].reshape(-1)}).values(), tokens, one, one)
