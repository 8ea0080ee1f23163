# SPDX-License-Identifier: Apache-2.0
"""Integer helpers and the swizzle, on Python numbers."""

import pytest

from flydsl.kernels.common.mma.mfma_preshuffle_pipeline import swizzle_xor16
from flydsl.kernels.common.utils import align_up, cdiv, udiv_pow2, urem_const


@pytest.mark.parametrize("a", [0, 1, 7, 8, 9, 63, 64, 1000])
def test_division(a):
    assert cdiv(a, 8) == (a + 7) // 8
    assert align_up(a, 24) % 24 == 0
    assert 0 <= align_up(a, 24) - a < 24
    assert udiv_pow2(a, 16) == a // 16
    assert urem_const(a, 16) == a % 16
    assert urem_const(a, 12) == a % 12


@pytest.mark.parametrize("divisor", [0, -4, 12, True, 2.0])
def test_a_divisor_that_is_no_power_of_two(divisor):
    with pytest.raises(ValueError, match="power of two"):
        udiv_pow2(5, divisor)


@pytest.mark.parametrize("blocks", [1, 4, 8, 16])
def test_swizzled_columns_are_a_permutation_of_each_row(blocks):
    for row in range(20):
        found = [swizzle_xor16(row, 16 * block, blocks) for block in range(blocks)]
        assert sorted(found) == [16 * block for block in range(blocks)]
        assert found[0] == 16 * (row % blocks)
    with pytest.raises(ValueError, match="power of two"):
        swizzle_xor16(0, 0, 12)
