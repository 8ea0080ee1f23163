# SPDX-License-Identifier: Apache-2.0
"""Thread-value layouts: atoms, tiled copies and tiled MMAs, and AMD's matrix instructions.

A thread-value (TV) layout maps (thread, value) to the column-major index of an element in a tile.
"""

from __future__ import annotations

from .copy_atom import CopyAtom, copy_atom, lds_read_transpose, universal_copy
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
