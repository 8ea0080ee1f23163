# SPDX-License-Identifier: Apache-2.0
"""The order of shuffled weights against its formula, the inverse, and the cache of shuffled copies."""

import numpy as np
import pytest
import torch

from flydsl.kernels.common.shuffle import ShuffledWeights, shuffle_weight, unshuffle_weight


def offset(n, k, K, pack, rows=16):
    """Where element (n, k) goes, from the contract."""
    return (n // rows) * rows * K + (k // pack) * rows * pack + (n % rows) * pack + k % pack


@pytest.mark.parametrize(
    ("dtype", "pack"), [(torch.bfloat16, 8), (torch.float16, 8), (torch.int8, 16), (torch.float8_e4m3fnuz, 16)]
)
@pytest.mark.parametrize(("N", "K"), [(16, 32), (48, 96), (32, 160)])
def test_every_element_is_where_the_formula_says(dtype, pack, N, K):
    numbers = torch.arange(N * K, dtype=torch.int32)
    weight = (numbers % 127).to(torch.int8).view(N, K) if pack == 16 else (numbers % 251).view(N, K)
    weight = weight.view(dtype) if pack == 16 else weight.to(dtype)
    shuffled = shuffle_weight(weight)
    assert shuffled.shape == weight.shape
    assert shuffled.dtype == dtype
    flat, plain = shuffled.view(-1).view(torch.uint8), weight.contiguous().view(-1).view(torch.uint8)
    size = weight.element_size()
    for n in range(N):
        for k in range(0, K, 7):
            at, source = offset(n, k, K, pack) * size, (n * K + k) * size
            assert torch.equal(flat[at : at + size], plain[source : source + size]), (n, k)


@pytest.mark.parametrize("layout", [(16, 16), (32, 16), (16, 32)])
def test_unshuffle_is_the_inverse_with_leading_modes(layout):
    weight = torch.randn(3, 2, 64, 128).half()
    assert torch.equal(unshuffle_weight(shuffle_weight(weight, layout), layout), weight)


def test_names_at_the_top():
    import flydsl.kernels
    from flydsl.kernels.gemm import preshuffle_gemm

    assert flydsl.kernels.shuffle_weight is shuffle_weight is preshuffle_gemm.shuffle_weight
    assert flydsl.kernels.unshuffle_weight is unshuffle_weight
    assert flydsl.kernels.ShuffledWeights is ShuffledWeights


def test_numpy_and_torch_agree():
    weight = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float16)
    shuffled = shuffle_weight(weight)
    assert isinstance(shuffled, np.ndarray)
    assert shuffled.flags.c_contiguous
    assert np.array_equal(shuffled, shuffle_weight(torch.from_numpy(weight)).numpy())
    assert np.array_equal(unshuffle_weight(shuffled), weight)


def test_a_transposed_view_is_shuffled_by_what_it_means():
    weight = torch.randn(64, 32)
    assert torch.equal(shuffle_weight(weight.t()), shuffle_weight(weight.t().contiguous()))


@pytest.mark.parametrize(
    ("shape", "layout", "said"),
    [
        ((24, 32), (16, 16), "N = 24 is no multiple of 16"),
        ((16, 48), (16, 16), "K = 48 is no multiple of 32"),
        ((64,), (16, 16), r"expected \(..., N, K\)"),
        ((16, 32), (16, 0), "layout is a pair of positive ints"),
    ],
)
def test_what_does_not_divide_is_refused(shape, layout, said):
    with pytest.raises(ValueError, match=said):
        shuffle_weight(torch.zeros(shape, dtype=torch.int8), layout)


def test_the_cache_makes_a_copy_once_and_again_after_a_change():
    cache = ShuffledWeights()
    weight = torch.randn(16, 32)
    first = cache(weight)
    assert cache(weight) is first
    weight[3, 5] = 7.0
    second = cache(weight)
    assert second is not first
    assert torch.equal(second, shuffle_weight(weight))


def test_a_change_through_another_view_is_seen():
    cache = ShuffledWeights()
    weight = torch.randn(32, 32)
    before = cache(weight[:16])
    weight.zero_()
    assert before.any()
    assert not cache(weight[:16]).any()


def test_views_of_one_storage_have_copies_of_their_own():
    cache = ShuffledWeights()
    weight = torch.randn(32, 32)
    assert torch.equal(cache(weight[:16]), shuffle_weight(weight[:16]))
    assert torch.equal(cache(weight[16:]), shuffle_weight(weight[16:]))
    assert len(cache) == 2


def test_another_tensor_at_the_same_address_is_another_weight():
    cache = ShuffledWeights()
    buffer = np.zeros((16, 32), dtype=np.float32)
    weight = torch.from_numpy(buffer)
    assert not cache(weight).any()
    del weight
    buffer += 1.0
    assert cache(torch.from_numpy(buffer)).all()
    assert len(cache) == 1


def test_inference_tensors_are_shuffled_each_time():
    cache = ShuffledWeights()
    with torch.inference_mode():
        weight = torch.randn(16, 32)
        assert cache(weight) is not cache(weight)
    assert len(cache) == 0


def test_the_cache_needs_a_version_counter():
    with pytest.raises(TypeError, match="version counter of a torch tensor"):
        ShuffledWeights()(np.zeros((16, 32)))
