# SPDX-License-Identifier: Apache-2.0
"""Attributes of objects made in C: held or computed where neither Python nor its garbage collector can look.

`numpy.nditer(a).operands`, `OSError(3).errno`, `csv.reader(file).line_num`: no dictionary and no slot of Python's has
them, so they are read as the code that names them would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any
from weakref import WeakKeyDictionary

from .states import Same

__all__ = ["attributes_of", "held", "reader_of_attribute"]

_TEXTS = frozenset((bool, int, float, complex, str, bytes, type(None)))
"""What says all of itself in its text."""
_FUNCTIONS_IN_C = frozenset(
    ("builtin_function_or_method", "cython_function_or_method", "instancemethod", "method_descriptor", "nb_method")
)
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a `class` statement, or like one


def attributes_of(kind: type) -> frozenset[str]:
    """Return the names of attributes that code in C gets for objects of a class."""
    known = _known.get(kind)
    if known is None:
        known = _known[kind] = _attributes_of(kind)
    return known


_known: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def _attributes_of(kind: type) -> frozenset[str]:
    found = {name for base in kind.__mro__ for name, one in vars(base).items() if _is_native(base, one)}
    return frozenset(name for name in found if not name.startswith("__"))


def _is_native(cls: type, member: Any) -> bool:
    """Tell whether a member of a class is an attribute that code in C gets.

    Slots of classes that are made as those of Python's are none: they are found without running anything.
    """
    if isinstance(member, MemberDescriptorType):
        return not cls.__flags__ & _HEAP
    if type(member) is property:  # as pybind11, nanobind and their like make
        return type(member.fget).__name__ in _FUNCTIONS_IN_C and not cls.__module__.startswith("flydsl.")
    return isinstance(member, GetSetDescriptorType)


def held(value: object, name: str) -> Iterator[object]:
    """Return the objects that an attribute gives and that its owner keeps: those that are the same ones each time."""
    try:
        yield from _same(_get(value, name), _get(value, name))
    except Exception:  # whatever the code in C raises
        return


def reader_of_attribute(name: str) -> Callable[[Any], Any]:
    """Return what reads an attribute to compare it: numbers and texts, objects by identity, and tuples of these.

    An object that is made anew each time, such as a view, says nothing.
    """

    def read(value: Any) -> Any:
        try:
            return _facts(_get(value, name), _get(value, name))
        except Exception as error:  # as of an iterator that was closed
            return type(error).__name__

    return read


def _get(value: Any, name: str) -> Any:
    """Get an attribute without running Python code of a class that is derived from the one in C."""
    for base in type(value).__mro__:
        member = vars(base).get(name)
        if member is not None and _is_native(base, member):
            return member.__get__(value, type(value))
    raise AttributeError(name)


def _facts(value: Any, again: Any) -> Any:
    if type(value) in _TEXTS:
        return (type(value), repr(value))
    if type(value) is tuple and type(again) is tuple and len(value) == len(again):
        return tuple(map(_facts, value, again))
    return Same([value]) if value is again else None


def _same(value: Any, again: Any) -> Iterator[Any]:
    if type(value) is tuple and type(again) is tuple:
        for one, two in zip(value, again, strict=False):
            yield from _same(one, two)
    elif value is again:
        yield value
