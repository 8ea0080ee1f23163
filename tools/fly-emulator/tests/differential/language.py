# SPDX-License-Identifier: Apache-2.0
"""The C that random programs are made of: types, helpers, and expressions by the type of their result.

Floating point is kept to what IEEE 754 defines (no contraction, no excess precision); NaNs are made canonical before
their bits can be seen. Shifts, divisions and conversions are kept inside what C defines.
"""

from __future__ import annotations

PRELUDE = """
typedef unsigned u32; typedef int s32; typedef unsigned long u64; typedef long s64;
typedef unsigned short u16; typedef short s16; typedef unsigned char u8; typedef signed char s8;
typedef float f32; typedef double f64; typedef _Float16 f16; typedef __bf16 bf16;
typedef u32 u32x4 __attribute__((ext_vector_type(4), aligned(4)));
typedef f16 h2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
static inline u32 bits32(f32 v) { return v != v ? 0x7fc00000u : __builtin_bit_cast(u32, v); }
static inline u64 bits64(f64 v) { return v != v ? 0x7ff8000000000000ul : __builtin_bit_cast(u64, v); }
static inline u32 bits16(f16 v) { return v != v ? 0x7e00u : __builtin_bit_cast(u16, v); }
static inline u32 bitsb16(bf16 v) { f32 w = (f32)v; return w != w ? 0x7fc0u : __builtin_bit_cast(u16, v); }
static inline f32 to32(u32 v) { f32 f = __builtin_bit_cast(f32, v); return f != f ? 1.5f : f; }
static inline f64 to64(u64 v) { f64 f = __builtin_bit_cast(f64, v); return f != f ? 1.5 : f; }
static inline f16 to16(u32 v) { f16 f = __builtin_bit_cast(f16, (u16)v); return f != f ? (f16)1.5f : f; }
static inline bf16 tob16(u32 v) { bf16 f = __builtin_bit_cast(bf16, (u16)v); return (f32)f != (f32)f ? (bf16)1.5f : f; }
static inline u32 bitsh2(h2 v) { return bits16(v.x) | bits16(v.y) << 16; }
static inline h2 toh2(u32 v) { return (h2){to16(v), to16(v >> 16)}; }
static inline u16x2 tou2(u32 v) { return __builtin_bit_cast(u16x2, v); }
static inline u32 bitsu2(u16x2 v) { return __builtin_bit_cast(u32, v); }
static inline s32 int32(f32 v) { return v > -2e9f && v < 2e9f ? (s32)v : 77; }
static inline u32 uint32(f32 v) { return v > -1.0f && v < 4e9f ? (u32)v : 78; }
static inline s32 int64(f64 v) { return v > -2e9 && v < 2e9 ? (s32)v : 79; }
#ifdef __AMDGCN__
#define SHARED static __attribute__((address_space(3), loader_uninitialized))
#define LDS __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
#define ATOMIC(op, p, v) __scoped_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#else
#define SHARED static
#define LDS
#define GLOBAL
#define ATOMIC(op, p, v) __atomic_fetch_##op(p, v, __ATOMIC_RELAXED)
/* x86 has no instruction for this one, and the runtime library of older compilers has no function. */
bf16 __truncsfbf2(f32 v) {
  u32 b = __builtin_bit_cast(u32, v);
  u16 r = v != v ? (u16)((b >> 16) | 64) : (u16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
  return __builtin_bit_cast(bf16, r);
}
#endif
"""

