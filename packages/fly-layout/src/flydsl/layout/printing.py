# SPDX-License-Identifier: Apache-2.0
"""Values to text.

`text_of` is what ``str`` gives: the canonical form of the ``fly`` dialect, in which a named symbolic integer keeps its
name (``(M,8):(8,1)``) and an expression stands in braces (``{M*8}``). `to_dialect` writes every symbolic integer as
``?`` with its width and divisibility; its output is what an ``!fly.layout<...>`` type holds.

This is the lowest module, since every error quotes its operands: a class of the package writes itself, in a method
``_text(names)``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Verbatim", "text_of", "to_dialect"]


class Verbatim(str):
    """A text that `text_of` gives back as it is, for use in messages."""

    __slots__ = ()

    def _text(self, names: bool) -> str:
        return str(self)


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
    write = getattr(type(x), "_text", None)
    return write(x, names) if write is not None else repr(x)
