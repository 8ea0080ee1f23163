# SPDX-License-Identifier: Apache-2.0
"""Thread-value layouts: atoms, tiled copies and tiled MMAs, and AMD's matrix instructions.

A thread-value (TV) layout maps (thread, value) to the column-major index of an element in a tile.
"""

from __future__ import annotations

from .copy_atom import CopyAtom, copy_atom, lds_read_transpose, universal_copy  # the function hides its module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .instructions import MatrixInstruction, architectures, matrix_instruction, matrix_instructions
    from .mma_atom import MmaAtom, mfma, mfma_scale, universal_fma, wmma, wmma_scale
    from .tiled_copy import (
        ThrCopy,
        TiledCopy,
        make_layout_tv,
        make_tiled_copy,
        make_tiled_copy_tv,
    )
    from .tiled_mma import (
        ThrMma,
        TiledMma,
        make_tiled_copy_A,
        make_tiled_copy_B,
        make_tiled_copy_C,
        make_tiled_mma,
    )

__all__ = [
    "CopyAtom",
    "MatrixInstruction",
    "MmaAtom",
    "ThrCopy",
    "ThrMma",
    "TiledCopy",
    "TiledMma",
    "architectures",
    "copy_atom",
    "lds_read_transpose",
    "make_layout_tv",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
    "make_tiled_copy_tv",
    "make_tiled_mma",
    "matrix_instruction",
    "matrix_instructions",
    "mfma",
    "mfma_scale",
    "universal_copy",
    "universal_fma",
    "wmma",
    "wmma_scale",
]

# Where each other name lives: a module is imported when one of its names is first used. Tiled copies need no matrix
# instructions.
_EXPORTS = {
    "instructions": "MatrixInstruction architectures matrix_instruction matrix_instructions",
    "mma_atom": "MmaAtom mfma mfma_scale universal_fma wmma wmma_scale",
    "tiled_copy": "ThrCopy TiledCopy make_layout_tv make_tiled_copy make_tiled_copy_tv",
    "tiled_mma": "ThrMma TiledMma make_tiled_copy_A make_tiled_copy_B make_tiled_copy_C make_tiled_mma",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
