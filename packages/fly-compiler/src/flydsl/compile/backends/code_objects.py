# SPDX-License-Identifier: Apache-2.0
"""What AMD's code objects say of their kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flydsl.trace.hints import waves_per_eu

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["describe_code_objects"]


def describe_code_objects(lowered: ir.Module, hints: Mapping[str, Any]) -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """Return the architecture of each code object in a lowered program, and what a note says of its kernels."""
    from flydsl._mlir._mlir_libs import _fly_emit

    wish = waves_per_eu(hints.get("waves_per_eu"))
    wished = {"waves_per_eu": None if wish is None else [x for x in wish if x is not None]}
    return [
        (
            one.arch,
            {
                kernel.name: {
                    "vgpr": kernel.vgpr,
                    "agpr": kernel.agpr,
                    "sgpr": kernel.sgpr,
                    "lds_bytes": kernel.lds_bytes,
                    "scratch_bytes": kernel.scratch_bytes,
                    "spills": kernel.vgpr_spills + kernel.sgpr_spills,
                    "occupancy": kernel.occupancy,
                    "hints": wished,
                }
                for kernel in one.kernels
            },
        )
        for one in _fly_emit.code_objects(lowered)
    ]
