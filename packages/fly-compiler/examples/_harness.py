# SPDX-License-Identifier: Apache-2.0
"""What the examples share besides the kernels: refusing what they are not written for, and reporting."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch

import flydsl.expr as fx
from flydsl.runtime import current_device


def expect(name: str, tensor: Any, dtype: Any, rank: int, tile: tuple[int, ...] = ()) -> None:
    """Refuse a tensor that the kernel is not written for, while tracing, by the name of the argument.

    With `tile`, the extents have to be known at compile time (`flyc.from_dlpack(tensor)` makes them so) and to be
    multiples of the tile's: these kernels have no predicates, so a tile that sticks out would go wrong in silence.
    """
    if tensor.element_type is not dtype:
        raise TypeError(f"argument {name!r}: expected {dtype.__name__}, got {tensor.element_type.__name__}")
    if fx.rank(tensor) != rank:
        raise ValueError(f"argument {name!r}: expected rank {rank}, got rank {fx.rank(tensor)}")
    for axis, extent in enumerate(tile):
        actual = tensor.shape[axis].unpack()
        if not isinstance(actual, int):
            raise TypeError(f"argument {name!r}: its shape is not static; pass flyc.from_dlpack({name})")
        if actual % extent:
            raise ValueError(f"argument {name!r}: extent {actual} of axis {axis} is no multiple of the tile's {extent}")


def report(kernel: str, shape: str, got: torch.Tensor, expected: torch.Tensor, tolerance: float) -> dict[str, Any]:
    """Compare a result with torch's: the largest error is absolute, NaN counts as infinite."""
    difference = (got.double() - expected.double()).abs().nan_to_num(nan=float("inf"))
    max_error = difference.max().item() if difference.numel() else 0.0
    device = current_device()
    return {
        "kernel": kernel,
        "shape": shape,
        "dtype": str(got.dtype).removeprefix("torch."),
        "arch": device.arch,
        "device": device.name,
        "max_error": max_error,
        "tolerance": tolerance,
        "passed": max_error <= tolerance,
    }


def main(cases: Iterable[Any], run_case: Callable[[Any], dict[str, Any]]) -> None:
    """Run all cases, print one line each, and exit with 1 if any failed."""
    failed = 0
    for case in cases:
        row = run_case(case)
        failed += not row["passed"]
        print(
            f"{'PASS' if row['passed'] else 'FAIL'}  {row['kernel']:<24} {row['shape']:<18} {row['dtype']:<9}"
            f"largest error {row['max_error']:.3g} (allowed {row['tolerance']:.3g})  on {row['arch']}, {row['device']}"
        )
    sys.exit(1 if failed else 0)
