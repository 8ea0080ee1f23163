# SPDX-License-Identifier: Apache-2.0
"""Scalar instructions: arithmetic, logic, comparisons, EXEC, scalar memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case, case
from .kinds import Array
from .table_integer import M32, M64, leading_signs, leading_zeros, reverse, s32, trailing_zeros

Function = Callable[..., int]
Condition = Callable[..., bool] | None


def s64(v: int) -> int:
    return v - 2**64 if v >> 63 else v


def lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A definition on Python integers; scalars are the same in all lanes of a block."""

    def run(*values: Array) -> Any:
        rows = [function(*(int(v) for v in lane)) for lane in zip(*(v[::64] for v in values), strict=True)]

        def column(numbers: list[int]) -> Array:
            return np.repeat(np.array([int(n) & M64 for n in numbers], np.uint64), 64)

        if isinstance(rows[0], tuple):
            return tuple(column([row[i] for row in rows]) for i in range(len(rows[0])))
        return column(rows)

    return run


def with_scc(opcode: str, kinds: str, result: str, function: Function, condition: Condition = None) -> Case:
    """The result, and SCC: by `condition` of the sources, or unchanged (it is set to the last input's low bit)."""
    count = len(kinds.split())
    names = ", ".join("{" + x + "}" for x in "abc"[:count])
    bits = 64 if result.endswith("64") else 32
    carry = "abcg"[count]

    def define(*values: int) -> tuple[int, int]:
        *sources, before = values
        scc = bool(before & 1) if condition is None else condition(*sources)
        return function(*sources) & (2**bits - 1), scc

    code = f"s_bitcmp1_b32 {{{carry}}}, 0\n{{op}} {{d}}, {names}\ns_cselect_b32 {{e}}, 1, 0"
    inputs = " ".join(f"s:{k}" for k in (*kinds.split(), "u32"))
    return case(opcode, inputs, f"s:{result} s:u32", lanes(define), code)


def nonzero(function: Function, bits: int) -> Condition:
    return lambda *v: function(*v) & (2**bits - 1) != 0


def signed_overflow(function: Function) -> Condition:
    return lambda *v: not -(2**31) <= function(*v) < 2**31


LOGIC: dict[str, Function] = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}  # fmt: skip


def bfe(bits: int, signed: bool) -> Function:
    def run(a: int, b: int) -> int:
        offset, width = b & (bits - 1), b >> 16 & 127
        value = (a - (1 << bits) if a >> (bits - 1) else a) if signed else a
        field = value >> offset
        if width == 0:
            return 0
        if width >= bits:
            return field
        field &= (1 << width) - 1
        return field - (1 << width) if signed and field >> (width - 1) else field

    return run


def quads(v: int, bits: int) -> list[bool]:
    return [bool(v >> i & 15) for i in range(0, bits, 4)]


def quadmask(bits: int) -> Function:
    return lambda a: sum(q << i for i, q in enumerate(quads(a, bits)))


def wqm(bits: int) -> Function:
    return lambda a: sum((15 if q else 0) << 4 * i for i, q in enumerate(quads(a, bits)))


def popcount(v: int) -> int:
    return bin(v).count("1")


