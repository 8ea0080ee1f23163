# SPDX-License-Identifier: Apache-2.0
"""What the MODE register changes: rounding, denormals, output modifiers, IEEE minimum and maximum, f16 overflow."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from flydsl.emulator.device import Emulator

from . import exact
from .batch import Mode, run_batch
from .case import ARCHITECTURES, Case, Context, case
from .exact import FORMATS, fma, rounded_product, rounded_sum
from .kinds import Array
from .table_convert import FP8_FORMATS, codes8, float8
from .tables import TABLES

Runner = Callable[[list[Case], Mode], None]


@pytest.fixture
def check(emulator: Emulator, compile_object: Callable[..., bytes], arch: str) -> Runner:
    def run(cases: list[Case], mode: Mode) -> None:
        failures = run_batch(cases, emulator, compile_object, arch, ARCHITECTURES.index(arch), mode)
        assert not failures, "\n".join(failures)

    return run


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_rounding(check: Runner, mode: int) -> None:
    cases = []
    for form, f in FORMATS.items():
        if form == "bf16":
            continue
        cases += [
            case(f"v_add_{form}", f"{form} {form}", form, rounded_sum(f, mode)),
            case(f"v_mul_{form}", f"{form} {form}", form, rounded_product(f, mode)),
            case(f"v_fma_{form}", f"{form} {form} {form}", form, fma(f, mode), keep_high=form == "f16"),
        ]
    check(cases, Mode(round=mode))


def flushed(a: Array) -> Array:
    """Denormals as zeros of their sign."""
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def between(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *v: flushed(function(*(flushed(x) for x in v)).astype(v[0].dtype))


def test_denormals_are_flushed(check: Runner) -> None:
    cases = []
    for form, f in FORMATS.items():
        if form == "bf16":
            continue
        cases += [
            case(f"v_add_{form}", f"{form} {form}", form, between(lambda a, b: a + b)),
            case(f"v_mul_{form}", f"{form} {form}", form, between(_product(f))),
        ]
        cases += [
            case(f"v_min_{form}", f"{form} {form}", form, between(lambda a, b: exact.minimum(a, b, True))),
            case(f"v_max_{form}", f"{form} {form}", form, between(lambda a, b: exact.maximum(a, b, True))),
            case(f"v_frexp_mant_{form}", form, form, lambda a: np.where(np.isinf(a), a, np.frexp(flushed(a))[0])),
        ]
    cases.append(case("v_cvt_f32_f16", "f16", "f32", lambda a: flushed(a).astype(np.float32)))
    cases.append(case("v_cvt_f64_f32", "f32", "f64", lambda a: flushed(a).astype(np.float64)))
    cases.append(case("v_med3_f32", "f32 f32 f32", "f32", between(lambda a, b, c: exact.median(a, b, c, True))))
    check(cases, Mode(denormals=0))


def test_what_takes_floats_as_bits_keeps_denormals(check: Runner) -> None:
    """Class tests and selections, in any mode."""
    kept = re.compile("v_cmpx?_class_.*|v_cndmask_b32")
    cases = [one for name in ("compare", "integer") for one in TABLES[name]() if kept.fullmatch(one.opcode)]
    assert len(cases) > 6
    check(cases, Mode(denormals=0))


def _product(form: exact.Format) -> Callable[..., Array]:
    """A product that is below the normal numbers when rounded with an unbounded exponent is flushed (assumed)."""
    tiny, up = exact.fraction(np.finfo(form.dtype).tiny), Fraction(2) ** 20

    def one(a: Any, b: Any) -> Any:
        x, y = float(a), float(b)
        if np.isfinite([x, y]).all():
            product = exact.fraction(x) * exact.fraction(y)
            if abs(product) < 2 * tiny and abs(exact.fraction(form.round(product * up))) < tiny * up:
                return np.copysign(0.0, np.copysign(1.0, x) * np.copysign(1.0, y))
        return rounded_product(form)(np.array([a]), np.array([b]))[0]

    return exact.lanewise(one, form.dtype)


@pytest.mark.parametrize(("modifier", "factor"), [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)])
def test_output_modifiers_act_where_denormals_are_flushed(check: Runner, modifier: str, factor: float) -> None:
    def scaled(*v: Array) -> Array:
        value = between(lambda a, b: a + b)(*v)
        out = flushed((value * value.dtype.type(factor)).astype(value.dtype))
        return np.where(out == 0, value.dtype.type(0), out)

    cases = [case(f"v_add_{f}", f"{f} {f}", f, scaled, f"{{op}}_e64 {{d}}, {{a}}, {{b}} {modifier}")
             for f in ("f16", "f32", "f64")]  # fmt: skip
    cases = [one.but(code=one.code.replace("_e64", "")) if "f64" in one.opcode else one for one in cases]
    check(cases, Mode(ieee=0, denormals=0))
    plain = [one.but(define=lambda _, a, b: a + b) for one in cases]
    check(plain, Mode(ieee=0, denormals=3))


def test_signalling_nans_matter_in_ieee_mode_only(check: Runner) -> None:
    cases: list[Case] = []
    for f in ("f16", "f32", "f64"):
        low: Any = lambda a, b: exact.minimum(a, b, False)  # noqa: E731
        high: Any = lambda a, b: exact.maximum(a, b, False)  # noqa: E731
        cases += [case(f"v_min_{f}", f"{f} {f}", f, low), case(f"v_max_{f}", f"{f} {f}", f, high)]
    check(cases, Mode(ieee=0))


def test_overflow_of_halves_and_fp8_saturates(check: Runner) -> None:
    """MODE.FP16_OVFL; infinities stay what they are in f16, and saturate in fp8."""

    def half(a: Array) -> Array:
        out = a.astype(np.float16)
        return np.where(np.isinf(out) & np.isfinite(a), np.copysign(np.float16(65504), out), out).astype(np.float16)

    def small(narrow: bool) -> Callable[..., Array]:
        def run(context: Context, a: Array, b: Array) -> Array:
            dtype = float8(context, narrow)
            limit = FP8_FORMATS[dtype][1]
            first, second = (codes8(context, np.clip(v, -limit, limit).astype(dtype)) for v in (a, b))
            value: Array = context.old[0][0] & np.uint32(0xFFFF0000) | first | second << np.uint32(8)
            return value

        return run

    cases = [
        case("v_cvt_f16_f32", "f32", "f16", half),
        case("v_cvt_pk_fp8_f32", "f32 f32", "u32", small(False), context=True),
        case("v_cvt_pk_bf8_f32", "f32 f32", "u32", small(True), context=True),
    ]
    check(cases, Mode(overflow=1))


def test_nans_keep_their_payload_and_invalid_operations_give_the_positive_one(check: Runner) -> None:
    """Bits, not just that it is a NaN."""

    def bits(a: Array, b: Array) -> Array:
        x, y = (v.view(np.float32) for v in (a, b))
        nan = np.where(np.isnan(x), a | np.uint32(1 << 22), np.where(np.isnan(y), b | np.uint32(1 << 22), 0x7FC00000))
        return np.where(np.isnan(x + y), nan, (x + y).view(np.uint32)).astype(np.uint32)

    floats = case("v_add_f32", "f32 f32", "u32", lambda a, b: bits(a.view(np.uint32), b.view(np.uint32)))
    check([floats], Mode())
