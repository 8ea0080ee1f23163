# SPDX-License-Identifier: Apache-2.0
"""The LLVM dialect: its types, and its op classes and enumerations when they are first asked for.

MLIR imports this module as soon as it meets the dialect. The op classes alone are 600 kB of Python, and most programs
use none of them: an op without a class is an `ir.OpView`.
"""

from importlib import import_module
from typing import Any

from .._mlir_libs._mlirDialectsLLVM import *  # noqa: F403

_MODULES = ("_llvm_ops_gen", "_llvm_enum_gen")


def mlir_constant(value: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Return the result of an `llvm.mlir.constant` of a typed attribute."""
    return __getattr__("ConstantOp")(res=value.type, value=value, loc=loc, ip=ip).result


def __getattr__(name: str) -> Any:
    if name == "__path__":
        raise AttributeError(name)
    for module in _MODULES:
        try:
            found = getattr(import_module(f".{module}", __package__), name)
        except AttributeError:
            continue
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    found = set(globals())
    for module in _MODULES:
        found.update(dir(import_module(f".{module}", __package__)))
    return sorted(found)