def arithmetic() -> list[Case]:
    add, sub = (lambda a, b: a + b), (lambda a, b: a - b)
    signed_add, signed_sub = (lambda a, b: s32(a) + s32(b)), (lambda a, b: s32(a) - s32(b))
    out = [
        with_scc("s_add_u32", "u32 u32", "u32", add, lambda a, b: a + b > M32),
        with_scc("s_sub_u32", "u32 u32", "u32", sub, lambda a, b: b > a),
        with_scc("s_add_i32", "u32 u32", "u32", signed_add, signed_overflow(signed_add)),
        with_scc("s_sub_i32", "u32 u32", "u32", signed_sub, signed_overflow(signed_sub)),
        with_scc("s_mul_i32", "u32 u32", "u32", lambda a, b: a * b),
        with_scc("s_mul_hi_u32", "u32 u32", "u32", lambda a, b: a * b >> 32),
        with_scc("s_mul_hi_i32", "u32 u32", "u32", lambda a, b: s32(a) * s32(b) >> 32),
        with_scc("s_min_i32", "u32 u32", "u32", lambda a, b: min(s32(a), s32(b)), lambda a, b: s32(a) < s32(b)),
        with_scc("s_max_i32", "u32 u32", "u32", lambda a, b: max(s32(a), s32(b)), lambda a, b: s32(a) >= s32(b)),
        with_scc("s_min_u32", "u32 u32", "u32", min, lambda a, b: a < b),
        with_scc("s_max_u32", "u32 u32", "u32", max, lambda a, b: a >= b),
        with_scc("s_abs_i32", "u32", "u32", lambda a: abs(s32(a)), lambda a: a != 0),
        with_scc("s_absdiff_i32", "u32 u32", "u32", lambda a, b: abs(s32(s32(a) - s32(b))), lambda a, b: a != b),
        with_scc("s_mov_b32", "u32", "u32", lambda a: a),
        with_scc("s_mov_b64", "u64", "u64", lambda a: a),
        with_scc("s_sext_i32_i8", "u32", "u32", lambda a: (a & 255 ^ 128) - 128),
        with_scc("s_sext_i32_i16", "u32", "u32", lambda a: (a & 0xFFFF ^ 0x8000) - 0x8000),
        with_scc("s_bfm_b32", "u32 u32", "u32", lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
        with_scc("s_bfm_b64", "u32 u32", "u64", lambda a, b: ((1 << (a & 63)) - 1) << (b & 63)),
        with_scc("s_pack_ll_b32_b16", "u32 u32", "u32", lambda a, b: a & 0xFFFF | b << 16),
        with_scc("s_pack_lh_b32_b16", "u32 u32", "u32", lambda a, b: a & 0xFFFF | b & 0xFFFF0000),
        with_scc("s_pack_hh_b32_b16", "u32 u32", "u32", lambda a, b: a >> 16 | b & 0xFFFF0000),
        with_scc("s_bitreplicate_b64_b32", "u32", "u64", lambda a: sum((a >> i & 1) * 3 << 2 * i for i in range(32))),
        with_scc("s_brev_b32", "u32", "u32", reverse),
        with_scc("s_brev_b64", "u64", "u64", lambda a: reverse(a, 64)),
        with_scc("s_ff0_i32_b32", "u32", "u32", lambda a: trailing_zeros(~a & M32)),
        with_scc("s_ff1_i32_b32", "u32", "u32", trailing_zeros),
        with_scc("s_ff0_i32_b64", "u64", "u32", lambda a: trailing_zeros(~a & M64)),
        with_scc("s_ff1_i32_b64", "u64", "u32", trailing_zeros),
        with_scc("s_flbit_i32_b32", "u32", "u32", leading_zeros),
        with_scc("s_flbit_i32_b64", "u64", "u32", lambda a: leading_zeros(a, 64)),
        with_scc("s_flbit_i32", "u32", "u32", leading_signs),
        with_scc("s_flbit_i32_i64", "u64", "u32", lambda a: leading_signs(a, 64)),
    ]
    for n in range(1, 5):
        out.append(
            with_scc(f"s_lshl{n}_add_u32", "u32 u32", "u32", lambda a, b, n=n: (a << n) + b,
                     lambda a, b, n=n: (a << n) + b > M32)
        )  # fmt: skip
    result_sets_scc: list[tuple[str, str, str, Function]] = [
        ("s_lshl_b32", "u32 u32", "u32", lambda a, b: a << (b & 31)),
        ("s_lshr_b32", "u32 u32", "u32", lambda a, b: a >> (b & 31)),
        ("s_ashr_i32", "u32 u32", "u32", lambda a, b: s32(a) >> (b & 31)),
        ("s_lshl_b64", "u64 u32", "u64", lambda a, b: a << (b & 63)),
        ("s_lshr_b64", "u64 u32", "u64", lambda a, b: a >> (b & 63)),
        ("s_ashr_i64", "u64 u32", "u64", lambda a, b: s64(a) >> (b & 63)),
        ("s_bfe_u32", "u32 u32", "u32", bfe(32, False)),
        ("s_bfe_i32", "u32 u32", "u32", bfe(32, True)),
        ("s_bfe_u64", "u64 u32", "u64", bfe(64, False)),
        ("s_bfe_i64", "u64 u32", "u64", bfe(64, True)),
        ("s_not_b32", "u32", "u32", lambda a: ~a),
        ("s_not_b64", "u64", "u64", lambda a: ~a),
        ("s_bcnt0_i32_b32", "u32", "u32", lambda a: 32 - popcount(a)),
        ("s_bcnt1_i32_b32", "u32", "u32", popcount),
        ("s_bcnt0_i32_b64", "u64", "u32", lambda a: 64 - popcount(a)),
        ("s_bcnt1_i32_b64", "u64", "u32", popcount),
        ("s_quadmask_b32", "u32", "u32", quadmask(32)),
        ("s_quadmask_b64", "u64", "u64", quadmask(64)),
        ("s_wqm_b32", "u32", "u32", wqm(32)),
        ("s_wqm_b64", "u64", "u64", wqm(64)),
    ]
    for name, function in LOGIC.items():
        result_sets_scc += [
            (f"s_{name}_b32", "u32 u32", "u32", function),
            (f"s_{name}_b64", "u64 u64", "u64", function),
        ]
    for opcode, kinds, result, function in result_sets_scc:
        out.append(with_scc(opcode, kinds, result, function, nonzero(function, 64 if result == "u64" else 32)))
    return out


def using_scc() -> list[Case]:
    """Instructions that read SCC: it is the low bit of the last input."""
    set_scc = "s_bitcmp1_b32 {c}, 0\n"
    return [
        case("s_addc_u32", "s:u32 s:u32 s:u32", "s:u32 s:u32",
             lanes(lambda a, b, c: ((a + b + (c & 1)) & M32, a + b + (c & 1) > M32)),
             set_scc + "{op} {d}, {a}, {b}\ns_cselect_b32 {e}, 1, 0"),
        case("s_subb_u32", "s:u32 s:u32 s:u32", "s:u32 s:u32",
             lanes(lambda a, b, c: ((a - b - (c & 1)) & M32, b + (c & 1) > a)),
             set_scc + "{op} {d}, {a}, {b}\ns_cselect_b32 {e}, 1, 0"),
        case("s_cselect_b32", "s:u32 s:u32 s:u32", "s:u32", lanes(lambda a, b, c: a if c & 1 else b),
             set_scc + "{op} {d}, {a}, {b}"),
        case("s_cselect_b64", "s:u64 s:u64 s:u32", "s:u64", lanes(lambda a, b, c: a if c & 1 else b),
             set_scc + "{op} {d}, {a}, {b}"),
        case("s_cmov_b32", "s:u32 s:u32 s:u32", "s:u32", lanes(lambda a, b, c: a if c & 1 else b),
             set_scc + "s_mov_b32 {d}, {b}\n{op} {d}, {a}"),
        case("s_cmov_b64", "s:u64 s:u64 s:u32", "s:u64", lanes(lambda a, b, c: a if c & 1 else b),
             set_scc + "s_mov_b64 {d}, {b}\n{op} {d}, {a}"),
        case("s_cmovk_i32", "s:u32 s:u32 s:u32", "s:u32", lanes(lambda a, b, c: -1234 & M32 if c & 1 else b),
             set_scc + "s_mov_b32 {d}, {b}\n{op} {d}, -1234"),
    ]  # fmt: skip


def constants() -> list[Case]:
    """SOPK: a 16-bit constant."""
    scc = "\ns_cselect_b32 {e}, 1, 0"
    out = []
    for k in (0x7FFF, -0x8000, -3):
        out += [
            case("s_movk_i32", "", "s:u32", lambda c, k=k: np.full(c.blocks * 64, k & M32, np.uint32),
                 f"{{op}} {{d}}, {k}", context=True, label=str(k)),
            case("s_addk_i32", "s:u32", "s:u32 s:u32",
                 lanes(lambda a, k=k: ((a + k) & M32, not -(2**31) <= s32(a) + k < 2**31)),
                 f"s_mov_b32 {{d}}, {{a}}\n{{op}} {{d}}, {k}" + scc, label=str(k)),
            case("s_mulk_i32", "s:u32", "s:u32", lanes(lambda a, k=k: a * k & M32),
                 f"s_mov_b32 {{d}}, {{a}}\n{{op}} {{d}}, {k}", label=str(k)),
        ]  # fmt: skip
    return out


COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}  # fmt: skip


