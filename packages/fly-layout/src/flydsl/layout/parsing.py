# SPDX-License-Identifier: Apache-2.0
"""Text to values: the grammar of the ``fly`` dialect, with named symbolic integers and CuTe's spellings beside it.

CuTe's forms that are read too: blanks anywhere between tokens, ``_`` for "all of a mode" and ``_8`` for a static
integer, ``1@0`` (``1@1@0``, innermost mode first) for basis elements and ``Sw<b,m,s>`` for swizzles. The nesting
depth is limited, so that no text can exhaust the stack.
"""

from __future__ import annotations

from .basis import Basis
from .composed import ComposedLayout, CoordTensor
from .errors import LayoutError, ParseError
from .int_tuple import MAX_DEPTH
from .layout import Layout
from .swizzle import CoordSwizzle, Swizzle
from .symbolic import SymInt, apply, dyn, sym
from .tile import Tile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["parse", "parse_int_tuple", "parse_tile"]

_FUNCTIONS = {"take": 3, "below": 3, "swizzle": 4, "coord_swizzle": 5} | dict.fromkeys(
    ("min", "max", "gap", "ceil_div", "shape_div", "exact_div", "step", "lt", "eq", "and"), 2
)
_INFIX = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}


def parse(text: str) -> Any:
    """The value that ``text`` spells: an int-tuple, `Layout`, `Swizzle`, `CoordSwizzle`, `ComposedLayout`,
    `CoordTensor` or (in brackets) a `Tile`.

    Raises:
        ParseError: with the column and what was expected there.
    """
    p = _Parser(text)
    value = p.guarded(p.value)
    p.end()
    return value


def parse_int_tuple(text: str) -> Any:
    """The int-tuple (or single leaf) that ``text`` spells; ``*`` gives None."""
    p = _Parser(text)
    value = p.guarded(p.int_tuple)
    p.end()
    return value


def parse_tile(text: str) -> Any:
    """The `Tile` that ``text`` spells: a bracketed list, or a leaf (an integer, ``*`` or a layout)."""
    p = _Parser(text)
    tile = p.guarded(lambda: Tile(p.tile_mode()))
    p.end()
    return tile


