# SPDX-License-Identifier: Apache-2.0
"""`fx.utils`: pictures of layouts, and the same as Typst drawings."""

from ..ops.drawing import draw, draw_tv, picture, picture_tv
from ..ops.typst import print_typst, typst

__all__ = ["draw", "draw_tv", "picture", "picture_tv", "print_typst", "typst"]