def compares() -> list[Case]:
    out = []
    scc = "\ns_cselect_b32 {d}, 1, 0"
    for name, function in COMPARE.items():
        for kind in ("i32", "u32"):
            read = s32 if kind == "i32" else (lambda v: v)
            out.append(
                case(f"s_cmp_{name}_{kind}", "s:u32 s:u32", "s:u32",
                     lanes(lambda a, b, f=function, r=read: f(r(a), r(b))), "{op} {a}, {b}" + scc)
            )  # fmt: skip
            for k in (5, 0x7FFF, 0x8000, 0xFFFF) if kind == "u32" else (5, 0x7FFF, -0x8000, -1):
                value = np.uint32(k & M32)
                out.append(
                    case(f"s_cmpk_{name}_{kind}", "s:u32", "s:u32",
                         lanes(lambda a, f=function, r=read, k=k: f(r(a), k)), f"{{op}} {{a}}, {k}" + scc, label=str(k))
                )  # fmt: skip
                out.append(
                    case(f"s_cmpk_{name}_{kind}", "", "s:u32",
                         lambda c, f=function, r=read, k=k, v=value: np.full(c.blocks * 64, f(r(int(v)), k), np.uint32),
                         f"s_mov_b32 {{d}}, {int(value):#x}\n{{op}} {{d}}, {k}" + scc, label=f"{k} equal", context=True)
                )  # fmt: skip
    for name in ("eq", "lg"):
        out.append(case(f"s_cmp_{name}_u64", "s:u64 s:u64", "s:u32", lanes(COMPARE[name]), "{op} {a}, {b}" + scc))
        out.append(
            case(f"s_cmp_{name}_u64", "s:u64", "s:u32", lanes(lambda a, f=COMPARE[name]: f(a, a)),
                 "{op} {a}, {a}" + scc, label="equal")
        )  # fmt: skip
    for bits in (32, 64):
        for want in (0, 1):
            out.append(
                case(f"s_bitcmp{want}_b{bits}", f"s:u{bits} s:u32", "s:u32",
                     lanes(lambda a, b, w=want, n=bits: (a >> (b & (n - 1)) & 1) == w), "{op} {a}, {b}" + scc)
            )  # fmt: skip
            out.append(
                case(f"s_bitset{want}_b{bits}", f"s:u{bits} s:u32", f"s:u{bits}",
                     lanes(lambda a, b, w=want, n=bits: a | 1 << (b & n - 1) if w else a & ~(1 << (b & n - 1))),
                     f"s_mov_b{bits} {{d}}, {{a}}\n{{op}} {{d}}, {{b}}")
            )  # fmt: skip
    return out


