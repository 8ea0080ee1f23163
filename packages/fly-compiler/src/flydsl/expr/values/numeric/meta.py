# SPDX-License-Identifier: Apache-2.0
"""The metaclass of numeric types: what a type knows about itself."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import parse_type
from flydsl.trace.context import state

__all__ = ["NumericMeta", "class_of_ir_type", "class_of_mnemonic", "classes"]

_BY_MNEMONIC: dict[str, NumericMeta] = {}


class _Classes:
    """The numeric classes by name: `classes.Int32`.

    They are for the functions that the classes are made of, which stand below `numeric.types`.
    """

    def __getattr__(self, name: str) -> NumericMeta:
        raise AttributeError(f"no numeric class has the name '{name}'")


classes = _Classes()


class NumericMeta(type):
    """Type of the numeric classes; carries width, signedness and the MLIR type.

    Class attributes: `width` (bits), `log_width`, `signed` (`None` for floats), `is_integer`, `is_float`, `zero`,
    `ir_type` (in the current MLIR context) and `numpy_dtype` (`None` where numpy has no such type).
    """

    width: int
    signed: bool | None
    is_integer: bool
    is_float: bool
    mnemonic: str
    zero: int | float | bool

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        width: int = 0,
        mnemonic: str = "",
        signed: bool | None = None,
        canonical: bool = True,
        **kwargs: Any,
    ) -> NumericMeta:
        """Create the class; `canonical` ones are what `from_ir_type` gives for their mnemonic."""
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        if width:
            cls.width = width
            cls.mnemonic = mnemonic
            cls.signed = signed
            setattr(classes, name, cls)
            if canonical:
                _BY_MNEMONIC[mnemonic] = cls
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(name, bases, namespace)

    def __repr__(cls) -> str:
        return cls.__name__

    def __eq__(cls, other: object) -> bool:
        """Tell whether `other` is this class, or the dtype of torch or numpy for the same format.

        The hash stays that of the class, as numpy has it for its dtypes and their names.
        """
        if cls is other or isinstance(other, NumericMeta):
            return cls is other
        kind = type(other)
        if kind.__module__ == "torch" and kind.__name__ == "dtype":
            return str(other) == f"torch.{_framework_name(cls.__name__)}"
        if kind.__name__.endswith("DType") or kind.__name__.startswith("dtype["):
            return str(other) == _framework_name(cls.__name__)
        if isinstance(other, type) and other.__module__ == "numpy":  # float32 as a class; numpy 1 says bool_
            return other.__name__.rstrip("_") == _framework_name(cls.__name__)
        return False

    __hash__ = type.__hash__

    @property
    def log_width(cls) -> int:
        """The logarithm of the width to base 2, rounded up."""
        return (cls.width - 1).bit_length()

    @property
    def ir_type(cls) -> ir.Type:
        """The MLIR type in the current context."""
        return parse_type(cls.mnemonic)

    @property
    def numpy_dtype(cls) -> Any:
        """numpy's scalar class of the same format, `None` where numpy has none or is not installed."""
        return _numpy_dtype(cls.__name__)

    def from_ir_type(cls, ir_type: ir.Type) -> NumericMeta:
        """Return the class of an MLIR scalar type (i8 gives `Int8`, never an unsigned class).

        Raises:
            TypeError: no MLIR type.
            ValueError: no numeric class has that type.
        """
        if not isinstance(ir_type, ir.Type):
            raise TypeError(f"from_ir_type takes an MLIR type, not {type(ir_type).__name__}")
        return class_of_ir_type(ir_type)


_by_type: dict[tuple[ir.TypeID, int, bool], NumericMeta] = {}


def _identity(ir_type: ir.Type) -> tuple[ir.TypeID, int, bool]:
    """Return what tells one scalar type from another in any context: its kind, width and whether it has a sign."""
    kind = ir_type.typeid
    if kind != ir.IntegerType.static_typeid:
        return kind, 0, True
    integer = ir.IntegerType(ir_type)
    return kind, integer.width, integer.is_signless


def class_of_ir_type(ir_type: ir.Type) -> NumericMeta:
    """Return the numeric class of an MLIR scalar type; `ValueError` when there is none."""
    trace = state.trace
    if trace is not None:
        remembered: NumericMeta | None = trace.types.get(ir_type)
        if remembered is not None:
            return remembered
    identity = _identity(ir_type)
    found = _by_type.get(identity)
    if found is None:
        for cls in _BY_MNEMONIC.values():  # of which some may have been made since the last question
            _by_type[_identity(ir.Type.parse(cls.mnemonic, ir_type.context))] = cls
        found = _by_type.get(identity)
        if found is None:
            raise ValueError(f"no numeric type of the language has the MLIR type '{ir_type}'")
    if trace is not None:
        trace.types[ir_type] = found
    return found


def class_of_mnemonic(mnemonic: str) -> NumericMeta:
    """Return the numeric class of the MLIR scalar type of that name; `ValueError` when there is none."""
    found = _BY_MNEMONIC.get(mnemonic)
    if found is None:
        raise ValueError(f"no numeric type of the language has the MLIR type '{mnemonic}'")
    return found


def _framework_name(name: str) -> str:
    """Return what torch and numpy call a format: `Float8E4M3FN` is `float8_e4m3fn`."""
    if name == "Boolean":
        return "bool"
    return name.lower().replace("float8", "float8_") if name.startswith("Float8") else name.lower()


_NUMPY = {
    "Boolean": "bool_",
    "Int8": "int8",
    "Int16": "int16",
    "Int32": "int32",
    "Int64": "int64",
    "Uint8": "uint8",
    "Uint16": "uint16",
    "Uint32": "uint32",
    "Uint64": "uint64",
    "Index": "uint64",
    "Float16": "float16",
    "Float32": "float32",
    "Float64": "float64",
}


def _numpy_dtype(name: str) -> Any:
    if name not in _NUMPY:
        return None
    try:
        import numpy
    except ImportError:
        return None
    return getattr(numpy, _NUMPY[name])