# Signs are only changed of what an instruction made: LLVM 22's StructurizeCFG loses a lone negation or absolute value
# at the end of a block with several predecessors, as a case is that others fall through to.
BINARY = {
    "u32": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} & {b})", "({a} | {b})", "({a} ^ {b})",
            "({a} << ({b} & 31))", "({a} >> ({b} & 31))", "({a} / ({b} | 1))", "({a} % ({b} | 1))",
            "(u32)((u64){a} * {b} >> 32)", "({a} < {b} ? {a} : {b})", "({a} > {b} ? {a} : {b})",
            "(({a} << ({b} & 7)) + {c})", "(({a} & {b}) | {c})", "({a} + {b} + {c})", "(u32)(u8){a}",
            "(u32)(s32)(s8){a}", "(u32)(u16){a} * (u16){b}", "(u32)((s32)(s16){a} * (s16){b})",
            "(u32)__builtin_popcount({a})", "(u32)__builtin_clz({a} | 1)", "(u32)__builtin_ctz({a} | 256)",
            "__builtin_bitreverse32({a})", "__builtin_bswap32({a})", "__builtin_rotateleft32({a}, {b} & 31)",
            "(({a} >> ({b} & 15)) & 255)", "__builtin_fshl32({a}, {b})"],
    "s32": ["(s32)((u32){a} + (u32){b})", "(s32)((u32){a} - (u32){b})", "(s32)((u32){a} * (u32){b})",
            "({a} >> ({b} & 31))", "({a} / (({b} & 1023) + 3))", "({a} % (({b} & 1023) + 3))",
            "(s32)((s64){a} * {b} >> 32)", "({a} < {b} ? {a} : {b})", "({a} > {b} ? {a} : {b})",
            "({a} < 0 ? (s32)(0u - (u32){a}) : {a})", "(s32)(s16){a}", "((s32)((u32){a} << 12) >> 20)"],
    "u64": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} ^ {b})", "({a} & {b})", "({a} | {b})",
            "({a} << ({b} & 63))", "({a} >> ({b} & 63))", "(u64)((s64){a} >> ({b} & 63))",
            "({a} < {b} ? {a} : {b})", "((s64){a} > (s64){b} ? {a} : {b})", "({a} / ({b} | 1))",
            "(u64)__builtin_popcountl({a})", "(u64)__builtin_clzl({a} | 1)"],
    "f32": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "__builtin_fmaf({a}, {b}, {c})",
            "__builtin_sqrtf(__builtin_fabsf({a}))", "__builtin_floorf({a})", "__builtin_ceilf({a})",
            "__builtin_truncf({a})", "__builtin_rintf({a})", "({a} < {b} ? {a} : {b})", "({a} >= {b} ? {a} : {b})",
            "-({a} + 0.5f)", "__builtin_fabsf({a} + 0.5f)", "__builtin_copysignf({a}, {b} == {b} ? {b} : -1.0f)",
            "({a} == {a} && {b} == {b} ? __builtin_fmaxf({a}, {b} + 0.25f) : 0.5f)"],
    "f64": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "__builtin_fma({a}, {b}, {c})",
            "__builtin_sqrt(__builtin_fabs({a}))", "__builtin_floor({a})", "__builtin_trunc({a})",
            "__builtin_rint({a})", "({a} < {b} ? {a} : {b})", "-({a} + 0.5)", "__builtin_fabs({a} + 0.5)"],
    "f16": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "({a} < {b} ? {a} : {b})",
            "-({a} + (f16)0.5f)"],
    "bf16": ["(bf16)((f32){a} + (f32){b})", "(bf16)((f32){a} * (f32){b})",
             "(bf16)__builtin_fmaf((f32){a}, (f32){b}, (f32){c})"],
    "s64": ["(s64)((u64){a} + (u64){b})", "(s64)((u64){a} - (u64){b})", "(s64)((u64){a} * (u64){b})",
            "({a} >> ({b} & 63))", "(s64)((u64){a} << ({b} & 63))", "({a} / (({b} & 0xffffff) + 5))",
            "({a} % (({b} & 0xffffff) + 5))", "({a} < {b} ? {a} : {b})", "({a} < 0 ? (s64)(0ul - (u64){a}) : {a})",
            "(s64)(s32){a} * (s32){b}", "(s64)(s16){a}"],
    "h2": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "-({a} + {b})",
           "__builtin_elementwise_abs({a} - {b})",
           "(h2){{{a}.y, {b}.x}}", "({a} * {b}.yx)", "({a} + {b}.xx)",
           "(h2){{{a}.x < {b}.x ? {a}.x : {b}.x, {a}.y < {b}.y ? {a}.y : {b}.y}}"],
    "u2": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} & {b})", "({a} ^ {b})", "({a} << ({b} & (u16)7))",
           "({a} >> ({b} & (u16)15))", "__builtin_elementwise_max({a}, {b})", "__builtin_elementwise_min({a}, {b})",
           "(u16x2){{{a}.y, {b}.x}}", "({a} * {b} + {c})", "__builtin_elementwise_add_sat({a}, {b})",
           "__builtin_elementwise_sub_sat({a}, {b})"],
}  # fmt: skip

CONVERT = {
    ("u32", "s32"): "(s32){a}", ("u32", "u64"): "((u64){a} * 0x9e3779b97f4a7c15ul)", ("u32", "f32"): "to32({a})",
    ("u32", "f16"): "to16({a})", ("u32", "bf16"): "tob16({a})", ("s32", "u32"): "(u32){a}",
    ("s32", "f32"): "(f32){a}", ("s32", "f64"): "(f64){a}", ("u64", "u32"): "(u32)({a} >> 7)",
    ("u64", "f64"): "to64({a})", ("f32", "u32"): "bits32({a})", ("f32", "s32"): "int32({a})",
    ("f32", "f64"): "(f64){a}", ("f32", "f16"): "(f16){a}", ("f32", "bf16"): "(bf16){a}",
    ("f64", "f32"): "(f32){a}", ("f64", "u64"): "bits64({a})", ("f64", "s32"): "int64({a})",
    ("f16", "f32"): "(f32){a}", ("f16", "u32"): "bits16({a})", ("bf16", "f32"): "(f32){a}",
    ("bf16", "u32"): "bitsb16({a})", ("u64", "f32"): "(f32){a}", ("u32", "f64"): "(f64){a}",
    ("u64", "s64"): "(s64){a}", ("s32", "s64"): "(s64){a} * 0x123456789", ("s64", "u64"): "(u64){a}",
    ("s64", "s32"): "(s32)({a} >> 5)", ("s64", "f64"): "(f64){a}", ("s64", "f32"): "(f32){a}",
    ("u32", "h2"): "toh2({a})", ("h2", "u32"): "bitsh2({a})", ("h2", "f16"): "{a}.y", ("f16", "h2"): "(h2){{{a}, {a}}}",
    ("u32", "u2"): "tou2({a})", ("u2", "u32"): "bitsu2({a})", ("u2", "s32"): "(s32){a}.x",
}  # fmt: skip

# The bits of a value as an unsigned int.
AS_U32 = {
    "u32": "{a}", "s32": "(u32){a}", "u64": "(u32)({a} ^ {a} >> 32)", "s64": "(u32)((u64){a} ^ (u64){a} >> 32)",
    "f32": "bits32({a})", "f64": "(u32)(bits64({a}) ^ bits64({a}) >> 32)", "f16": "bits16({a})",
    "bf16": "bitsb16({a})", "h2": "bitsh2({a})", "u2": "bitsu2({a})",
}  # fmt: skip
CONSTANTS = {
    "u32": "17u", "s32": "-5", "u64": "99ul", "s64": "-77l", "f32": "1.25f", "f64": "-2.5", "f16": "(f16)0.75f",
    "bf16": "(bf16)3.0f", "h2": "(h2){(f16)0.5f, (f16)-2.0f}", "u2": "(u16x2){7, 65531}",
}  # fmt: skip
TYPES = {kind: {"u2": "u16x2"}.get(kind, kind) for kind in BINARY}