EXEC_LOGIC: dict[str, Function] = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e, "andn2": lambda s, e: s & ~e,
    "orn2": lambda s, e: s | ~e, "nand": lambda s, e: ~(s & e), "nor": lambda s, e: ~(s | e),
    "xnor": lambda s, e: ~(s ^ e), "andn1": lambda s, e: ~s & e, "orn1": lambda s, e: ~s | e,
}  # fmt: skip


def exec_masks() -> list[Case]:
    out = []
    for name, function in EXEC_LOGIC.items():
        out.append(
            case(f"s_{name}_saveexec_b64", "s:u64 s:u64", "s:u64 s:u64 s:u32",
                 lanes(lambda a, b, f=function: (b, f(a, b) & M64, f(a, b) & M64 != 0)),
                 "s_mov_b64 exec, {b}\n{op} {d}, {a}\ns_mov_b64 {e}, exec\ns_cselect_b32 {f}, 1, 0")
        )  # fmt: skip
    for name in ("andn1", "andn2"):
        out.append(
            case(f"s_{name}_wrexec_b64", "s:u64 s:u64", "s:u64 s:u64 s:u32",
                 lanes(lambda a, b, f=EXEC_LOGIC[name]: (f(a, b) & M64, f(a, b) & M64, f(a, b) & M64 != 0)),
                 "s_mov_b64 exec, {b}\n{op} {d}, {a}\ns_mov_b64 {e}, exec\ns_cselect_b32 {f}, 1, 0")
        )  # fmt: skip
    return out


def relative() -> list[Case]:
    """s_movrel: M0 counts registers."""
    return [
        case("s_movrels_b32", "s:b128 s:u32<4", "s:u32", lambda a, m: np.take_along_axis(a, m[None].astype(int), 0)[0],
             "s_mov_b32 m0, {b}\n{op} {d}, s20"),
        case("s_movrels_b64", "s:b128 s:u32<2", "s:u64",
             lambda a, m: np.where(m == 0, a[0] | a[1].astype(np.uint64) << np.uint64(32),
                                   a[2] | a[3].astype(np.uint64) << np.uint64(32)),
             "s_lshl_b32 m0, {b}, 1\n{op} {d}, s[20:21]"),
        case("s_movreld_b32", "s:u32 s:u32<4", "s:b128",
             lambda c, a, m: np.where(np.arange(4)[:, None] == m[None], a[None], c.old[0]),
             "s_mov_b32 m0, {b}\n{op} s24, {a}", context=True),
        case("s_movreld_b64", "s:u64 s:u32<2", "s:b128",
             lambda c, a, m: np.where(np.arange(4)[:, None] // 2 == m[None],
                                      np.stack([a & np.uint64(M32), a >> np.uint64(32)] * 2), c.old[0]),
             "s_lshl_b32 m0, {b}, 1\n{op} s[24:25], {a}", context=True),
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*arithmetic(), *using_scc(), *constants(), *compares(), *exec_masks(), *relative()]
