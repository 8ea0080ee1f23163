# SPDX-License-Identifier: Apache-2.0
"""Sorts, scans, reductions, transposes and builtins in C, at every level of optimisation, under all sanitizers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import Module

DATA = Path(__file__).parent.parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "algorithms.c").read_text()
LEVELS = ("-O0", "-O1", "-O2", "-O3")
THREADS = 256


@pytest.fixture(params=LEVELS)
def module(request: pytest.FixtureRequest, build: Callable[..., Module], arch: str) -> Module:
    return build(SOURCE, arch, flags=(request.param, "-g"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_sorts(module: Module, rng: np.random.Generator) -> None:
    signed = rng.integers(-(2**31), 2**31, (3, THREADS)).astype(np.int32)
    unsigned = rng.integers(0, 2**32, (3, THREADS), dtype=np.uint32)
    for kernel, x in (("bitonic_sort", signed), ("radix_sort", unsigned)):
        out = np.zeros_like(x)
        with sanitize("all"):
            module.kernel(kernel)(3, THREADS, x, out)
        np.testing.assert_array_equal(out, np.sort(x, 1))


def test_reductions_and_transposes(module: Module, rng: np.random.Generator) -> None:
    x = rng.integers(-1000, 1000, (5, 64)).astype(np.float32)  # exact in any order
    sums, square, turned = np.zeros(5, np.float32), rng.random((64, 64), np.float32), np.zeros((64, 64), np.float32)
    with sanitize("all"):
        module.kernel("reduce_by_dpp")(5, 64, x, sums)
        module.kernel("transpose")(16, THREADS, square, turned, 64)
    np.testing.assert_array_equal(sums, x.sum(1))
    np.testing.assert_array_equal(turned, square.T)


def test_histogram_and_compaction(module: Module, rng: np.random.Generator) -> None:
    x = rng.integers(0, 256, 5000).astype(np.uint8)
    bins, kept, count = np.zeros(256, np.uint32), np.zeros(THREADS, np.int32), np.zeros(1, np.int32)
    values = rng.integers(-5, 5, THREADS).astype(np.int32)
    with sanitize("all"):
        module.kernel("histogram")(1, THREADS, x, bins, len(x))
        module.kernel("compact")(1, THREADS, values, kept, count)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=256))
    np.testing.assert_array_equal(kept[: count[0]], values[values > 0])


def test_builtins(module: Module, rng: np.random.Generator) -> None:
    words = rng.integers(0, 2**32, 192, dtype=np.uint32)
    out = np.zeros((64, 16), np.uint32)
    with sanitize("all"):
        module.kernel("builtins")(1, 64, words, out)
    a, b, c = (part.astype(np.uint64) for part in words.reshape(3, 64))
    x = ((words[:64] & 0x7FFFFF) | 0x3F800000).view(np.float32)
    y = ((words[64:128] & 0x7FFFFF) | 0x40000000).view(np.float32)
    both = (a << np.uint64(32)) | b
    bytes_of = [one.astype(np.uint32).view(np.uint8).reshape(64, 4).astype(np.int64) for one in (a, b)]
    signed = [one.astype(np.uint32).view(np.int8).reshape(64, 4).astype(np.int64) for one in (a, b)]
    apart = np.abs(bytes_of[0] - bytes_of[1])
    parts = [(both >> np.uint64(8 * i)) & np.uint64(0xFF) for i in (0, 5, 2, 7)]
    carry = c.astype(np.uint32).view(np.uint8).reshape(64, 4).astype(np.int64) & 1
    lerp = (bytes_of[0] + bytes_of[1] + carry) >> 1
    halves = [one.astype(np.float16) for one in (x, y)]
    toward_zero = [
        np.where(np.abs(h.astype(np.float32)) > np.abs(f), np.nextafter(h, np.float16(0)), h)
        for h, f in zip(halves, (x, y), strict=True)
    ]
    expected = [
        sum(part << np.uint64(8 * i) for i, part in enumerate(parts)),
        both >> np.uint64(24),
        (a >> np.uint64(5)) & np.uint64(0x7FF),
        ((((a >> np.uint64(7)) & np.uint64(0x1FF)).astype(np.int64) ^ 0x100) - 0x100),
        apart.sum(1) + c.astype(np.int64),
        (signed[0] * signed[1]).sum(1) + (c & np.uint64(0xFFFF)).astype(np.int64),
        (lerp << np.array([0, 8, 16, 24])).sum(1),
        both >> np.uint64(13),
        np.median(np.stack([x, y, np.full(64, 1.5, np.float32)]), axis=0).astype(np.float32).view(np.uint32),
        (x * np.float32(32)).view(np.uint32),
        np.frexp(y * 8)[1],
        (y - np.floor(y)).view(np.uint32),
        np.ones(64),
        toward_zero[0].view(np.uint16).astype(np.int64) | toward_zero[1].view(np.uint16).astype(np.int64) << 16,
        np.full(64, a[0]),
        np.where(bytes_of[1] != 0, apart, 0).sum(1) + c.astype(np.int64),
    ]
    for column, value in enumerate(expected):
        wanted = np.asarray(value).astype(np.int64).astype(np.uint64) & np.uint64(0xFFFFFFFF)
        np.testing.assert_array_equal(out[:, column].astype(np.uint64), wanted, err_msg=f"builtin {column}")
