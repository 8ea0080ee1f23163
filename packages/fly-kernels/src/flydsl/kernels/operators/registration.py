# SPDX-License-Identifier: Apache-2.0
"""How an operator comes into torch's dispatcher: as `torch.library.custom_op` does, without what that imports.

A call of an operator of `custom_op` imports `torch._dynamo`, which takes seconds at the first call of a process that
compiles nothing with torch. These are registered by the functions that `custom_op` is made of. One that changes its
arguments stays with `custom_op`, which counts their versions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["Operator", "operator"]

_NAMESPACE = "flydsl"
_library = torch.library.Library(_NAMESPACE, "FRAGMENT")

# torch asks `inspect` which module registers what is called for fake tensors, here. It would look for the file of each
# module that there is, 20 ms of a first call, and keeps here what it finds.
inspect.modulesbyfile[__file__] = __name__


class Operator:
    """An operator of the namespace `flydsl`, whose schema is that of a function, on tensors of any device.

    Attributes:
        overload: what torch calls it by, `torch.ops.flydsl.<name>.default`.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = f"{_NAMESPACE}::{name}"
        self._backward: Callable[..., Any] | None = None
        self._setup_context: Callable[..., None] | None = None
        schema = torch.library.infer_schema(function, mutates_args=())
        _library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        _library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_autograd(self._name, self._differentiate, setup_context=self._save, lib=_library)
        self.overload = getattr(getattr(torch.ops, _NAMESPACE), name).default

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it through the dispatcher."""
        return self.overload(*args, **keywords)

    def register_fake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: the function that says what the results look like."""
        torch.library.register_fake(self._name, function, lib=_library)
        return function

    def register_autograd(
        self, backward: Callable[..., Any], *, setup_context: Callable[..., None] | None = None
    ) -> None:
        """`backward(ctx, *gradients)` of what `setup_context(ctx, inputs, output)` saved."""
        self._backward, self._setup_context = backward, setup_context

    def _save(self, ctx: Any, inputs: Any, output: Any) -> None:
        if self._setup_context is not None:
            self._setup_context(ctx, inputs, output)

    def _differentiate(self, ctx: Any, *gradients: Any) -> Any:
        if self._backward is None:
            raise RuntimeError(f"{self._name} is not differentiable: it has no backward")
        return self._backward(ctx, *gradients)


def operator(name: str) -> Callable[[Callable[..., Any]], Operator]:
    """A decorator that makes a function the operator `flydsl::<name>`; it changes no argument and returns none."""
    return lambda function: Operator(name, function)
