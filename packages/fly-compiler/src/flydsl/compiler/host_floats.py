# SPDX-License-Identifier: Apache-2.0
"""16-bit floats in host functions: the conversions that a compiler's runtime library would bring.

A host without instructions for them computes in f32, and its code generator calls conversions by these names. An
artifact links no such library, so a module with 16-bit floats in its host functions defines them itself, by integer
operations. They round to nearest, ties to even.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flydsl._mlir import ir

from .walk import operations_in

if TYPE_CHECKING:
    from .tracing import Compilation

__all__ = ["define_conversions"]

# IEEE 754: f16 has 10 bits of fraction and bias 15, bf16 7 and 127, f32 23 and 127. Adding half of the last kept place,
# less one unit unless that place is odd, and cutting is rounding to nearest even; the carry runs into the exponent.
# A subnormal f16 is a multiple of 2^-24, which is the last place of 0.5 in f32: adding 0.5 rounds it.
# f64 goes by way of f32 rounded to odd: its last bit says whether something was cut, so the second rounding is right.
_CONVERSIONS = """
func.func @__extendhfsf2(%half: f16) -> f32 {
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %magnitude_mask = arith.constant 0x7fff : i32
  %sign_mask = arith.constant 0x8000 : i32
  %rebias = arith.constant 0x38000000 : i32
  %exponent = arith.constant 0x7f800000 : i32
  %least_normal = arith.constant 0x400 : i32
  %infinity = arith.constant 0x7c00 : i32
  %unit = arith.constant 5.9604644775390625e-08 : f32
  %short = arith.bitcast %half : f16 to i16
  %bits = arith.extui %short : i16 to i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %sign_bit = arith.andi %bits, %sign_mask : i32
  %sign = arith.shli %sign_bit, %c16 : i32
  %shifted = arith.shli %magnitude, %c13 : i32
  %normal = arith.addi %shifted, %rebias : i32
  %special = arith.ori %shifted, %exponent : i32
  %count = arith.uitofp %magnitude : i32 to f32
  %product = arith.mulf %count, %unit : f32
  %subnormal = arith.bitcast %product : f32 to i32
  %is_subnormal = arith.cmpi ult, %magnitude, %least_normal : i32
  %is_special = arith.cmpi uge, %magnitude, %infinity : i32
  %finite = arith.select %is_subnormal, %subnormal, %normal : i32
  %absolute = arith.select %is_special, %special, %finite : i32
  %result = arith.ori %absolute, %sign : i32
  %float = arith.bitcast %result : i32 to f32
  return %float : f32
}
func.func @__truncsfhf2(%float: f32) -> f16 {
  %c1 = arith.constant 1 : i32
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %magnitude_mask = arith.constant 0x7fffffff : i32
  %sign_mask = arith.constant 0x8000 : i32
  %exponent = arith.constant 0x7f800000 : i32
  %overflow = arith.constant 0x477ff000 : i32
  %least_normal = arith.constant 0x38800000 : i32
  %rebias = arith.constant 0x38000000 : i32
  %almost_half = arith.constant 0xfff : i32
  %fraction_mask = arith.constant 0x3ff : i32
  %quiet = arith.constant 0x7e00 : i32
  %infinity = arith.constant 0x7c00 : i32
  %half_one = arith.constant 5.0e-01 : f32
  %half_one_bits = arith.constant 0x3f000000 : i32
  %bits = arith.bitcast %float : f32 to i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %high = arith.shrui %bits, %c16 : i32
  %sign = arith.andi %high, %sign_mask : i32
  %cut = arith.shrui %magnitude, %c13 : i32
  %payload = arith.andi %cut, %fraction_mask : i32
  %nan = arith.ori %payload, %quiet : i32
  %odd = arith.andi %cut, %c1 : i32
  %rebiased = arith.subi %magnitude, %rebias : i32
  %up = arith.addi %rebiased, %almost_half : i32
  %rounded = arith.addi %up, %odd : i32
  %normal = arith.shrui %rounded, %c13 : i32
  %absolute_float = arith.bitcast %magnitude : i32 to f32
  %sum = arith.addf %absolute_float, %half_one : f32
  %sum_bits = arith.bitcast %sum : f32 to i32
  %subnormal = arith.subi %sum_bits, %half_one_bits : i32
  %is_subnormal = arith.cmpi ult, %magnitude, %least_normal : i32
  %is_infinite = arith.cmpi uge, %magnitude, %overflow : i32
  %is_nan = arith.cmpi ugt, %magnitude, %exponent : i32
  %finite = arith.select %is_subnormal, %subnormal, %normal : i32
  %number = arith.select %is_infinite, %infinity, %finite : i32
  %absolute = arith.select %is_nan, %nan, %number : i32
  %result = arith.ori %absolute, %sign : i32
  %short = arith.trunci %result : i32 to i16
  %half = arith.bitcast %short : i16 to f16
  return %half : f16
}
func.func @__truncsfbf2(%float: f32) -> bf16 {
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %magnitude_mask = arith.constant 0x7fffffff : i32
  %exponent = arith.constant 0x7f800000 : i32
  %almost_half = arith.constant 0x7fff : i32
  %quiet = arith.constant 0x40 : i32
  %bits = arith.bitcast %float : f32 to i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %cut = arith.shrui %bits, %c16 : i32
  %odd = arith.andi %cut, %c1 : i32
  %up = arith.addi %bits, %almost_half : i32
  %rounded = arith.addi %up, %odd : i32
  %number = arith.shrui %rounded, %c16 : i32
  %nan = arith.ori %cut, %quiet : i32
  %is_nan = arith.cmpi ugt, %magnitude, %exponent : i32
  %result = arith.select %is_nan, %nan, %number : i32
  %short = arith.trunci %result : i32 to i16
  %brain = arith.bitcast %short : i16 to bf16
  return %brain : bf16
}
func.func @__fly_truncate_to_odd(%double: f64) -> f32 {
  %magnitude_mask = arith.constant 0x7fffffffffffffff : i64
  %nearest = arith.truncf %double : f64 to f32
  %back = arith.extf %nearest : f32 to f64
  %inexact = arith.cmpf one, %back, %double : f64
  %double_bits = arith.bitcast %double : f64 to i64
  %back_bits = arith.bitcast %back : f64 to i64
  %double_magnitude = arith.andi %double_bits, %magnitude_mask : i64
  %back_magnitude = arith.andi %back_bits, %magnitude_mask : i64
  %larger = arith.cmpi ugt, %back_magnitude, %double_magnitude : i64
  %away = arith.andi %larger, %inexact : i1
  %bits = arith.bitcast %nearest : f32 to i32
  %step = arith.extui %away : i1 to i32
  %toward_zero = arith.subi %bits, %step : i32
  %sticky = arith.extui %inexact : i1 to i32
  %odd = arith.ori %toward_zero, %sticky : i32
  %float = arith.bitcast %odd : i32 to f32
  return %float : f32
}
func.func @__truncdfhf2(%double: f64) -> f16 {
  %float = call @__fly_truncate_to_odd(%double) : (f64) -> f32
  %half = call @__truncsfhf2(%float) : (f32) -> f16
  return %half : f16
}
func.func @__truncdfbf2(%double: f64) -> bf16 {
  %float = call @__fly_truncate_to_odd(%double) : (f64) -> f32
  %brain = call @__truncsfbf2(%float) : (f32) -> bf16
  return %brain : bf16
}
"""


def define_conversions(compilation: Compilation, module: ir.Module) -> None:
    """Add the conversions to a module whose host functions have 16-bit floats."""
    hosts = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    if not any(map(_has_short_floats, hosts)):
        return
    with ir.Location.unknown(compilation.context):
        conversions = ir.Module.parse(_CONVERSIONS, compilation.context)
    for op in conversions.body.operations:
        module.body.append(op.operation.clone())


def _has_short_floats(function: ir.Operation) -> bool:
    values = (one for op in operations_in(function) for one in (*op.results, *op.operands))
    return any(isinstance(one.type, (ir.F16Type, ir.BF16Type)) for one in values)
