# SPDX-License-Identifier: Apache-2.0
"""Vector floating-point instructions against numpy, ml_dtypes and exact fractions, on special and random operands.

Arithmetic is compared bit for bit (any NaN equals any NaN here; payloads are tested apart); transcendental
instructions within one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from .harness import LANES, Probe, Words, specials_f32

np.seterr(all="ignore")
FINITE_F16 = np.arange(65536, dtype=np.uint32)


def pairs(seed: int, count: int) -> Words:
    rng = np.random.default_rng(seed)
    special = specials_f32()
    return np.stack([special] + [rng.permutation(special) for _ in range(count - 1)])


def same_f32(got: Words, want: np.ndarray) -> None:
    got_f, want_f = got.view(np.float32), want.astype(np.float32)
    both_nan = np.isnan(got_f) & np.isnan(want_f)
    np.testing.assert_array_equal(got[~both_nan], want_f.view(np.uint32)[~both_nan])


def fma32(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    if not all(np.isfinite([a, b, c])):
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    return round_f32(exact)


def round_f32(exact: Fraction) -> np.float32:
    """Round to nearest even, with subnormals and overflow."""
    sign, magnitude = (-1.0 if exact < 0 else 1.0), abs(exact)
    exponent = -149
    while magnitude >= Fraction(2) ** (exponent + 24):
        exponent += 1
    scaled = magnitude / Fraction(2) ** exponent
    integer = scaled.numerator // scaled.denominator
    rest = scaled - integer
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and integer % 2):
        integer += 1
    value = Fraction(integer) * Fraction(2) ** exponent
    return np.float32(sign * (np.inf if value >= Fraction(2) ** 128 else float(value)))


F32: dict[str, Callable[..., np.ndarray]] = {
    "v_add_f32": lambda a, b: a + b,
    "v_sub_f32": lambda a, b: a - b,
    "v_subrev_f32": lambda a, b: b - a,
    "v_mul_f32": lambda a, b: a * b,
    "v_floor_f32": np.floor,
    "v_ceil_f32": np.ceil,
    "v_trunc_f32": np.trunc,
    "v_rndne_f32": np.rint,
    "v_fma_f32": lambda a, b, c: np.array([fma32(*v) for v in zip(a, b, c, strict=True)]),
    "v_ldexp_f32": lambda a, b: np.ldexp(a.astype(np.float64), np.clip(b.view(np.int32), -400, 400)),
}


@pytest.mark.parametrize("name", F32)
def test_f32(probe: Probe, name: str) -> None:
    function = F32[name]
    count = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    inputs = pairs(len(name), count)
    if name == "v_ldexp_f32":
        inputs[1] = np.random.default_rng(0).integers(-300, 300, LANES).astype(np.int32).view(np.uint32)
    operands = ", ".join(f"v{10 + i}" for i in range(count))
    got = probe.run(f"{name} v5, {operands}", inputs, ["v5"])
    same_f32(got[0], function(*inputs.view(np.float32)))


@pytest.mark.parametrize(("modifiers", "function"), [
    ("-v10, |v11|", lambda a, b: -a + np.abs(b)),
    ("v10, -|v11|", lambda a, b: a - np.abs(b)),
    ("v10, v11 mul:2", lambda a, b: (a + b) * np.float32(2)),
    ("v10, v11 mul:4", lambda a, b: (a + b) * np.float32(4)),
    ("v10, v11 div:2", lambda a, b: (a + b) * np.float32(0.5)),
])  # fmt: skip
def test_modifiers(probe: Probe, modifiers: str, function: Callable[..., np.ndarray]) -> None:
    inputs = pairs(3, 2)
    got = probe.run(f"v_add_f32_e64 v5, {modifiers}", inputs, ["v5"])
    same_f32(got[0], function(*inputs.view(np.float32)))


def test_clamp(probe: Probe) -> None:
    inputs = pairs(4, 2)
    got = probe.run("v_add_f32_e64 v5, v10, v11 clamp", inputs, ["v5"])
    total = inputs[0].view(np.float32) + inputs[1].view(np.float32)
    want = np.where(np.isnan(total), 0, np.clip(total, 0, 1)).astype(np.float32)
    np.testing.assert_array_equal(got[0].view(np.float32), want)


@pytest.mark.parametrize("maximum", [False, True])
def test_minimum_and_maximum(probe: Probe, maximum: bool) -> None:
    inputs = pairs(5, 2)
    name = "v_max_f32" if maximum else "v_min_f32"
    got = probe.run(f"{name} v5, v10, v11", inputs, ["v5"])[0]
    for lane in range(LANES):
        a, b = inputs[:, lane].view(np.float32)
        if np.isnan(a) or np.isnan(b):
            want = b if np.isnan(a) else a
            assert np.isnan(got[lane : lane + 1].view(np.float32)[0]) or got[lane] == want.view(np.uint32)
            continue
        key = lambda v: (v, not np.signbit(v))  # noqa: E731 - -0 is below +0
        want = max(a, b, key=key) if maximum else min(a, b, key=key)
        assert got[lane] == want.view(np.uint32)


def test_invalid_operations_give_the_positive_nan(probe: Probe) -> None:
    inputs = np.zeros((2, LANES), np.uint32)
    inputs[0], inputs[1] = 0x7F800000, 0xFF800000
    inputs[0, 1] = 0x7F812345  # a signalling NaN is quieted
    got = probe.run("v_add_f32 v5, v10, v11", inputs, ["v5"])[0]
    assert got[0] == 0x7FC00000
    assert got[1] == 0x7FC12345


TRANSCENDENTAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "v_exp_f32": np.exp2,
    "v_log_f32": np.log2,
    "v_rcp_f32": lambda a: 1 / a,
    "v_rsq_f32": lambda a: 1 / np.sqrt(a),
    "v_sqrt_f32": np.sqrt,
    "v_sin_f32": lambda a: np.sin(2 * np.pi * (a - np.rint(a))),
    "v_cos_f32": lambda a: np.cos(2 * np.pi * (a - np.rint(a))),
}


@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_transcendental_within_one_ulp(probe: Probe, name: str) -> None:
    rng = np.random.default_rng(6)
    x = (rng.standard_normal(LANES) * rng.choice([0.01, 1, 50], LANES)).astype(np.float32)
    x = np.abs(x) if name in ("v_log_f32", "v_rsq_f32", "v_sqrt_f32") else x
    got = probe.run(f"{name} v5, v10", x.view(np.uint32), ["v5"])[0].view(np.float32)
    want = TRANSCENDENTAL[name](x.astype(np.float64))
    unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    assert np.all(np.abs(got.astype(np.float64) - want) <= unit)


@pytest.mark.parametrize("name", ["v_add_f16", "v_sub_f16", "v_mul_f16"])
def test_f16(probe: Probe, name: str) -> None:
    rng = np.random.default_rng(7)
    inputs = rng.integers(0, 65536, (2, LANES), dtype=np.uint32)
    a, b = inputs.astype(np.uint16).view(np.float16)
    want = {"v_add_f16": a + b, "v_sub_f16": a - b, "v_mul_f16": a * b}[name]
    got = probe.run(f"{name} v5, v10, v11", inputs, ["v5"])[0]
    assert not (got >> 16).any()
    nan = np.isnan(want)
    np.testing.assert_array_equal(got[~nan], want.view(np.uint16)[~nan])


def test_packed_f16_with_op_sel_and_negation(probe: Probe) -> None:
    rng = np.random.default_rng(8)
    halves = rng.standard_normal((2, LANES, 2)).astype(np.float16)
    inputs = halves.view(np.uint32)[..., 0]
    got = probe.run("v_pk_add_f16 v5, v10, v11 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]", inputs, ["v5"])
    a, b = halves
    want = np.stack([a[:, 1] - b[:, 0], -a[:, 0] + b[:, 1]], axis=1)
    np.testing.assert_array_equal(got[0].view(np.float16).reshape(LANES, 2), want)


def test_packed_f32(probe: Probe) -> None:
    inputs = pairs(9, 6)
    got = probe.run(
        "v_pk_fma_f32 v[4:5], v[10:11], v[12:13], v[14:15] op_sel_hi:[0,1,1] neg_lo:[1,0,0]", inputs, ["v4", "v5"]
    )
    a, b, c = inputs.view(np.float32).reshape(3, 2, LANES)
    for half, row in enumerate(got):
        first = -a[0] if half == 0 else a[0]
        same_f32(row, np.array([fma32(*v) for v in zip(first, b[half], c[half], strict=True)]))


@pytest.mark.parametrize(
    ("instruction", "dtype"), [("v_cvt_f16_f32", np.float16), ("v_cvt_pk_bf16_f32", ml_dtypes.bfloat16)]
)
def test_narrowing_rounds_to_nearest_even(probe: Probe, instruction: str, dtype: type) -> None:
    if instruction == "v_cvt_pk_bf16_f32" and probe.arch != "gfx950":
        pytest.skip("gfx942 has no v_cvt_pk_bf16_f32")
    inputs = pairs(10, 2)
    packed = "pk" in instruction
    got = probe.run(f"{instruction} v5, v10" + (", v11" if packed else ""), inputs, ["v5"])[0]
    parts = [got & 0xFFFF, got >> 16] if packed else [got]
    for part, source in zip(parts, inputs, strict=False):
        want = source.view(np.float32).astype(dtype)
        nan = np.isnan(want.astype(np.float32))
        np.testing.assert_array_equal(part[~nan], want.view(np.uint16)[~nan])


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_fp8_is_fnuz_on_gfx942_and_ocp_on_gfx950(probe: Probe, kind: str) -> None:
    ocp = probe.arch == "gfx950"
    dtype = {
        ("fp8", False): ml_dtypes.float8_e4m3fnuz, ("fp8", True): ml_dtypes.float8_e4m3fn,
        ("bf8", False): ml_dtypes.float8_e5m2fnuz, ("bf8", True): ml_dtypes.float8_e5m2,
    }[kind, ocp]  # fmt: skip
    for start in range(0, 256, LANES):
        codes = np.arange(start, start + LANES, dtype=np.uint32)
        got = probe.run(f"v_cvt_f32_{kind} v5, v10", codes, ["v5"])[0].view(np.float32)
        np.testing.assert_array_equal(got, codes.astype(np.uint8).view(dtype).astype(np.float32))
    rng = np.random.default_rng(11)
    x = (rng.standard_normal((2, LANES)) * rng.choice([1e-3, 0.1, 10, 100], (2, LANES))).astype(np.float32)
    got = probe.run(
        f"v_cvt_pk_{kind}_f32 v5, v10, v11\nv_cvt_pk_{kind}_f32 v5, v11, v10 op_sel:[0,0,1]", x.view(np.uint32), ["v5"]
    )[0]
    want = x.astype(dtype).view(np.uint8).astype(np.uint32)
    np.testing.assert_array_equal(got, want[0] | want[1] << 8 | want[1] << 16 | want[0] << 24)


def test_conversions_to_integers_saturate(probe: Probe) -> None:
    x = specials_f32()
    got = probe.run(["v_cvt_i32_f32 v5, v10", "v_cvt_u32_f32 v6, v10"], x, ["v5", "v6"])
    for lane, value in enumerate(x.view(np.float32)):
        signed = 0 if np.isnan(value) else int(np.clip(np.trunc(np.float64(value)), -(2**31), 2**31 - 1))
        unsigned = 0 if np.isnan(value) else int(np.clip(np.trunc(np.float64(value)), 0, 2**32 - 1))
        assert int(got[0, lane]) == signed % 2**32
        assert int(got[1, lane]) == unsigned


@pytest.mark.parametrize(
    "operator", ["lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"]
)
def test_float_comparisons(probe: Probe, operator: str) -> None:
    inputs = pairs(12, 2)
    inputs[1, ::4] = inputs[0, ::4]
    a, b = inputs.view(np.float32)
    base = {
        "lt": a < b, "eq": a == b, "le": a <= b, "gt": a > b, "lg": (a < b) | (a > b), "ge": a >= b,
        "o": ~(np.isnan(a) | np.isnan(b)), "u": np.isnan(a) | np.isnan(b),
    }  # fmt: skip
    want = base[operator] if operator in base else ~base[{"neq": "eq"}.get(operator, operator[1:])]
    got = probe.run(f"v_cmp_{operator}_f32 s[20:21], v10, v11", inputs, ["s20", "s21"])
    mask = int(got[0, 0]) | int(got[1, 0]) << 32
    assert mask == sum(int(v) << lane for lane, v in enumerate(want))
