# SPDX-License-Identifier: Apache-2.0
"""The check of tensors that a kernel walks by itself, as one piece of memory."""

from __future__ import annotations

from typing import Any

from .language import fx


def expect_contiguous(name: str, tensor: Any, element: Any, count: Any = None) -> None:
    """Refuse a tensor of another type than `element`, one with gaps, and one of less than `count` elements.

    To be called in a host function. What is known while tracing is refused then, the rest when the function is called,
    before a launch. A pointer (`flyc.from_c_void_p`) is checked for its type only.

    Raises TypeError for the type, ValueError for the rest, by the name of the argument.
    """
    if not isinstance(tensor, (fx.Tensor, fx.Pointer)):
        raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(tensor).__name__}")
    if tensor.element_type is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {tensor.element_type.__name__}")
    if isinstance(tensor, fx.Pointer):
        return
    elements = fx.Int64(1)
    for mode in reversed(range(fx.rank(tensor))):
        extent, stride = (fx.Int64(part[mode].unpack()) for part in (tensor.shape, tensor.stride))
        fx.host_assert(
            (stride == elements) | (extent <= 1),
            f"argument '{name}': must be contiguous, but the stride of dimension {mode} is {{}} and not {{}}; "
            "copy it with .contiguous()",
            stride,
            elements,
        )
        elements = elements * extent
    if count is not None:
        fx.host_assert(
            elements >= fx.Int64(count), f"argument '{name}': expected {{}} elements, got {{}}", count, elements
        )
