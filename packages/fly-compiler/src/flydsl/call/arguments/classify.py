# SPDX-License-Identifier: Apache-2.0
"""How the argument of a parameter travels: by its annotation where that decides, else by its kind (`kinds`)."""

from __future__ import annotations

import warnings
from typing import Any

from flydsl.compile.dtypes import scalar_type
from flydsl.compile.specs import ArgumentSpec, ScalarSpec, StreamSpec
from flydsl.expr.values.numeric import NumericMeta
from flydsl.expr.values.struct import StructBase
from flydsl.expr.values.typing import Stream

from .kinds import kind_of
from .passed import Passed, numbers_of, of_struct

__all__ = ["classify"]


def classify(where: str, value: Any, annotation: Any) -> Passed:
    """Return how a run-time argument is passed.

    Raises:
        TypeError: nothing says how to pass a value of its class.
        RuntimeError: a plain tensor without an axis of stride 1.
    """
    kind = kind_of(type(value))
    found = None if kind.is_own else _from_annotation(where, kind.name, value, annotation)
    if found is None:
        found = kind.passed(where, value)
    _warn_on_mismatch(where, found.spec, annotation)
    return found


def _from_annotation(where: str, kind: str, value: Any, annotation: Any) -> Passed | None:
    if isinstance(annotation, NumericMeta) and kind in ("number", "scalar of NumPy"):
        return Passed(ScalarSpec(scalar_type(annotation).name))
    if annotation is Stream:
        try:
            Stream(value).handle()
        except ValueError as error:
            raise TypeError(f"{where}: {error}") from None
        return Passed(StreamSpec())
    if isinstance(annotation, type) and issubclass(annotation, StructBase):
        inner = of_struct(annotation.__coerce__(value))
        return Passed(inner.spec, lambda one: numbers_of(annotation.__coerce__(one)), unpacked=True)
    return None


def _warn_on_mismatch(where: str, spec: ArgumentSpec, annotation: Any) -> None:
    if isinstance(annotation, NumericMeta) and spec != ScalarSpec(scalar_type(annotation).name):
        warnings.warn(
            f"{where}: declared {annotation.__name__}, but {spec.describe()} came. The annotation is not enforced: the "
            "value's own type is used",
            stacklevel=3,
        )
