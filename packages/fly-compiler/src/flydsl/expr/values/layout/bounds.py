# SPDX-License-Identifier: Apache-2.0
"""Coordinates that are known while tracing, and lie outside a tensor in registers or LDS.

Nothing else would say so: registers have no address to be wrong, and LDS has no end that the hardware looks at. In
global memory a coordinate may lie outside on purpose, under a predicate.
"""

from __future__ import annotations

from typing import Any

from . import trees

__all__ = ["check_bounds"]

_SPACES = {"register": "registers", "shared": "LDS"}


def check_bounds(tensor: Any, coordinate: Any) -> None:
    """Refuse a coordinate outside a tensor in registers or LDS, as far as both are known while tracing.

    Args:
        tensor: a tensor.
        coordinate: a tree of ints; leaves that are `None` or known only at run time are not looked at.

    Raises:
        IndexError: an entry is negative, or not less than its extent.
    """
    space = None if tensor.is_coordinate else _SPACES.get(tensor.facts.space)
    if space is None:
        return
    found = _outside(coordinate, tensor.shape_tree)
    if found is not None:
        index, extent = found
        hint = f"; they count from 0 to {extent - 1}" if index >= 0 else ", and do not count from the end"
        raise IndexError(
            f"coordinate {trees.spelled(coordinate)} is out of range for a tensor in {space} of shape "
            f"{trees.spelled(tensor.shape_tree)}: {index} is no index of an extent of {extent}{hint}"
        )


def _outside(coordinate: Any, shape: Any) -> tuple[int, int] | None:
    """Return an index and the extent that it is outside of."""
    if type(coordinate) is tuple:
        if type(shape) is not tuple:
            return None
        pairs = zip(coordinate, shape, strict=False)
        return next((found for one, mode in pairs if (found := _outside(one, mode)) is not None), None)
    if type(coordinate) is not int or not trees.is_static(shape):
        return None
    extent = trees.product_of(shape)
    return None if 0 <= coordinate < extent else (coordinate, extent)