class _Parser:
    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise LayoutError(f"parse({text!r}): the argument is no text")
        self.text = text
        self.at = 0
        self.depth = 0

    # -- characters ----------------------------------------------------------------------------------------------
    def error(self, expected: str, at: int | None = None) -> ParseError:
        return ParseError(self.text, self.at if at is None else at, expected)

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self, n: int = 1) -> str:
        self.blanks()
        return self.text[self.at : self.at + n]

    def accept(self, token: str) -> bool:
        if self.peek(len(token)) == token:
            self.at += len(token)
            return True
        return False

    def expect(self, token: str, what: str = "") -> None:
        if not self.accept(token):
            raise self.error(f"expected {token!r}{what}")

    def end(self) -> None:
        self.blanks()
        if self.at < len(self.text):
            raise self.error("expected the end of the text")

    def guarded(self, rule: Any) -> Any:
        """``rule()``, with what the values' constructors refuse reported at its place."""
        self.blanks()
        start = self.at
        try:
            return rule()
        except ParseError:
            raise
        except LayoutError as e:
            raise ParseError(self.text, start, str(e)) from e

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"expected at most {MAX_DEPTH} levels of nesting")

    # -- values --------------------------------------------------------------------------------------------------
    def value(self) -> Any:
        if self.peek() == "[":
            return Tile(self.tile_mode())
        if self.peek(13) == "coord_tensor<":
            return self.coord_tensor()
        first = self.inner()
        return self.composed_after(first)

    def coord_tensor(self) -> Any:
        self.expect("coord_tensor<")
        base = self.int_tuple()
        self.expect(",", " after the base coordinate")
        layout = self.composed_after(self.inner())
        self.expect(">", " after the layout")
        return CoordTensor(base, layout)

    def inner(self) -> Any:
        if self.peek(2) == "S<" or self.peek(3) == "Sw<":
            return self.swizzle()
        if self.peek(3) == "CS<":
            return self.coord_swizzle()
        return self.layout_or_tuple()

    def layout_or_tuple(self) -> Any:
        shape = self.int_tuple()
        if not self.accept(":"):
            return shape
        return Layout(shape, self.int_tuple())

    def at_o(self) -> bool:
        """True before a composition sign: an ``o`` that is a word of its own."""
        self.blanks()
        following = self.text[self.at + 1 : self.at + 2]
        return self.text[self.at : self.at + 1] == "o" and not (following.isalnum() or following == "_")

    def composed_after(self, first: Any) -> Any:
        result = first
        while self.at_o():
            self.at += 1
            offset = self.int_tuple()
            if not self.at_o():
                raise self.error("expected 'o' and a layout after the offset")
            self.at += 1
            if self.accept("["):
                self.enter()
                outer = self.composed_after(self.inner())
                self.depth -= 1
                self.expect("]", " after the composed layout")
            else:
                outer = self.layout_or_tuple()
            result = ComposedLayout(result, offset, outer)
        return result

    def swizzle(self) -> Any:
        if not self.accept("Sw<"):
            self.expect("S<")
        bits = self.integer()
        self.expect(",")
        base = self.integer()
        self.expect(",")
        shift = self.integer()
        self.expect(">")
        return Swizzle(bits, base, shift)

    def coord_swizzle(self) -> Any:
        self.expect("CS<")
        bits = self.integer()
        self.expect(",")
        row_base = self.integer()
        self.expect(",")
        row = self.path_list()
        self.expect(",")
        col_base = self.integer()
        self.expect(",")
        col = self.path_list()
        self.expect(">")
        return CoordSwizzle(bits, row_base, row, col_base, col)

    def path_list(self) -> tuple[int, ...]:
        self.expect("[")
        path: list[int] = []
        while not self.accept("]"):
            if path:
                self.expect(",")
            path.append(self.integer())
        return tuple(path)

    def tile_mode(self) -> Any:
        if self.accept("["):
            self.enter()
            modes = [self.tile_mode()]
            while self.accept("|"):
                modes.append(self.tile_mode())
            self.expect("]", " or '|'")
            self.depth -= 1
            return tuple(modes)
        start = self.at
        mode = self.layout_or_tuple()
        if isinstance(mode, (tuple, Basis)):
            raise self.error("expected a tile mode: an integer, '*', a layout or a bracketed list", start)
        return mode

    # -- int-tuples ----------------------------------------------------------------------------------------------
    def int_tuple(self) -> Any:
        if not self.accept("("):
            return self.leaf()
        self.enter()
        modes = [self.int_tuple()]
        while self.accept(","):
            if self.peek() == ")" and len(modes) == 1:
                break  # Python's spelling of a one-element tuple
            modes.append(self.int_tuple())
        self.expect(")", " or ','")
        self.depth -= 1
        return tuple(modes)

    def leaf(self) -> Any:
        value = self.scalar()
        self.blanks()
        path: list[int] = []
        while self.text[self.at : self.at + 1] == "E" and self.text[self.at + 1 : self.at + 2].isdigit():
            self.at += 1
            path.append(self.digits())
        while not path and self.text[self.at : self.at + 1] == "@":
            while self.text[self.at : self.at + 1] == "@":
                self.at += 1
                path.insert(0, self.digits())
        if self.text[self.at : self.at + 1] == "E" or (path and self.text[self.at : self.at + 1].isalnum()):
            raise self.error("expected a mode number after 'E'")
        return Basis(value, tuple(path)) if path else value

    def scalar(self) -> Any:
        c = self.peek()
        if c == "*":
            self.at += 1
            return None
        if c == "?":
            self.at += 1
            width, div, extent = self.attributes()
            if extent is not None:
                raise self.error("expected no extent: '?' has no name")
            return dyn(width=width, div=div)
        if c == "_":
            self.at += 1
            return self.digits() if self.text[self.at : self.at + 1].isdigit() else None
        if c == "{":
            self.at += 1
            value = self.expression()
            self.expect("}")
            return value
        if c == "-" or c.isdigit():
            return self.integer()
        if c.isalpha():
            return self.name()
        raise self.error("expected an integer, '?', '*', a name or '('")

    def name(self) -> SymInt:
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
            self.at += 1
        word = self.text[start : self.at]
        if word == "o" or (word[0] == "E" and word[1:].isdigit()) or not word.isidentifier():
            raise self.error(f"expected an integer or a name ({word!r} is no name)", start)
        width, div, extent = self.attributes()
        return sym(word, width=width, div=div, extent=extent)

    def attributes(self) -> tuple[int, int, int | None]:
        width, div, extent = 32, 1, None
        if self.text[self.at : self.at + 1] != "{":
            return width, div, extent
        self.at += 1
        if self.accept("i64"):
            width = 64
        else:
            self.accept("i32")
        if self.accept("div"):
            self.expect("=")
            div = self.integer()
        if self.accept("extent"):
            self.expect("=")
            extent = self.integer()
        self.expect("}", " (attributes are a width, 'div=' and 'extent=', in this order)")
        return width, div, extent

    def integer(self) -> int:
        negative = self.accept("-")
        value = self.digits()
        return -value if negative else value

    def digits(self) -> int:
        self.blanks()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        if self.at == start:
            raise self.error("expected an integer")
        if self.at - start > 4000:
            raise self.error("expected an integer of at most 4000 digits", start)
        return int(self.text[start : self.at])

    # -- expressions in braces -----------------------------------------------------------------------------------
    def expression(self) -> Any:
        """``operand (op operand)?``; deeper expressions are parenthesised, as printing does."""
        left = self.operand()
        op = self.peek()
        if op not in _INFIX or op == "":
            return left
        self.at += 1
        return apply(_INFIX[op], left, self.operand())

    def operand(self) -> Any:
        if self.accept("("):
            self.enter()
            value = self.expression()
            self.expect(")")
            self.depth -= 1
            return value
        self.blanks()
        for f, arity in _FUNCTIONS.items():
            if self.text.startswith(f + "(", self.at):
                self.at += len(f) + 1
                self.enter()
                arguments = [self.expression()]
                while self.accept(","):
                    arguments.append(self.expression())
                self.expect(")")
                self.depth -= 1
                if len(arguments) != arity:
                    raise self.error(f"expected {arity} operands of {f}")
                return apply(f, *arguments)
        value = self.scalar()
        if value is None:
            raise self.error("expected an operand")
        return value
