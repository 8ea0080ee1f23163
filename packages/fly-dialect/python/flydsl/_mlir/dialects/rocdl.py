# SPDX-License-Identifier: Apache-2.0
"""The ROCDL dialect, whose builders also have the signatures of the MLIR that kernels in use were written against.

There cache policies (`aux`, `cpol`) are optional, `None` or an attribute, and matrix instructions take `(res, a, b, c,
cbsz, abid, blgp)`. In this MLIR policies are required, and operands of the raw buffer accesses; matrix instructions
take one list. Both forms are accepted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import ir
from . import _rocdl_ops_gen as _generated
from ._rocdl_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._rocdl_ops_gen import _Dialect as _Dialect

_Builder = Callable[..., Any]


def _i32(number: int) -> Any:
    kind = ir.IntegerType.get_signless(32)
    attributes = {"value": ir.IntegerAttr.get(kind, number)}
    return ir.Operation.create("llvm.mlir.constant", results=[kind], attributes=attributes).results[0]


def _policy(value: Any, is_operand: bool) -> Any:
    """Return a cache policy given as `None`, a number, an attribute or a value, as the operation takes it."""
    if isinstance(value, ir.Attribute):
        if not is_operand:
            return value
        value = ir.IntegerAttr(value).value
    if value is None or isinstance(value, int):
        return _i32(value or 0) if is_operand else int(value or 0)
    return value


def _with_optional(function: _Builder, place: int, name: str, is_operand: bool) -> _Builder:
    """Return the builder with the parameter `name`, at `place`, optional."""

    @functools.wraps(function)
    def build(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place:
            args = (*args[:place], _policy(args[place], is_operand), *args[place + 1 :])
        else:
            kwargs[name] = _policy(kwargs.get(name), is_operand)
        return function(*args, **kwargs)

    return build


def _with_operands(function: _Builder, place: int) -> _Builder:
    """Return the builder of a matrix instruction, whose list at `place` may be given operand by operand."""

    @functools.wraps(function)
    def build(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place + 1:
            given = [_i32(one) if isinstance(one, int) else one for one in args[place:]]
            args = (*args[:place], given)
        return function(*args, **kwargs)

    return build


def _parameters(function: _Builder) -> tuple[str, ...]:
    """Return the names of the parameters that may be given by position."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def _accept_both() -> None:
    for name, item in list(vars(_generated).items()):
        operation = getattr(item, "OPERATION_NAME", "")
        policy = next((one for one in ("aux", "cpol") if operation and one in _parameters(item.__init__)), None)
        if policy is not None:
            is_operand = operation.startswith("rocdl.raw.")

            def adapt(function: _Builder, policy: str = policy, is_operand: bool = is_operand) -> _Builder:
                return _with_optional(function, _parameters(function).index(policy), policy, is_operand)

        elif operation.startswith(("rocdl.mfma.", "rocdl.smfmac.")):

            def adapt(function: _Builder, policy: str = "", is_operand: bool = True) -> _Builder:
                return _with_operands(function, _parameters(function).index("args"))

        else:
            continue
        builder = operation.removeprefix("rocdl.").replace(".", "_")
        if builder == name:  # where the class has the name, its builder ends in an underscore
            builder += "_"
        item.__init__ = adapt(item.__init__)
        if builder in vars(_generated):
            adapted = adapt(vars(_generated)[builder])
            setattr(_generated, builder, adapted)
            globals()[builder] = adapted


_accept_both()
