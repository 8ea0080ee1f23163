# SPDX-License-Identifier: Apache-2.0
"""The defaults of all kernels: one reviewed data file, `defaults.json`, by family and architecture.

What is a number that tuning may find better stands there; what follows from a shape by reasoning is code, in the
family's own configuration module. `gemm_shapes` are findings: the best configuration by predicted time for a class of
shapes (M, N and K rounded up to powers of two), which `tools/bench/tuning.py --export` writes; `attention_shapes` and
`row_shapes` are those of `tools/bench/attention_defaults.py` and `tools/bench/row_defaults.py`. `tiled_loops` are tiles
of GEMMs for which the main loop in layouts, with these bytes of K in a step and waves along M, N and K, takes no more
predicted time than the other one at any number of rows, which `tools/bench/gemm_loops.py` compares; `waves_per_eu` of
one is the occupancy that its registers leave room for. One entry breaks that rule for large problems: fp8 128 x 256 on
gfx942 takes 8 % less at 8192 cubed, and 3 to 5 % more at 2048 and 512 rows. `scaled_loops` are those of operands with
scales of parts of K: "f32" stands for a scale for 128 of K, and `step` counts elements; one that is `asked` is for
kernels of which asynchronous copies are asked.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any

__all__ = ["defaults", "shape_class"]


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(resources.files("flydsl.kernels").joinpath("defaults.json").read_text("utf-8"))
    return table


def defaults(family: str, arch: str) -> Any:
    """What the file says of a family of kernels on an architecture.

    Raises KeyError for a family, or an architecture of it, that the file does not have.
    """
    return _table()[family][arch]


def shape_class(*extents: int) -> list[int]:
    """The extents rounded up to powers of two: shapes of one class share a configuration."""
    return [1 << (extent - 1).bit_length() for extent in extents]
