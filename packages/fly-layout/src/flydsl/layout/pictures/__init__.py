# SPDX-License-Identifier: Apache-2.0
"""Pictures of layouts: text, SVG, standalone HTML and TikZ.

Each function here gives a `Picture`; its methods write it in one of the forms, and a notebook shows it.
"""

from __future__ import annotations

from .grid import Cell, Grid
from .layouts import bank_map, divide, show
from .notebook import notebook_html, notebook_svg
from .ownership import ownership
from .palette import PALETTE, color_of, ink_on
from .picture import Picture

__all__ = [
    "PALETTE",
    "Cell",
    "Grid",
    "Picture",
    "bank_map",
    "color_of",
    "divide",
    "ink_on",
    "notebook_html",
    "notebook_svg",
    "ownership",
    "show",
]
