# SPDX-License-Identifier: Apache-2.0
"""Python integers beside operands that cannot hold them: the operation is right, or it is refused by name.

Modulo 2^width a literal of the other sign is as good as its bits, so that `x + -1` and `x & -1` of an unsigned `x` are
what they say. A comparison, a quotient or a maximum is not.
"""

from __future__ import annotations

from .meta import NumericMeta, classes
from .operators import ADD, AND, EQ, MUL, NE, OR, SHL, SUB, XOR, BinaryOp
from .promote import common_type

__all__ = ["check_literal", "check_raw_literal", "refuse_literal"]

_MODULAR = frozenset((ADD, SUB, MUL, AND, OR, XOR, SHL))
_BITWISE = frozenset((AND, OR, XOR))


def check_literal(op: BinaryOp, literal: int, other: NumericMeta) -> None:
    """Refuse a literal that loses its value in the common type of an operation with an `other`.

    Raises:
        OverflowError: it does.
    """
    if 0 <= literal < 1 << 31 or other.is_float:
        return
    if _loses(literal, other) and op not in (_MODULAR if literal < 0 else _BITWISE):
        refuse_literal(f"'{op.symbol}'", literal, other)


def _loses(literal: int, other: NumericMeta) -> bool:
    if literal >= 0:
        return literal >= 1 << 63 and other.width <= (64 if other.signed else 63)
    if other.signed is not False:
        return False
    return common_type(other, classes.Int32 if literal >= -(1 << 31) else classes.Int64).signed is False


def refuse_literal(what: str, literal: int, other: NumericMeta) -> None:
    """Refuse a literal beside an operand of an integer class that cannot hold it, in the common type of both.

    Raises:
        OverflowError: if it is so.
    """
    if other.is_float or not _loses(literal, other):
        return
    name = other.__name__
    wider = "Int64" if other.width < 64 else "Int128"
    raise OverflowError(
        f"{what} of {name} and {literal}: {name} does not hold {literal}; convert the other operand first, for example "
        f"x.to(fx.{wider}), or write fx.{name}({literal}) for the number with these bits"
    )


def check_raw_literal(op: BinaryOp, literal: int, cls: NumericMeta) -> None:
    """Refuse a literal that takes the type of a raw SSA integer and does not fit it.

    Where only its bits count, they may be those of a number of either sign.

    Raises:
        OverflowError: it does not fit.
    """
    if cls.width == 1 or (0 <= literal < 1 << 31 and cls.width >= 32):
        return
    width = cls.width
    if op in _MODULAR or op in (EQ, NE) or cls.mnemonic == "index":
        fits = -(1 << (width - 1)) <= literal < 1 << width
    elif cls.signed:
        fits = -(1 << (width - 1)) <= literal < 1 << (width - 1)
    else:
        fits = 0 <= literal < 1 << width
    if not fits:
        raise OverflowError(
            f"'{op.symbol}' of a raw {cls.mnemonic} and {literal}, which does not fit it; wrap the value in a wider "
            "type first, for example fx.Int64(value)"
        )
