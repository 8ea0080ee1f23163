# SPDX-License-Identifier: Apache-2.0
"""Values to text.

`text_of` is what ``str`` gives: the canonical form of the ``fly`` dialect, in which a named symbolic integer keeps its
name (``(M,8):(8,1)``) and an expression stands in braces (``{M*8}``). `to_dialect` writes every symbolic integer as
``?`` with its width and divisibility; its output is what an ``!fly.layout<...>`` type holds.
"""

from __future__ import annotations

from ..basis import Basis
from ..symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Verbatim", "text_of", "to_dialect"]

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}


class Verbatim(str):
    """A text that `text_of` gives back as it is, for use in messages."""

    __slots__ = ()


def to_dialect(x: Any) -> str:
    """The dialect's textual form, without the ``!fly.`` wrapper."""
    return text_of(x, names=False)


def text_of(x: Any, names: bool = True) -> str:
    """Canonical text of an int-tuple, layout, tile, swizzle or composed layout; ``repr`` of anything else."""
    if type(x) is int:
        return str(x)
    if type(x) is tuple:
        return f"({','.join([text_of(e, names) for e in x])})"
    if x is None:
        return "*"
    if isinstance(x, SymInt):
        return _symbolic(x, names)
    if isinstance(x, Basis):
        return text_of(x.value, names) + "".join([f"E{p}" for p in x.path])
    if isinstance(x, Verbatim):
        return str(x)
    return _structured(x, names)


def _structured(x: Any, names: bool) -> str:
    from ..composed import ComposedLayout
    from ..coord_tensor import CoordTensor
    from ..layout import Layout
    from ..swizzle import CoordSwizzle, Swizzle
    from ..tile import Tile

    if isinstance(x, Layout):
        return f"{text_of(x.shape, names)}:{text_of(x.stride, names)}"
    if isinstance(x, Swizzle):
        return f"S<{x.bits},{x.base},{x.shift}>"
    if isinstance(x, CoordSwizzle):
        row, col = ", ".join(map(str, x.row_path)), ", ".join(map(str, x.col_path))
        return f"CS<{x.bits},{x.row_base},[{row}],{x.col_base},[{col}]>"
    if isinstance(x, ComposedLayout):
        outer = text_of(x.outer, names)
        if isinstance(x.outer, ComposedLayout):
            outer = f"[{outer}]"
        return f"{text_of(x.inner, names)} o {text_of(x.offset, names)} o {outer}"
    if isinstance(x, CoordTensor):
        return f"coord_tensor<{text_of(x.base, names)}, {text_of(x.layout, names)}>"
    if isinstance(x, Tile):
        return _tile_mode(x.modes, names)
    return repr(x)


def _tile_mode(mode: Any, names: bool) -> str:
    if type(mode) is tuple:
        return f"[{'|'.join([_tile_mode(m, names) for m in mode])}]"
    return text_of(mode, names)


def _symbolic(x: SymInt, names: bool) -> str:
    width = ["i64"] if x.width == 64 else []
    divisor = [f"div={x.div}"] if x.div != 1 else []
    if not names or x.op == "dyn":
        attributes = " ".join(width + divisor)
        return "?{" + attributes + "}" if attributes else "?"
    if x.op == "sym":
        extent = [f"extent={x.extent}"] if x.extent is not None else []
        attributes = " ".join(width + divisor + extent)
        return f"{x.name}{{{attributes}}}" if attributes else str(x.name)
    return "{" + _expression(x) + "}"


def _expression(x: Any) -> str:
    if not isinstance(x, SymInt):
        return str(x) if x >= 0 else f"({x})"
    if x.op == "sym":
        return _symbolic(x, True)
    if x.op in _OPERATORS:
        return _OPERATORS[x.op].join([_factor(a) for a in x.args])
    return f"{x.op}({','.join([_expression(a) for a in x.args])})"


def _factor(x: Any) -> str:
    text = _expression(x)
    return f"({text})" if isinstance(x, SymInt) and x.op in _OPERATORS else text
