# SPDX-License-Identifier: Apache-2.0
"""The cache keeps below its limit: what was used longest ago goes, what is in use stays."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile.cache import eviction
from flydsl.compile.cache.eviction import bytes_of, evict


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1048576", 1 << 20), ("500M", 500 << 20), (" 10 GiB ", 10 << 30), ("2k", 2 << 10)]
)
def test_sizes(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "many", "-1", "1.5G", "10 X", "G"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match=r"FLYDSL_CACHE_MAX_SIZE=.*expected a size such as 500M or 10G"):
        bytes_of(text)


def artifact(path, kilobytes, age):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(kilobytes << 10))
    os.utime(path, (time.time() - age,) * 2)
    return path


def left(root):
    return sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file())


def test_what_was_used_longest_ago_goes(tmp_path):
    for number, age in enumerate([4000, 1000, 3000, 2000, 5]):
        artifact(tmp_path / f"f{number % 2}" / f"{number}.so", 100, age)
    assert evict(tmp_path, 1 << 20) == 0
    assert evict(tmp_path, 0) == 0
    assert evict(tmp_path, 400 << 10) == 2
    assert left(tmp_path) == ["f0/4.so", "f1/1.so", "f1/3.so"]


def test_what_is_new_stays_and_what_is_not_ours_too(tmp_path):
    artifact(tmp_path / "f" / "new.so", 100, 5)
    artifact(tmp_path / "f" / "notes.txt", 100, 9000)
    artifact(tmp_path / "f" / "0.lock", 0, 9000)
    artifact(tmp_path / "top.so", 100, 9000)
    target = artifact(tmp_path / "elsewhere.so", 100, 9000)
    (tmp_path / "f" / "link.so").symlink_to(target)
    (tmp_path / "g").symlink_to(tmp_path / "f")
    assert evict(tmp_path, 1) == 0
    assert left(tmp_path) == ["elsewhere.so", "f/0.lock", "f/link.so", "f/new.so", "f/notes.txt", "top.so"]


def test_what_killed_writers_left_goes(tmp_path):
    artifact(tmp_path / "f" / ".0.so-abc", 100, 9000)
    artifact(tmp_path / "f" / ".1.so-abc", 100, 10)
    evict(tmp_path, 1 << 30)
    assert left(tmp_path) == ["f/.1.so-abc"]


@flyc.kernel
def kernel(x: fx.Tensor, value: fx.Constexpr[int]):
    x[0] = float(value)


@flyc.jit
def fill(x: fx.Tensor, value: fx.Constexpr[int]):
    kernel(x, value).launch(block=1)


def test_compiling_keeps_the_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(eviction, "_GRACE", 0.0)
    x = np.zeros(1, np.float32)
    fill(x, 1)
    (one,) = (tmp_path / "cache").rglob("*.so")
    os.utime(one, (time.time() - 100,) * 2)
    monkeypatch.setenv("FLYDSL_CACHE_MAX_SIZE", str(one.stat().st_blocks * 512 * 3 // 2))
    fill(x, 2)
    assert not one.exists()
    assert len(list((tmp_path / "cache").rglob("*.so"))) == 1
    fill(x, 1)  # loaded, so it lives on
    assert x[0] == 1
    monkeypatch.setenv("FLYDSL_CACHE_MAX_SIZE", "much")
    with pytest.raises(ValueError, match="FLYDSL_CACHE_MAX_SIZE='much'"):
        fill(x, 3)


def test_a_hit_counts_as_a_use(tmp_path):
    x = np.zeros(1, np.float32)
    flyc.jit(fill.original)(x, 5)
    (one,) = (tmp_path / "cache").rglob("*.so")
    os.utime(one, (time.time() - 5000,) * 2)
    again = flyc.jit(fill.original)
    again(x, 5)
    assert again.hits == 1
    assert time.time() - one.stat().st_mtime < 1000
