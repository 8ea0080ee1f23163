# SPDX-License-Identifier: Apache-2.0
"""Launch arguments by the names under which kernels import them; `flydsl.call.arguments` holds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flydsl.call.arguments import JitArgumentRegistry, from_c_void_p, from_dlpack, from_torch_tensor
from flydsl.call.arguments.markers import is_static_type
from flydsl.call.arguments.pointer import PointerArgument as PointerJitArg
from flydsl.call.arguments.tensor import DLTensorJitArg, TorchTensorJitArg
from flydsl.call.arguments.tensor import TensorArgument as MemRefJitArg
from flydsl.call.signature import resolve_annotations

__all__ = [
    "DLTensorJitArg",
    "JitArgumentRegistry",
    "MemRefJitArg",
    "PointerJitArg",
    "TorchTensorJitArg",
    "from_c_void_p",
    "from_dlpack",
    "from_torch_tensor",
    "is_type_param_annotation",
    "resolve_signature",
]


def is_type_param_annotation(annotation: Any) -> bool:
    """Tell whether an annotation is `Type` or `Type[T]`: the argument is a class."""
    return is_static_type(annotation)


def resolve_signature(func: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with annotations that are texts resolved, where they can be."""
    signature = inspect.signature(func)
    found = resolve_annotations(func)  # type: ignore[arg-type]
    parameters = [one.replace(annotation=found.get(name, one.annotation)) for name, one in signature.parameters.items()]
    return signature.replace(parameters=parameters)
