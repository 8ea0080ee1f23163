# SPDX-License-Identifier: Apache-2.0
"""Colours that people with colour-vision deficiencies can tell apart, with black text legible on all of them.

The hues are those of Okabe and Ito's palette, lightened; the sequence goes through the hues first and then repeats
them in other lightnesses, so that neighbours in the sequence always differ in hue. The second half, which LDS of 64
banks needs, has hues that lie between those of the first, at lightnesses between its.
"""

from __future__ import annotations

__all__ = ["PALETTE", "color_of", "ink_on", "luminance", "number_of"]

# Okabe and Ito: orange, sky blue, bluish green, yellow, blue, vermilion, reddish purple, and grey for black.
_HUES = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (204, 121, 167),
    (130, 130, 130),
)
_TINTS = (0.35, 0.68, 0.10, 0.84)  # share of white
# Chosen one after the other, each the farthest (in CIELAB) from all colours before it.
_MORE_HUES = (
    (0, 250, 0),
    (75, 25, 250),
    (250, 0, 250),
    (250, 0, 0),
    (50, 150, 0),
    (250, 50, 200),
    (0, 250, 125),
    (75, 100, 250),
)
_MORE_TINTS = (0.52, 0.22, 0.76, 0.0)


def _tinted(rgb: tuple[int, int, int], white: float) -> str:
    return "#" + "".join(f"{round(c + (255 - c) * white):02x}" for c in rgb)


PALETTE = (
    *(_tinted(hue, tint) for tint in _TINTS for hue in _HUES),
    *(_tinted(hue, tint) for tint in _MORE_TINTS for hue in _MORE_HUES),
)
"""The 64 colours, as ``#rrggbb``."""


def number_of(index: int) -> int:
    """The place in the palette of class ``index``, which names the colour in a file; the sequence repeats after 64."""
    return index % len(PALETTE)


def color_of(index: int) -> str:
    """The colour of class ``index``."""
    return PALETTE[number_of(index)]


def luminance(color: str) -> float:
    """Relative luminance of a colour, 0 to 1 (WCAG 2)."""
    total = 0.0
    for weight, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)):
        c = int(color[at : at + 2], 16) / 255
        total += weight * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
    return total


def ink_on(color: str) -> str:
    """Black or white, whichever has more contrast on ``color``."""
    x = luminance(color)
    return "#000000" if (x + 0.05) / 0.05 >= 1.05 / (x + 0.05) else "#ffffff"
