# SPDX-License-Identifier: Apache-2.0
"""Classes of other people as launch arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

__all__ = ["JitArgumentRegistry"]


class JitArgumentRegistry:
    """From a Python class to the constructor of what is passed in its place.

        @JitArgumentRegistry.register(MyTensor)
        def wrap(value):
            return flyc.from_dlpack(value.storage)

    The constructor returns a launch argument: a wrapped tensor or pointer, an `fx.Stream`, a scalar or a struct.
    """

    _constructors: ClassVar[dict[type, Callable[[Any], Any]]] = {}
    _dsl_types: ClassVar[dict[type, Any]] = {}

    @classmethod
    def register(cls, py_type: type, dsl_type: Any = None) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Return a decorator that makes a function the constructor for `py_type`.

        Raises:
            ValueError: `py_type` has a constructor already.
        """
        if py_type in cls._constructors:
            raise ValueError(f"{py_type.__module__}.{py_type.__qualname__} has a constructor already")

        def decorate(constructor: Callable[[Any], Any]) -> Callable[[Any], Any]:
            cls._constructors[py_type] = constructor
            if dsl_type is not None:
                cls._dsl_types[py_type] = dsl_type
            return constructor

        return decorate

    @classmethod
    def register_jit_arg(cls, argument_class: type, dsl_type: Any) -> None:
        """Say which class of the language an argument class becomes in a kernel."""
        cls._dsl_types[argument_class] = dsl_type

    @classmethod
    def get(cls, py_type: type) -> tuple[Callable[[Any], Any] | None, Any]:
        """Return the registered constructor for a class and the class of the language that it becomes, if any."""
        constructor = cls.constructor(py_type)
        return (None, None) if constructor is None else (constructor, cls.get_dsl_type(py_type))

    @classmethod
    def get_dsl_type(cls, argument_class: type) -> Any:
        """Return the class of the language that an argument class becomes in a kernel, `None` when nobody said."""
        return next((cls._dsl_types[one] for one in argument_class.__mro__ if one in cls._dsl_types), None)

    @classmethod
    def constructor(cls, kind: type) -> Callable[[Any], Any] | None:
        """Return the constructor for a class, or that of the nearest base class which has one."""
        for one in kind.__mro__:
            found = cls._constructors.get(one)
            if found is not None:
                return found
        return None
