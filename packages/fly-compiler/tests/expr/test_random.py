# SPDX-License-Identifier: Apache-2.0
"""Philox: static seeds fold while tracing, so the words can be compared with the reference."""

import pytest

import flydsl.expr as fx


def philox(key, counter, rounds=10):
    """Philox4x32, written from the paper."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    mask = 0xFFFFFFFF
    for _ in range(rounds):
        pb, pa = 0xCD9E8D57 * c2, 0xD2511F53 * c0
        c0, c1, c2, c3 = (pb >> 32) ^ c1 ^ k0, pb & mask, (pa >> 32) ^ c3 ^ k1, pa & mask
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c0, c1, c2, c3


@pytest.mark.parametrize(
    ("seed", "offset"), [(0, 0), (1234, 77), (2**40 + 5, 3), (-5, 9), (-(2**40), 9), (7, 2**33 + 1)]
)
def test_words(seed, offset):
    key = (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF)
    counter = (offset & 0xFFFFFFFF, offset >> 32, 0, 0)
    words = fx.random.randint4x(fx.as_numeric(seed), fx.as_numeric(offset))
    assert tuple(w.value for w in words) == philox(key, counter)
    assert all(w.dtype is fx.Uint32 for w in words)
    assert fx.random.randint(seed, offset).value == words[0].value


def test_known_answer():
    # The zero vector of the Random123 distribution's known answers.
    assert [w.value for w in fx.random.randint4x(0, 0)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_uniform_is_below_one():
    assert 0 <= fx.random.rand(3, 4).value < 1
    assert all(r.dtype is fx.Float32 and 0 <= r.value < 1 for r in fx.random.rand4x(5, 6))


def test_floats_are_no_seeds():
    with pytest.raises(TypeError, match="seed and offset are integers"):
        fx.random.randint(1.5, 0)
