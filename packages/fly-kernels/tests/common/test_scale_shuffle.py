# SPDX-License-Identifier: Apache-2.0
"""Orders of scales and 4-bit weights: element by element against their formulas, and back."""

import numpy as np
import pytest
import torch

from flydsl.kernels.common import scale_shuffle as orders

KINDS = pytest.mark.parametrize("of", [torch.as_tensor, np.asarray])


def numbers(*shape):
    return np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)


def place(row, scale, columns):
    """Where the scale of a row is, of rows with `columns` scales."""
    block = row // 32 * (columns // 8) + scale // 8
    word = 16 * (scale % 4) + row % 16
    return 256 * block + 4 * word + 2 * (scale % 8 // 4) + row % 32 // 16


@KINDS
@pytest.mark.parametrize(
    ("shuffle", "back", "multiple"),
    [
        (orders.shuffle_scale, orders.unshuffle_scale, 32),
        (orders.e8m0_shuffle, orders.e8m0_unshuffle, 256),
    ],
)
def test_scales_with_padding(of, shuffle, back, multiple):
    plain = numbers(45, 19)
    stored = shuffle(of(plain))
    assert tuple(stored.shape) == (-(-45 // multiple) * multiple, 24)
    flat = np.asarray(stored).reshape(-1)
    expected = np.zeros_like(flat)
    for row in range(45):
        for scale in range(19):
            expected[place(row, scale, 24)] = plain[row, scale]
    assert (flat == expected).all()
    assert (np.asarray(back(stored, 45, 19)) == plain).all()
    with pytest.raises(ValueError, match="which \\(45, 30\\) become"):
        back(stored, 45, 30)


@KINDS
def test_scales_in_the_order_of_gfx1250(of):
    plain = numbers(45, 12)
    stored = orders.shuffle_scale_32x4(of(plain))
    assert tuple(stored.shape) == (64, 12)
    flat = np.asarray(stored).reshape(-1)
    expected = np.zeros_like(flat)
    for row in range(45):
        for scale in range(12):
            expected[(row // 32 * 3 + scale // 4) * 128 + row % 32 * 4 + scale % 4] = plain[row, scale]
    assert (flat == expected).all()
    assert (np.asarray(orders.unshuffle_scale_32x4(stored, 45)) == plain).all()
    with pytest.raises(ValueError, match="is not what 65 rows become"):
        orders.unshuffle_scale_32x4(stored, 65)
    with pytest.raises(ValueError, match="K / 32 = 10 is no multiple of 4"):
        orders.shuffle_scale_32x4(of(numbers(4, 10)))


@KINDS
@pytest.mark.parametrize("gate_up", [False, True])
def test_scales_of_experts(of, gate_up):
    experts, rows, columns = 3, 64, 16
    plain = numbers(experts * rows, columns)
    stored = orders.shuffle_scale_w4(of(plain), experts, gate_up)
    flat = np.asarray(stored).reshape(experts, -1)
    for expert in range(experts):
        for row in range(rows):
            # A block has 16 rows of the gate, then 16 of the up projection.
            half, inside = divmod(row, rows // 2)
            moved = inside // 16 * 32 + 16 * half + inside % 16 if gate_up else row
            for scale in range(columns):
                assert flat[expert, place(moved, scale, columns)] == plain[expert * rows + row, scale]
    assert (np.asarray(orders.unshuffle_scale_w4(stored, experts, gate_up)) == plain).all()


@KINDS
@pytest.mark.parametrize("gate_up", [False, True])
def test_weights(of, gate_up):
    experts, rows, depth = 2, 64, 128
    plain = numbers(experts, rows, depth)
    stored = orders.shuffle_weight_w4(of(plain), 16, gate_up)
    flat = np.asarray(stored).reshape(experts, -1)
    for row in range(rows):
        half, inside = divmod(row, rows // 2)
        block = 2 * (inside // 16) + half if gate_up else row // 16
        for byte in range(depth):
            at = block * 16 * depth + byte // 16 * 256 + row % 16 * 16 + byte % 16
            assert (flat[:, at] == plain[:, row, byte]).all()
    assert (np.asarray(orders.unshuffle_weight_w4(stored, 16, gate_up)) == plain).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: orders.shuffle_scale(numbers(4)), "expected a matrix of bytes"),
        (lambda: orders.shuffle_scale(np.zeros((4, 8), np.float32)), "expected a matrix of bytes"),
        (lambda: orders.shuffle_scale_w4(numbers(48, 8)), "a multiple of 32 rows"),
        (lambda: orders.shuffle_scale_w4(numbers(64, 8), 0), "experts_cnt is a positive int"),
        (lambda: orders.shuffle_weight_w4(numbers(16, 64), 32), "NLane is 16"),
        (lambda: orders.shuffle_weight_w4(numbers(16, 64), 16, True), "N = 16 is no multiple of 32"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
