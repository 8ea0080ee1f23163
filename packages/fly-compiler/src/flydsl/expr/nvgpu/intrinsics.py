# SPDX-License-Identifier: Apache-2.0
"""Approximations, votes and conversions of NVIDIA GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import build_op

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.types import Float32, Int16, Int32, Uint32

__all__ = ["ballot", "exp2_approx", "log2_approx", "pack_e4m3", "reciprocal_approx", "rsqrt_approx"]


def _call(what: str, name: str, operands: Sequence[Numeric], result: ir.Type) -> ir.Value:
    target = _trace.target()
    if not target.nvidia:
        raise ValueError(f"fx.nvgpu.{what} needs an NVIDIA GPU, but the kernel is compiled for {target.name}")
    attributes = {
        "intrin": ir.StringAttr.get(name),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
    }
    op = build_op("llvm.call_intrinsic", [one.ir_value() for one in operands], (result,), attributes)
    value: ir.Value = op.results[0]
    return value


def _of_float(what: str, name: str, value: Numeric | float) -> Numeric:
    return wrap(Float32, _call(what, name, [as_numeric(value).to(Float32)], Float32.ir_type))


def ballot(predicate: Numeric | bool) -> Numeric:
    """Return the mask, `Uint32`, of the lanes of the warp whose predicate is true; all of them are here together.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    flag = as_numeric(predicate).__dsl_bool__()
    votes = _call("ballot", "llvm.nvvm.vote.ballot.sync", [Int32(-1), flag], Int32.ir_type)
    return wrap(Int32, votes).bitcast(Uint32)


def exp2_approx(value: Numeric | float) -> Numeric:
    """Return 2 to a Float32, within 2^-22 of the result (PTX ISA, `ex2.approx.ftz`); denormals count as 0.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    return _of_float("exp2_approx", "llvm.nvvm.ex2.approx.ftz.f32", value)


def log2_approx(value: Numeric | float) -> Numeric:
    """Return the binary logarithm of a Float32, within 2^-22 or as much of it (`lg2.approx.ftz`); denormals count as 0.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    return _of_float("log2_approx", "llvm.nvvm.lg2.approx.ftz.f", value)


def reciprocal_approx(value: Numeric | float) -> Numeric:
    """Return 1 over a Float32, within one unit of the last place (`rcp.approx.ftz`); denormals count as 0.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    return _of_float("reciprocal_approx", "llvm.nvvm.rcp.approx.ftz.f", value)


def rsqrt_approx(value: Numeric | float) -> Numeric:
    """Return 1 over the square root of a Float32, within 2^-22.9 of it (`rsqrt.approx.ftz`); denormals count as 0.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    return _of_float("rsqrt_approx", "llvm.nvvm.rsqrt.approx.ftz.f", value)


def pack_e4m3(low: Numeric | float, high: Numeric | float) -> Numeric:
    """Return two Float32 as the bits (`Int16`) of two Float8E4M3FN, `low` in the lower byte.

    Rounds to nearest even, and larger numbers to ±448.

    Raises:
        ValueError: the target is no NVIDIA GPU.
    """
    operands = [as_numeric(one).to(Float32) for one in (high, low)]
    return wrap(Int16, _call("pack_e4m3", "llvm.nvvm.ff.to.e4m3x2.rn", operands, Int16.ir_type))
