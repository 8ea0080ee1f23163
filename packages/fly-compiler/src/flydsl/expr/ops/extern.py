# SPDX-License-Identifier: Apache-2.0
"""External device functions: `ffi(symbol, arg_types, ret_type)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace import context as _trace
from flydsl.trace.build import build_op

from ..values.numeric.base import as_numeric
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Float32, Float64, Int32, Int64, Uint32, Uint64

__all__ = ["ExternFunction", "ffi"]

_TYPES: dict[str, NumericMeta] = {
    "int32": Int32,
    "uint32": Uint32,
    "int64": Int64,
    "uint64": Uint64,
    "float32": Float32,
    "float64": Float64,
}


class ExternFunction:
    """A device function that is linked from elsewhere.

    Args:
        symbol: its name.
        arg_types: names of the argument types: int32, uint32, int64, uint64, float32, float64.
        ret_type: the name of the result's type, or void.
        is_pure: whether it neither reads nor writes memory.

    Raises:
        TypeError: link metadata, which `flydsl.compiler.extern_link` attaches.
    """

    def __init__(
        self, symbol: str, arg_types: Sequence[str], ret_type: str, is_pure: bool = False, **link: Any
    ) -> None:
        if link:
            raise TypeError(
                f"ffi takes no {', '.join(sorted(link))}; attach bitcode with "
                "flydsl.compiler.extern_link.link_extern(...)"
            )
        self.symbol, self.arg_types, self.ret_type, self.is_pure = symbol, list(arg_types), ret_type, is_pure

    def _class(self, name: str) -> NumericMeta:
        if name not in _TYPES:
            raise ValueError(f"'{name}' is no type of an external function; there are {', '.join(_TYPES)}")
        return _TYPES[name]

    def _declare(self, scope: _trace.KernelScope) -> None:
        result = None if self.ret_type == "void" else self._class(self.ret_type).ir_type
        kind = fly.llvm_function_type(result, [self._class(name).ir_type for name in self.arg_types])
        known = scope.externs.get(self.symbol)
        if known is not None:
            if known != kind:
                raise ValueError(f"'{self.symbol}' was declared as {known} in this kernel, now as {kind}")
            return
        scope.externs[self.symbol] = kind
        block = scope.gpu_module
        if block is None:
            raise RuntimeError("the kernel scope has no gpu.module to declare external functions in")
        for op in block.operations:
            if op.operation.name == "llvm.func" and ir.StringAttr(op.attributes["sym_name"]).value == self.symbol:
                return
        attributes: dict[str, ir.Attribute] = {
            "sym_name": ir.StringAttr.get(self.symbol),
            "function_type": ir.TypeAttr.get(kind),
            "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
        }
        if self.is_pure:
            attributes["memory_effects"] = ir.Attribute.parse(
                "#llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = none, "
                "targetMem0 = none, targetMem1 = none>"
            )
        with ir.InsertionPoint.at_block_begin(block):
            build_op("llvm.func", (), (), attributes, regions=1)

    def __call__(self, *args: Any) -> Any:
        """Call it in a kernel; integers of other widths are converted. Returns the raw SSA value, or `None`.

        Raises:
            RuntimeError: outside a kernel.
            TypeError: another number of arguments.
            ValueError: an unknown type name.
        """
        scope = _trace.kernel(f"the external function '{self.symbol}'")
        if len(args) != len(self.arg_types):
            raise TypeError(f"'{self.symbol}' takes {len(self.arg_types)} arguments, got {len(args)}")
        self._declare(scope)
        operands = [
            as_numeric(arg).to(self._class(name)).ir_value() for arg, name in zip(args, self.arg_types, strict=True)
        ]
        results = () if self.ret_type == "void" else (self._class(self.ret_type).ir_type,)
        attributes = {
            "callee": ir.FlatSymbolRefAttr.get(self.symbol),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        }
        op = build_op("llvm.call", operands, results, attributes)
        return op.results[0] if results else None


ffi = ExternFunction
