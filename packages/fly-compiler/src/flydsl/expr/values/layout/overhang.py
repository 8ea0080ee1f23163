# SPDX-License-Identifier: Apache-2.0
"""Tiles that do not divide a tensor: the last one reaches past the end, and a copy of it needs a predicate."""

from __future__ import annotations

import warnings
from typing import Any

from flydsl.trace import context as _trace

from . import trees

__all__ = ["overhang", "warn_of_overhang"]


def overhang(tensor: Any, divisor: Any) -> str | None:
    """Say that a tile of Python ints does not divide the static extents of a tensor in global memory.

    `None` where it does, where one of the two is only known when the kernel runs, and for memory whose bounds the
    hardware checks.
    """
    if not isinstance(divisor, tuple) or not hasattr(tensor, "is_coordinate"):  # a layout
        return None
    if tensor.is_coordinate or tensor.facts.space != "global":
        return None
    shape = tensor.shape_tree
    modes = shape if isinstance(shape, tuple) else (shape,)
    for extent, tile in zip(modes, divisor, strict=False):
        if type(extent) is int and type(tile) is int and tile > 0 and extent % tile:
            tiles = ", ".join(map(str, divisor))
            return f"the tile ({tiles}) does not divide the shape {trees.spelled(shape)} of this tensor"
    return None


def warn_of_overhang(*tensors: Any) -> None:
    """Warn, at the user's line, of a copy without a predicate from or to such a tile."""
    found = next((one.beyond for one in tensors if one.beyond is not None and one.facts.space == "global"), None)
    place = _trace.user_frame() if found else None
    if place is not None:
        warnings.warn_explicit(
            f"{found}: the last tile reaches past its end, and this copy has no predicate. Give it pred=, divide "
            "fx.rocdl.make_buffer_tensor(tensor, max_size=False), whose bounds the hardware checks, or pad the tensor",
            UserWarning,
            *place,
        )
