# SPDX-License-Identifier: Apache-2.0
"""Classes of other people as launch arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

__all__ = ["JitArgumentRegistry", "warn_foreign_annotations"]


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


def warn_foreign_annotations(function: FunctionType) -> None:
    """Warn of parameters whose annotation is a class that means nothing to a launch, such as `int`."""
    for name, annotation in function.__annotations__.items():
        if name == "return" or not isinstance(annotation, type):
            continue
        ours = annotation.__module__.startswith("flydsl.") or any(
            hasattr(annotation, hook)
            for hook in ("__get_ir_types__", "__construct_from_ir_values__", "__cache_signature__")
        )
        if not ours and JitArgumentRegistry.constructor(annotation) is None:
            warnings.warn(
                f"the annotation {annotation.__qualname__} of parameter '{name}' of '{function.__qualname__}' is no "
                "type of the language and is not enforced: the parameter takes what it is given. Use fx.Int32, "
                "fx.Tensor, fx.Constexpr[...] or no annotation",
                stacklevel=3,
            )
