# SPDX-License-Identifier: Apache-2.0
"""Artifacts on disk with a bit flipped: never loaded, never a wrong number, replaced where they are in the cache."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.runtime import ArtifactError, load_artifact, read_note


@flyc.kernel
def scale_kernel(x: fx.Tensor):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    x[i] = x[i] * 2.0


@flyc.jit
def scale(x: fx.Tensor):
    scale_kernel(x).launch(grid=(x.shape[0] // 64,), block=(64,))


def flip(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def random_bits(path, count, seed):
    random, most = Random(seed), path.stat().st_size * 8
    return [random.randrange(most) for _ in range(count)]


def test_an_export_with_a_flipped_bit_is_refused(tmp_path):
    path = flyc.compile(scale, np.ones(64, np.float32)).export(tmp_path / "scale.so")
    for bit in random_bits(path, 400, seed=0):
        flip(path, bit)
        with pytest.raises(ArtifactError):
            load_artifact(path)
        flip(path, bit)
    x = np.ones(64, np.float32)
    load_artifact(path)(x)
    assert (x == 2).all()


@pytest.mark.parametrize("count", [12, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_cache_entry_with_a_flipped_bit_heals(count):
    x = np.ones(64, np.float32)
    made = flyc.compile(flyc.jit(scale.original), x)  # knows nothing of other tests' folders
    for bit in random_bits(made.path, count, seed=1):
        flip(made.path, bit)
        x[:] = 1
        again = flyc.compile(flyc.jit(scale.original), x)
        again(x)
        expected = 4 if (x == 4).all() else 2  # whether `compile` runs it, too
        assert (x == expected).all()
        assert again.origin == "compiled"
        read_note(again.path)
        x[:] = 1
        healed = flyc.compile(flyc.jit(scale.original), x)
        assert healed.origin == "disk"
