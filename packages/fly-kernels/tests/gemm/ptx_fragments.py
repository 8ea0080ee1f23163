# SPDX-License-Identifier: Apache-2.0
"""Where the elements of fragments lie, by the formulas of the PTX ISA: those of mma.sync, ldmatrix and stmatrix.

Written from the ISA's text alone ("groupID = %laneid >> 2, threadID_in_group = %laneid % 4"), so that layouts which
were written otherwise can be compared with it. For `ptx_machine`, too.
"""

from __future__ import annotations

from collections.abc import Callable

Place = tuple[int, int]  # row and column
# Of a lane's groupID and threadID_in_group, and the number of the element in its registers.
Formula = Callable[[int, int, int], Place]


def _in_turn(i: int, group: int, run: int) -> int:
    """Runs of so many elements of the rows groupID and groupID + 8 in turn."""
    return group if i // run % 2 == 0 else group + 8


_C16: Formula = lambda g, t, i: (g if i < 2 else g + 8, 2 * t + (i & 1))  # noqa: E731

# {(shape, bits of an element of A and B): {operand: (elements of a lane, formula)}}. A is M x K, B is K x N.
FRAGMENTS: dict[tuple[str, int], dict[str, tuple[int, Formula]]] = {
    ("m16n8k16", 16): {
        "A": (8, lambda g, t, i: (g if 0 <= i < 2 or 4 <= i < 6 else g + 8, 2 * t + (i & 1) + (0 if i < 4 else 8))),
        "B": (4, lambda g, t, i: (2 * t + (i & 1) + (0 if i < 2 else 8), g)),
        "C": (4, _C16),
    },
    ("m16n8k8", 16): {
        "A": (4, lambda g, t, i: (g if i < 2 else g + 8, 2 * t + (i & 1))),
        "B": (2, lambda g, t, i: (2 * t + i, g)),
        "C": (4, _C16),
    },
    ("m16n8k8", 32): {
        "A": (4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
        "B": (2, lambda g, t, i: (t if i == 0 else t + 4, g)),
        "C": (4, _C16),
    },
    ("m16n8k4", 32): {
        "A": (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
        "B": (1, lambda g, t, i: (t, g)),
        "C": (4, _C16),
    },
    ("m16n8k32", 8): {
        "A": (16, lambda g, t, i: (_in_turn(i, g, 4), 4 * t + (i & 3) + (0 if i < 8 else 16))),
        "B": (8, lambda g, t, i: (4 * t + (i & 3) + (0 if i < 4 else 16), g)),
        "C": (4, _C16),
    },
    ("m16n8k16", 8): {
        "A": (8, lambda g, t, i: (g if i < 4 else g + 8, 4 * t + (i & 3))),
        "B": (4, lambda g, t, i: (4 * t + (i & 3), g)),
        "C": (4, _C16),
    },
    ("m8n8k4", 64): {
        "A": (1, lambda g, t, i: (g, t)),
        "B": (1, lambda g, t, i: (t, g)),
        "C": (2, lambda g, t, i: (g, 2 * t + (i & 1))),
    },
}


def places(shape: str, bits: int, operand: str, lane: int) -> list[Place]:
    """Row and column of each element that a lane holds of an operand, in the order of its registers."""
    count, formula = FRAGMENTS[shape, bits][operand]
    return [formula(lane >> 2, lane % 4, i) for i in range(count)]


def row_named_by(lane: int, matrices: int) -> tuple[int, int] | None:
    """The matrix and its row whose address ldmatrix and stmatrix take from a lane; None where they take none."""
    return (lane // 8, lane % 8) if lane < 8 * matrices else None


def pair_held_by(lane: int, *, transposed: bool) -> tuple[Place, Place]:
    """Row and column of the two 16-bit elements of every matrix that a lane holds, the low half first."""
    first, second = (lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1)
    return (first[::-1], second[::-1]) if transposed else (first, second)
