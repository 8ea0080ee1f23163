# SPDX-License-Identifier: Apache-2.0
"""What pointers and tensors say of the memory that they lead to."""

from __future__ import annotations

from typing import Any

from flydsl._mlir.facts import MemRefFacts, PointerFacts

from .address_space import space_from_text
from .layout.objects import FlyValue
from .numeric.meta import NumericMeta, class_of_mnemonic


class _TypedMemory(FlyValue):
    """Base of what leads to elements of one type in one address space."""

    __slots__ = ("_dtype",)

    def __init__(self, value: Any, dtype: NumericMeta | None = None) -> None:
        super().__init__(value)
        self._dtype = dtype if dtype is not None else getattr(value, "_dtype", None)

    @property
    def facts(self) -> PointerFacts | MemRefFacts:
        """The static facts of the type (`flydsl._mlir.facts`)."""
        known: PointerFacts | MemRefFacts = self._facts
        return known

    @property
    def dtype(self) -> NumericMeta:
        """The numeric class of the elements (`TypeError` where there are none)."""
        if self._dtype is None:
            self._dtype = class_of_mnemonic(self.facts.element)
        return self._dtype

    element_type = dtype

    @property
    def address_space(self) -> Any:
        """The address space."""
        return space_from_text(self.facts.space)

    memspace = address_space

    @property
    def alignment(self) -> int:
        """The alignment of the first element, in bytes."""
        alignment: int = self.facts.alignment
        return alignment
