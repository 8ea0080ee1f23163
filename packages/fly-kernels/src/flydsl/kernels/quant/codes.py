# SPDX-License-Identifier: Apache-2.0
"""The 8-bit types that kernels quantise to, and what their arguments have to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..common.arch import architecture
from ..common.convert import Divisor, divide_by_number, to_fp8, to_int8
from ..common.language import fx


@dataclass(frozen=True)
class Code:
    """An 8-bit type: its name, its largest number, the element types that an output may have."""

    name: str
    largest: float
    elements: tuple[str, ...]

    def encode(self, values: Any, element: type[fx.Numeric]) -> Any:
        """A vector of Float32 within [-largest, largest] up to rounding, rounded to nearest even.

        Its bits, as a vector of `element`, which is one of `elements`.
        """
        bits = to_fp8(values) if self.name == "fp8" else to_int8(values, nearest=True)
        return bits if element is fx.Int8 else bits.bitcast(element)

    def scale_of(self, amax: fx.Float32) -> fx.Float32:
        """amax / largest of a Float32 that is not negative, rounded to nearest even; 1 where amax is 0.

        It is 2^-126 or more, a normal number: by one of a few bits a quotient could be beyond the range.
        """
        scale = fx.max(divide_by_number(amax, self.largest), fx.Float32(2.0**-126))
        found: fx.Float32 = (amax == 0.0).select(fx.Float32(1.0), scale)
        return found

    def quantise(self, values: fx.Vector, divisor: Divisor, element: type[fx.Numeric]) -> fx.Vector:
        """`encode` of values / scale, the quotient being rounded to Float32 first."""
        codes: fx.Vector = self.encode(divisor.of(values), element)
        return codes

    def limited(self, values: fx.Vector) -> fx.Vector:
        """A vector of Float32 with what is beyond [-largest, largest] set to that; NaN stays."""
        parts = []
        for index in range(values.numel):
            one = values[index]
            inside = fx.max(fx.min(one, self.largest), -self.largest)
            parts.append((one == one).select(inside, one))
        return fx.Vector.from_elements(parts)

    def expect(self, name: str, tensor: Any) -> None:
        """Refuse an output of another type; raises TypeError."""
        allowed = [getattr(fx, element) for element in self.elements]
        if tensor.element_type not in allowed:
            names = " or ".join(one.__name__ for one in allowed)
            raise TypeError(f"argument {name!r}: expected {names}, got {tensor.element_type.__name__}")


def code(quant_dtype_str: str) -> Code:
    """ "fp8" (E4M3: FNUZ on gfx942, OCP on gfx950; also written into int8 or uint8 tensors), or "int8" / "i8".

    Raises ValueError for any other name.
    """
    if quant_dtype_str in ("int8", "i8"):
        return Code("int8", 127.0, ("Int8",))
    if quant_dtype_str == "fp8":
        target = architecture()
        return Code("fp8", target.fp8.largest, (target.fp8.name, "Int8", "Uint8"))
    raise ValueError(f"quant_dtype_str {quant_dtype_str!r} is not supported; use 'fp8' or 'int8'")
