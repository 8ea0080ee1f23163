# SPDX-License-Identifier: Apache-2.0
"""The kinds of launch arguments, one row each: what a call needs to know of a value, by its class.

A row says how a value stands in the key of the specialisation (`signature`) and how it travels (`passed`), which
refuses what cannot. A class is looked at once. The generated function of a call (`fast_call`) reads the signatures,
`classify` the rest; a new kind of argument is a new row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flydsl.compile.dtypes import scalar_type
from flydsl.compile.specs import ScalarSpec, StreamSpec
from flydsl.expr.values.numeric import Boolean, Float32, Int32, Numeric
from flydsl.expr.values.struct import StructBase
from flydsl.expr.values.typing import Stream

from ..signature import MAKE_OPTIONAL
from .passed import Passed, of_protocol, of_struct, unwrapped
from .pointer import PointerArgument
from .registry import JitArgumentRegistry
from .tensor import TensorArgument, plain_spec
from .tensor_kinds import is_immutable_type, tensor_kind

__all__ = ["KINDS", "Kind", "kind_of"]


class Kind(NamedTuple):
    """One kind of argument.

    Attributes:
        name: for readers.
        holds: tells whether objects of a class are of this kind; the first row that says so has them.
        passed: takes what names the argument, and its value; says how it travels, or raises.
        signature: makes of a class what gives the signature of its objects, in a fraction of a microsecond. Values of
            equal signatures travel alike, not the other way round.
        is_own: it is a launch argument by itself, whatever the annotation of its parameter.
    """

    name: str
    holds: Callable[[type], bool]
    passed: Callable[[str, Any], Passed]
    signature: Callable[[type], Callable[[Any], Any]] = lambda kind: type
    is_own: bool = False


def _own_signature(kind: type) -> Callable[[Any], Any]:
    return lambda value: value.__cache_signature__()


def _tensor_signature(kind: type) -> Callable[[Any], Any]:
    found = tensor_kind(kind)
    assert found is not None
    return found.signature


def _wrapped_tensor(where: str, value: Any) -> Passed:
    return Passed(value.spec, unwrapped, immutable=is_immutable_type(type(value.tensor)))


def _tensor(where: str, value: Any) -> Passed:
    try:
        return Passed(plain_spec(value), immutable=is_immutable_type(type(value)))
    except (TypeError, RuntimeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def _number(where: str, value: Any) -> Passed:
    kind = type(value)
    return Passed(
        ScalarSpec(scalar_type(Boolean if kind is bool else Int32 if issubclass(kind, int) else Float32).name)
    )


def _is_numpy_scalar(kind: type) -> bool:
    return kind.__module__ == "numpy" and hasattr(kind, "itemsize") and not hasattr(kind, "__dlpack__")


def _other(where: str, value: Any) -> Passed:
    """Return how an object travels of whose class nothing is known: as a stream, or as somebody registered it."""
    kind = type(value)
    if isinstance(getattr(value, "cuda_stream", None), int):
        return Passed(StreamSpec())
    constructor = JitArgumentRegistry.constructor(kind)
    if constructor is None:
        raise TypeError(
            f"{where}: {kind.__module__}.{kind.__qualname__} is neither a JitArgument nor has a registered "
            "constructor. Arguments are tensors, numbers, streams, structs and what from_dlpack or from_c_void_p "
            "return; a Python value for use while tracing needs the annotation fx.Constexpr"
            + (f". {MAKE_OPTIONAL}" if value is None else "")
        )
    made = constructor(value)
    inner = kind_of(type(made)).passed(where, made)
    convert = inner.convert
    if convert is None:
        return inner._replace(convert=constructor)
    return inner._replace(convert=lambda one: convert(constructor(one)))


KINDS = (
    Kind("wrapped tensor", lambda kind: issubclass(kind, TensorArgument), _wrapped_tensor, _own_signature, True),
    Kind(
        "pointer",
        lambda kind: issubclass(kind, PointerArgument),
        lambda where, value: Passed(value.spec, unwrapped),
        _own_signature,
        True,
    ),
    Kind(
        "stream",
        lambda kind: issubclass(kind, Stream),
        lambda where, value: Passed(StreamSpec(), unwrapped),
        _own_signature,
        True,
    ),
    Kind(
        "scalar of the language",
        lambda kind: issubclass(kind, Numeric),
        lambda where, value: Passed(ScalarSpec(scalar_type(type(value)).name), unwrapped),
        is_own=True,
    ),
    Kind(
        "JitArgument",
        lambda kind: hasattr(kind, "__c_abi_spec__") and hasattr(kind, "__get_ir_types__"),
        lambda where, value: of_protocol(value),
        _own_signature,
        True,
    ),
    Kind(
        "struct",
        lambda kind: issubclass(kind, StructBase),
        lambda where, value: of_struct(value),
        _own_signature,
        True,
    ),
    Kind("tensor", lambda kind: tensor_kind(kind) is not None, _tensor, _tensor_signature),
    Kind("number", lambda kind: issubclass(kind, (bool, int, float)), _number),
    Kind(
        "scalar of NumPy",
        _is_numpy_scalar,
        lambda where, value: Passed(ScalarSpec(type(value).__name__.rstrip("_"))),
    ),
    Kind("other, with a signature", lambda kind: hasattr(kind, "__cache_signature__"), _other, _own_signature),
    Kind("other", lambda kind: True, _other),
)

_kinds: dict[type, Kind] = {}


def kind_of(kind: type) -> Kind:
    """Return the kind of argument that objects of a class are."""
    try:
        return _kinds[kind]
    except KeyError:
        found = _kinds[kind] = next(one for one in KINDS if one.holds(kind))
        return found
