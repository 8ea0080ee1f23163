# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the library.

Every message names the operation, its arguments in text form, and the condition that failed.
"""

from __future__ import annotations

from .printing import text_of

__all__ = ["LayoutError", "LayoutTypeError", "ParseError", "fail", "within"]


class LayoutError(ValueError):
    """An operation's arguments break one of its conditions."""


class LayoutTypeError(LayoutError, TypeError):
    """An argument is of a kind that the operation does not take."""


class ParseError(LayoutError):
    """A text is not a layout, int-tuple, tile or swizzle.

    Attributes:
        text: the whole text.
        position: index of the character at which parsing stopped.
    """

    def __init__(self, text: str, position: int, expected: str) -> None:
        self.text = text
        self.position = position
        self.expected = expected
        super().__init__(f"cannot parse {text!r}: {expected} at column {position + 1}\n  {text}\n  {' ' * position}^")

    def __reduce__(self) -> tuple[type[ParseError], tuple[str, int, str]]:
        return (ParseError, (self.text, self.position, self.expected))


def fail(operation: str, condition: str, *arguments: object, kind: type[LayoutError] = LayoutError) -> LayoutError:
    """The error ``operation(arguments): condition``, for the caller to raise; arguments appear in text form."""
    return kind(f"{operation}({', '.join(text_of(a) for a in arguments)}): {condition}")


def within(error: LayoutError, operation: str, *arguments: object) -> LayoutError:
    """``error`` of a step, as the error of the operation that took the step."""
    kind = LayoutTypeError if isinstance(error, LayoutTypeError) else LayoutError
    return fail(operation, str(error), *arguments, kind=kind)
