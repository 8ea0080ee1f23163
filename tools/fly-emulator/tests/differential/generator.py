# SPDX-License-Identifier: Apache-2.0
"""Random C programs that mean the same on x86 and on amdgcn, bit for bit.

A program is a few phases with a barrier between them. Each phase is a function of the thread; it reads the inputs, its
own variables and what other threads put into LDS in the phase before, and may update commutative atomics. The host
runs a phase for all threads, then the next.

Floating point is kept to what IEEE 754 defines (no contraction, no excess precision); NaNs are made canonical before
their bits can be seen. Shifts, divisions and conversions are kept inside what C defines.
"""

from __future__ import annotations

import random

THREADS = 128
BLOCKS = 2
INPUTS = 8

PRELUDE = """
typedef unsigned u32; typedef int s32; typedef unsigned long u64; typedef long s64;
typedef unsigned short u16; typedef short s16; typedef unsigned char u8; typedef signed char s8;
typedef float f32; typedef double f64; typedef _Float16 f16; typedef __bf16 bf16;
static inline u32 bits32(f32 v) { return v != v ? 0x7fc00000u : __builtin_bit_cast(u32, v); }
static inline u64 bits64(f64 v) { return v != v ? 0x7ff8000000000000ul : __builtin_bit_cast(u64, v); }
static inline u32 bits16(f16 v) { return v != v ? 0x7e00u : __builtin_bit_cast(u16, v); }
static inline u32 bitsb16(bf16 v) { f32 w = (f32)v; return w != w ? 0x7fc0u : __builtin_bit_cast(u16, v); }
static inline f32 to32(u32 v) { f32 f = __builtin_bit_cast(f32, v); return f != f ? 1.5f : f; }
static inline f64 to64(u64 v) { f64 f = __builtin_bit_cast(f64, v); return f != f ? 1.5 : f; }
static inline f16 to16(u32 v) { f16 f = __builtin_bit_cast(f16, (u16)v); return f != f ? (f16)1.5f : f; }
static inline bf16 tob16(u32 v) { bf16 f = __builtin_bit_cast(bf16, (u16)v); return (f32)f != (f32)f ? (bf16)1.5f : f; }
static inline s32 int32(f32 v) { return v > -2e9f && v < 2e9f ? (s32)v : 77; }
static inline u32 uint32(f32 v) { return v > -1.0f && v < 4e9f ? (u32)v : 78; }
static inline s32 int64(f64 v) { return v > -2e9 && v < 2e9 ? (s32)v : 79; }
#ifdef __AMDGCN__
#define SHARED static __attribute__((address_space(3), loader_uninitialized))
#define GLOBAL __attribute__((address_space(1)))
#define ATOMIC(op, p, v) __scoped_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#else
#define SHARED static
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

_BINARY = {
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
            "-{a}", "__builtin_fabsf({a})", "__builtin_copysignf({a}, {b})",
            "({a} == {a} && {b} == {b} ? __builtin_fmaxf({a}, {b} + 0.25f) : 0.5f)"],
    "f64": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "__builtin_fma({a}, {b}, {c})",
            "__builtin_sqrt(__builtin_fabs({a}))", "__builtin_floor({a})", "__builtin_trunc({a})",
            "__builtin_rint({a})", "({a} < {b} ? {a} : {b})", "-{a}", "__builtin_fabs({a})"],
    "f16": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "({a} < {b} ? {a} : {b})", "-{a}"],
    "bf16": ["(bf16)((f32){a} + (f32){b})", "(bf16)((f32){a} * (f32){b})",
             "(bf16)__builtin_fmaf((f32){a}, (f32){b}, (f32){c})"],
}  # fmt: skip

_CONVERT = {
    ("u32", "s32"): "(s32){a}", ("u32", "u64"): "((u64){a} * 0x9e3779b97f4a7c15ul)", ("u32", "f32"): "to32({a})",
    ("u32", "f16"): "to16({a})", ("u32", "bf16"): "tob16({a})", ("s32", "u32"): "(u32){a}",
    ("s32", "f32"): "(f32){a}", ("s32", "f64"): "(f64){a}", ("u64", "u32"): "(u32)({a} >> 7)",
    ("u64", "f64"): "to64({a})", ("f32", "u32"): "bits32({a})", ("f32", "s32"): "int32({a})",
    ("f32", "f64"): "(f64){a}", ("f32", "f16"): "(f16){a}", ("f32", "bf16"): "(bf16){a}",
    ("f64", "f32"): "(f32){a}", ("f64", "u64"): "bits64({a})", ("f64", "s32"): "int64({a})",
    ("f16", "f32"): "(f32){a}", ("f16", "u32"): "bits16({a})", ("bf16", "f32"): "(f32){a}",
    ("bf16", "u32"): "bitsb16({a})", ("u64", "f32"): "(f32){a}", ("u32", "f64"): "(f64){a}",
}  # fmt: skip


class Generator:
    """One random program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counter = 0

    def program(self) -> str:
        """The C source of all phases and of both entry points."""
        phases = self.random.randint(1, 3)
        body = "".join(self._phase(i) for i in range(phases))
        calls_gpu = "\n  barrier();\n".join(f"  phase{i}(in, out, counters, state, t, b);" for i in range(phases))
        calls_cpu = "\n".join(
            f"    for (u32 t = 0; t < {THREADS}; ++t) phase{i}(in, out, counters, states[t], t, b);"
            for i in range(phases)
        )
        return f"""{PRELUDE}
SHARED u32 lds[{THREADS}];
{body}
#ifdef __AMDGCN__
static inline void barrier(void) {{
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}}
__attribute__((device_kernel)) void run(const GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *counters) {{
  u32 t = __builtin_amdgcn_workitem_id_x(), b = __builtin_amdgcn_workgroup_id_x();
  u32 state[4] = {{1, 2, 3, 4}};
{calls_gpu}
}}
#else
void run(const u32 *in, u32 *out, u32 *counters) {{
  for (u32 b = 0; b < {BLOCKS}; ++b) {{
    static u32 states[{THREADS}][4];
    for (u32 t = 0; t < {THREADS}; ++t)
      for (u32 i = 0; i < 4; ++i) states[t][i] = i + 1;
{calls_cpu}
  }}
}}
#endif
"""

    def _name(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def _phase(self, index: int) -> str:
        variables: dict[str, list[str]] = {kind: [] for kind in _BINARY}
        lines = []
        for i in range(INPUTS // 2):
            name = self._name()
            lines.append(f"u32 {name} = in[((b * {THREADS} + t) * {INPUTS} + {self.random.randrange(INPUTS)})];")
            variables["u32"].append(name)
            del i
        for i in range(4):
            variables["u32"].append(f"state[{i}]")
        if index > 0:
            name = self._name()
            lines.append(
                f"u32 {name} = lds[(t * {self.random.choice([1, 3, 5, 7])} + {self.random.randrange(64)}) % {THREADS}];"
            )
            variables["u32"].append(name)
        lines += self._statements(variables, self.random.randint(10, 30), 0)
        for i in range(4):
            lines.append(f"state[{i}] = {self._as_u32(variables)};")
        if index == 0:
            lines.append(f"lds[t] = {self._as_u32(variables)};")
        operation = self.random.choice(["add", "xor", "or", "and", "max", "min"])
        lines.append(
            f"ATOMIC({operation}, &counters[{index * 4} + ({self._as_u32(variables)} & 3)], {self._as_u32(variables)});"
        )
        lines.append(f"out[(b * {THREADS} + t) * 4 + {index}] = {self._as_u32(variables)};")
        text = "\n  ".join(lines)
        return f"""
static inline void phase{index}(const GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *counters, u32 *state, u32 t,
                              u32 b) {{
  {text}
}}
"""

    def _pick(self, variables: dict[str, list[str]], kind: str) -> str:
        if variables[kind]:
            return self.random.choice(variables[kind][-8:])
        return {"u32": "17u", "s32": "-5", "u64": "99ul", "f32": "1.25f", "f64": "-2.5", "f16": "(f16)0.75f",
                "bf16": "(bf16)3.0f"}[kind]  # fmt: skip

    def _expression(self, variables: dict[str, list[str]], kind: str) -> str:
        sources = [source for source, target in _CONVERT if target == kind and variables[source]]
        if sources and (not variables[kind] or self.random.random() < 0.3):
            source = self.random.choice(sources)
            return _CONVERT[source, kind].format(a=self._pick(variables, source))
        pattern = self.random.choice(_BINARY[kind])
        if "fshl" in pattern:
            pattern = "(({a} << ({b} & 15)) | ({c} >> (32 - 16 + ({b} & 15))))"
        return pattern.format(**{key: self._pick(variables, kind) for key in "abc"})

    def _as_u32(self, variables: dict[str, list[str]]) -> str:
        kinds = [kind for kind in variables if variables[kind]]
        kind = self.random.choice(kinds)
        value = self._pick(variables, kind)
        if kind == "u32":
            return value
        return {"s32": "(u32){a}", "u64": "(u32)({a} ^ {a} >> 32)", "f32": "bits32({a})",
                "f64": "(u32)(bits64({a}) ^ bits64({a}) >> 32)", "f16": "bits16({a})", "bf16": "bitsb16({a})"}[
            kind
        ].format(a=value)  # fmt: skip

    def _statements(self, variables: dict[str, list[str]], count: int, depth: int) -> list[str]:
        lines = []
        for _ in range(count):
            roll = self.random.random()
            if roll < 0.12 and depth < 2:
                lines += self._branch(variables, depth)
            elif roll < 0.2 and depth < 2:
                lines += self._loop(variables, depth)
            else:
                kind = self.random.choice(list(_BINARY))
                expression = self._expression(variables, kind)
                name = self._name()
                lines.append(f"{kind} {name} = {expression};")
                variables[kind].append(name)
        return lines

    def _assignment(self, variables: dict[str, list[str]]) -> tuple[str, str]:
        """A variable to assign to; never the index of a loop, which has to end."""
        targets = {kind: [name for name in names if name[0] != "i"] for kind, names in variables.items()}
        kind = self.random.choice([kind for kind in targets if targets[kind]])
        return kind, self.random.choice(targets[kind])

    def _branch(self, variables: dict[str, list[str]], depth: int) -> list[str]:
        condition = f"({self._pick(variables, 'u32')} >> {self.random.randrange(20)}) & 1"
        sides = []
        for _ in range(2):
            scope = {kind: list(names) for kind, names in variables.items()}
            inner = self._statements(scope, self.random.randint(1, 4), depth + 1)
            kind, target = self._assignment(variables)
            inner.append(f"{target} = {self._expression(scope, kind)};")
            sides.append("\n    ".join(inner))
        return [f"if ({condition}) {{\n    {sides[0]}\n  }} else {{\n    {sides[1]}\n  }}"]

    def _loop(self, variables: dict[str, list[str]], depth: int) -> list[str]:
        index = "i" + self._name()
        scope = {kind: list(names) for kind, names in variables.items()}
        scope["u32"].append(index)
        inner = self._statements(scope, self.random.randint(1, 3), depth + 1)
        for _ in range(2):
            kind, target = self._assignment(variables)
            inner.append(f"{target} = {self._expression(scope, kind)};")
        bound = f"({self._pick(variables, 'u32')} & 7) + 1"
        body = "\n    ".join(inner)
        return [f"for (u32 {index} = 0, end{index} = {bound}; {index} < end{index}; ++{index}) {{\n    {body}\n  }}"]
