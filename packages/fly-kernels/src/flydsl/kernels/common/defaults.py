# SPDX-License-Identifier: Apache-2.0
"""The defaults of all kernels: one reviewed data file, `defaults.json`, by family and architecture.

What is a number that tuning may find better stands there; what follows from a shape by reasoning is code, in the
family's own configuration module. Each row of the file is a line, and says only what does not follow from the others:
architectures whose rows are the same share them ("gfx942 gfx950").

`gemm_shapes` are findings: the best configuration by predicted time for the class of `shape` (M, N and K rounded up to
powers of two), which `tools/bench/tuning.py --export` writes. `attention_shapes` and `row_shapes` are those of
`tools/bench/attention_defaults.py` and `tools/bench/row_defaults.py`: the class of the former is that of its `shapes`
(batch, heads, queries, keys); of the latter `config` is what differs from the kernel's row in `rows`, nothing where
that is the best. `over_best` is the time over that of the best configuration, for each shape, or for 4096 and for 64
rows; `rows_over_best` that of the row in `rows`. `model` is the emulator's model that predicted the times; they were
measured on a device where there is none: on sm_90a with 2048 and 128 rows, RMSNorm and LayerNorm, and for softmax with
rows of 128 and of 2 MiB.

`tiled_loops` are tiles of GEMMs for which the main loop in layouts, with these bytes of K in a step and waves along M,
N and K, takes no more predicted time than the other one at any number of rows, which `tools/bench/gemm_loops.py`
compares; `waves_per_eu` of one is the occupancy that its registers leave room for. One entry breaks that rule for large
problems: fp8 128 x 256 on gfx942 takes 8 % less at 8192 cubed, and 3 to 5 % more at 2048 and 512 rows. `scaled_loops`
are those of operands with scales of parts of K: "f32" stands for a scale for 128 of K, and `step` counts elements; one
that is `asked` is for kernels of which asynchronous copies are asked.

`wmma_loops` are the main loops of `gemm` on waves of 32 lanes, by tile and bytes of an element: which operands go
through LDS ("AB", or none), the grid of waves, and bytes of K in a step, of which K may want fewer. Of the forms of a
tile that `tools/bench/wave32_forms.py` compares it is the fastest by predicted time, or one that takes up to 1.14 of it
and has the matrix unit in 0.89 (gfx1201) or 0.91 (gfx1100) of its issue cycles: 64 x 64, and 32 x 64 on gfx1100, would
be faster through LDS by four waves.
"""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from importlib import resources
from typing import Any

__all__ = ["defaults", "dump", "kernel_defaults", "load", "shape_class"]


def load(text: str) -> dict[str, Any]:
    """The table that the text of the file says: rows by family and architecture."""
    table: dict[str, Any] = {}
    for family, groups in json.loads(text).items():
        by_arch = table[family] = {}
        for archs, rows in groups.items():
            first, *others = archs.split()
            by_arch |= {first: rows, **{arch: copy.deepcopy(rows) for arch in others}}
    return table


def dump(table: dict[str, Any]) -> str:
    """The text of the file that says a table."""
    return "{\n" + ",\n".join(map(_family, table.items())) + "\n}\n"


def _family(item: tuple[str, dict[str, Any]]) -> str:
    name, by_arch = item
    groups: list[tuple[list[str], Any]] = []
    for arch, rows in by_arch.items():
        alike = next((archs for archs, others in groups if others == rows), None)
        if alike is None:
            groups.append(([arch], rows))
        else:
            alike.append(arch)
    inside = ",\n".join(f"  {json.dumps(' '.join(archs))}: {_rows(rows)}" for archs, rows in groups)
    return f" {json.dumps(name)}: {{\n{inside}\n }}"


def _rows(rows: dict[str, Any] | list[Any]) -> str:
    if isinstance(rows, list):
        lines, ends = [json.dumps(one) for one in rows], "[]"
    else:
        lines, ends = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in rows.items()], "{}"
    return ends[0] + "\n   " + ",\n   ".join(lines) + "\n  " + ends[1] if lines else ends


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table = load(resources.files("flydsl.kernels").joinpath("defaults.json").read_text("utf-8"))
    for rows in table["gemm_shapes"].values():
        for one in rows:
            one["class"] = shape_class(*one["shape"])
    return table


def defaults(family: str, arch: str) -> Any:
    """What the file says of a family of kernels on an architecture.

    Raises KeyError for a family, or an architecture of it, that the file does not have.
    """
    return _table()[family][arch]


def kernel_defaults(family: str, arch: str, kernel: str) -> dict[str, Any]:
    """The row of a kernel in a family of which every kernel has one.

    Raises KeyError, which says what to add, for a kernel without.
    """
    found: dict[str, Any] | None = defaults(family, arch).get(kernel)
    if found is None:
        raise KeyError(
            f"kernel {kernel!r} has no default configuration: defaults.json needs a row of that name under "
            f"{family!r}, {arch!r}"
        )
    return found


def shape_class(*extents: int) -> list[int]:
    """The extents rounded up to powers of two: shapes of one class share a configuration."""
    return [1 << (extent - 1).bit_length() for extent in extents]
