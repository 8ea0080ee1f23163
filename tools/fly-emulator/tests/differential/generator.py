# SPDX-License-Identifier: Apache-2.0
"""Random C programs that mean the same on x86 and on amdgcn, bit for bit.

A program is a few phases with a barrier between them. Each phase is a function of the thread; it reads the inputs, its
own variables and what other threads put into LDS in the phases before, calls functions (recursive ones and through
pointers, too), indexes arrays of its own, reads and writes bytes and halves of memory, and updates commutative atomics
in memory and LDS. The host runs a phase for all threads, then the next.
"""

from __future__ import annotations

import random

from language import AS_U32, BINARY, CONSTANTS, CONVERT, PRELUDE, TYPES

THREADS = 128
BLOCKS = 2
INPUTS = 8
OUTPUTS = 8  # words a thread: four results, then four words of memory for narrow stores
COUNTERS = 24

Scope = dict[str, list[str]]


class Generator:
    """One random program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counter = 0
        self.functions: list[str] = []  # u32 (u32, u32)
        self.memory = False  # the statements being made may use a phase's arrays and memory

    def program(self) -> str:
        """The C source of all phases and of both entry points."""
        functions = "".join(self._function() for _ in range(self.random.randint(0, 3)))
        phases = self.random.randint(1, 3)
        body = "".join(self._phase(i) for i in range(phases))
        arguments = "in, out, counters"
        calls_gpu = "\n  barrier();\n".join(f"  phase{i}({arguments}, state, t, b);" for i in range(phases))
        calls_cpu = "\n".join(
            f"    for (u32 t = 0; t < {THREADS}; ++t) phase{i}({arguments}, states[t], t, b);" for i in range(phases)
        )
        return f"""{PRELUDE}
SHARED u32 lds[{THREADS}];
SHARED u16 narrow[{THREADS}];
SHARED u32 sums[8];
SHARED u64 wide[4];
SHARED f32 floats[4];
static inline void clear(u32 t) {{
  sums[t & 7] = (t & 7) * 3;
  wide[t & 3] = 5;
  floats[t & 3] = 1.0f;
}}
{functions}
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
  if (t < 8)
    clear(t);
  barrier();
{calls_gpu}
}}
#else
void run(const u32 *in, u32 *out, u32 *counters) {{
  for (u32 b = 0; b < {BLOCKS}; ++b) {{
    static u32 states[{THREADS}][4];
    for (u32 t = 0; t < {THREADS}; ++t)
      for (u32 i = 0; i < 4; ++i) states[t][i] = i + 1;
    for (u32 t = 0; t < 8; ++t) clear(t);
{calls_cpu}
  }}
}}
#endif
"""

    def _name(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def _function(self) -> str:
        """A function that is not inlined; some call themselves, each lane as deep as its argument says."""
        name = "f" + self._name()
        variables: Scope = {kind: [] for kind in BINARY}
        variables["u32"] = ["a", "b"]
        lines = self._statements(variables, self.random.randint(3, 9), 1)
        result = self._as_u32(variables)
        if self.random.random() < 0.4:
            # The depth is kept before anything is assigned to the arguments.
            lines.insert(0, "const u32 depth = a & 7; u32 local[4] = {a, b, 3, a ^ b};")
            lines.append(f"if (depth != 0) local[b & 3] ^= {name}(depth - 1, {self._as_u32(variables)});")
            result = f"({result} + local[a & 3])"
        text = "\n  ".join(lines)
        self.functions.append(name)
        return f"""
static __attribute__((noinline)) u32 {name}(u32 a, u32 b) {{
  {text}
  return {result};
}}
"""

    def _phase(self, index: int) -> str:
        variables: Scope = {kind: [] for kind in BINARY}
        lines = [
            f"u32 array[8] = {{t, b, 2, {self.random.randrange(1 << 32)}u}};",
            f"s16 halves[8] = {{{self.random.randrange(1 << 15)}, -3, (s16)t}};",
            f"u32 at = (b * {THREADS} + t) * {OUTPUTS};",
            "GLOBAL u8 *bytes = (GLOBAL u8 *)(out + at + 4);",
            f"const GLOBAL u8 *given = (const GLOBAL u8 *)(in + (b * {THREADS} + t) * {INPUTS});",
        ]
        for _ in range(INPUTS // 2):
            name = self._name()
            lines.append(f"u32 {name} = in[((b * {THREADS} + t) * {INPUTS} + {self.random.randrange(INPUTS)})];")
            variables["u32"].append(name)
        quad = self._name()
        lines.append(f"u32x4 {quad} = *(const GLOBAL u32x4 *)(given + {self.random.choice([0, 4, 16])});")
        variables["u32"] += [f"{quad}.x", f"{quad}.w"]
        variables["u32"] += [f"state[{i}]" for i in range(4)]
        if index > 0:
            variables["u32"] += self._shared(index, lines)
        self.memory = True
        lines += self._statements(variables, self.random.randint(10, 30), 0)
        self.memory = False
        lines += [f"state[{i}] = {self._as_u32(variables)};" for i in range(4)]
        if index == 0:
            lines += [f"lds[t] = {self._as_u32(variables)};", f"narrow[t] = (u16){self._as_u32(variables)};"]
        lines += self._atomics(index, variables)
        lines.append(f"out[at + {index}] = {self._as_u32(variables)};")
        text = "\n  ".join(lines)
        return f"""
static inline void phase{index}(const GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *counters, u32 *state, u32 t,
                              u32 b) {{
  {text}
}}
"""

    def _shared(self, index: int, lines: list[str]) -> list[str]:
        """What the phases before left in LDS."""
        names = []
        shift = self.random.randrange(64)
        for text in (
            f"lds[(t * {self.random.choice([1, 3, 5, 7])} + {shift}) % {THREADS}]",
            f"(u32)(s32)(s16)narrow[(t ^ {self.random.randrange(THREADS)})]",
            f"sums[{2 * (index - 1)} + (t & 1)]",
            f"(u32)(wide[{index - 1}] ^ wide[{index - 1}] >> 32)",
            f"bits32(floats[{index - 1}])",
        ):
            name = self._name()
            lines.append(f"u32 {name} = {text};")
            names.append(name)
        return names

    def _atomics(self, index: int, variables: Scope) -> list[str]:
        """One commutative operation for each place."""
        operations = ["add", "xor", "or", "and", "max", "min"]
        first, second, third = (self.random.choice(operations) for _ in range(3))
        value = lambda: self._as_u32(variables)  # noqa: E731
        return [
            f"ATOMIC({first}, &counters[{index * 4} + ({value()} & 3)], {value()});",
            f"ATOMIC({second}, &sums[{2 * index} + ({value()} & 1)], {value()});",
            f"if ({value()} & 1) ATOMIC({third}, &wide[{index}], (u64){value()} << 7 ^ {value()});",
            f"ATOMIC(add, &floats[{index}], (f32)({value()} & 1023));",
            f"ATOMIC(add, (GLOBAL f64 *)(counters + 16) + {index}, (f64)({value()} & 0xffff));",
            f"ATOMIC(xor, (GLOBAL u64 *)(counters + 12) + (t & 1), (u64){value()} * 0x9e3779b97f4a7c15ul);",
        ]

    def _pick(self, variables: Scope, kind: str) -> str:
        return self.random.choice(variables[kind][-8:]) if variables[kind] else CONSTANTS[kind]

    def _expression(self, variables: Scope, kind: str) -> str:
        roll = self.random.random()
        if kind in ("u32", "s32") and roll < 0.12:
            return self._loaded(variables, kind)
        if kind == "u32" and self.functions and roll < 0.22:
            return self._call(variables)
        sources = [source for source, target in CONVERT if target == kind and variables[source]]
        if sources and (not variables[kind] or self.random.random() < 0.3):
            source = self.random.choice(sources)
            return CONVERT[source, kind].format(a=self._pick(variables, source))
        pattern = self.random.choice(BINARY[kind])
        if "fshl" in pattern:
            pattern = "(({a} << ({b} & 15)) | ({c} >> (32 - 16 + ({b} & 15))))"
        return pattern.format(**{key: self._pick(variables, kind) for key in "abc"})

    def _loaded(self, variables: Scope, kind: str) -> str:
        """From an array, or from memory by bytes and halves, at an index that lanes differ in."""
        index = self._pick(variables, "u32")
        if not self.memory:
            return f"({kind})({index} >> 3)"
        return self.random.choice([
            f"({kind})array[{index} & 7]", f"({kind})halves[{index} & 7]", f"({kind})given[{index} & 31]",
            f"({kind})((const GLOBAL s8 *)given)[{index} & 31]", f"({kind})((const GLOBAL u16 *)given)[{index} & 15]",
            f"({kind})((const GLOBAL s16 *)given)[{index} & 15]", f"({kind})bytes[{index} & 15]",
            f"({kind})((GLOBAL s16 *)bytes)[{index} & 7]",
        ])  # fmt: skip

    def _call(self, variables: Scope) -> str:
        arguments = f"({self._pick(variables, 'u32')}, {self._pick(variables, 'u32')})"
        first, second = (self.random.choice(self.functions) for _ in range(2))
        if self.random.random() < 0.3:
            return f"(({self._pick(variables, 'u32')} & 4) ? {first} : {second}){arguments}"
        return first + arguments

    def _as_u32(self, variables: Scope) -> str:
        kind = self.random.choice([kind for kind in variables if variables[kind]])
        return AS_U32[kind].format(a=self._pick(variables, kind))

    def _statements(self, variables: Scope, count: int, depth: int) -> list[str]:
        lines = []
        for _ in range(count):
            roll = self.random.random()
            if roll < 0.12 and depth < 3:
                lines += self._branch(variables, depth)
            elif roll < 0.18 and depth < 2:
                lines += self._loop(variables, depth)
            elif roll < 0.21 and depth < 2:
                lines += self._switch(variables, depth)
            elif roll < 0.28 and self.memory:
                lines.append(self._store(variables))
            else:
                kind = self.random.choice(list(BINARY))
                expression = self._expression(variables, kind)
                name = self._name()
                lines.append(f"{TYPES[kind]} {name} = {expression};")
                variables[kind].append(name)
        return lines

    def _store(self, variables: Scope) -> str:
        index, value = self._pick(variables, "u32"), self._as_u32(variables)
        return self.random.choice([
            f"array[{index} & 7] = {value};", f"halves[{index} & 7] = (s16){value};",
            f"bytes[{index} & 15] = (u8){value};",
            f"((GLOBAL u16 *)bytes)[{index} & 7] = (u16){value};",
            f"((GLOBAL u16 *)bytes)[{index} & 7] = (u16)({value} >> 16);",
        ])  # fmt: skip

    def _assignment(self, variables: Scope) -> tuple[str, str]:
        """A variable to assign to; never the index of a loop, which has to end.

        Nor an element of a vector: LLVM 22 loses what is assigned to one where a case of a divergent switch falls
        through (seed 1251 as it was before), on whatever executes its code.
        """
        targets = {
            kind: [name for name in names if name[0] != "i" and "." not in name] for kind, names in variables.items()
        }
        kind = self.random.choice([kind for kind in targets if targets[kind]])
        return kind, self.random.choice(targets[kind])

    def _block(self, variables: Scope, scope: Scope, most: int, depth: int) -> list[str]:
        """Statements in a scope of their own that end in an assignment to a variable outside."""
        inner = self._statements(scope, self.random.randint(1, most), depth + 1)
        kind, target = self._assignment(variables)
        return [*inner, f"{target} = {self._expression(scope, kind)};"]

    def _branch(self, variables: Scope, depth: int) -> list[str]:
        condition = f"({self._pick(variables, 'u32')} >> {self.random.randrange(20)}) & 1"
        sides = ["\n    ".join(self._block(variables, _copy(variables), 4, depth)) for _ in range(2)]
        if self.random.random() < 0.4:
            return [f"if ({condition}) {{\n    {sides[0]}\n  }}"]
        return [f"if ({condition}) {{\n    {sides[0]}\n  }} else {{\n    {sides[1]}\n  }}"]

    def _switch(self, variables: Scope, depth: int) -> list[str]:
        """Some cases fall through."""
        lines = [f"switch (({self._pick(variables, 'u32')} >> {self.random.randrange(24)}) & 7) {{"]
        for label in sorted(self.random.sample(range(8), self.random.randint(2, 5))):
            body = "\n      ".join(self._block(variables, _copy(variables), 2, depth))
            end = "" if self.random.random() < 0.3 else " break;"
            lines.append(f"  case {label}: {{\n      {body}\n    }}{end}")
        kind, target = self._assignment(variables)
        lines.append(f"  default: {target} = {self._expression(variables, kind)};")
        return ["\n  ".join([*lines, "}"])]

    def _loop(self, variables: Scope, depth: int) -> list[str]:
        index = "i" + self._name()
        scope = _copy(variables)
        scope["u32"].append(index)
        inner = self._block(variables, scope, 3, depth)
        if self.random.random() < 0.4:
            leave = self.random.choice(["break", "continue"])
            inner.append(f"if (({self._pick(scope, 'u32')} & 5) == 5) {leave};")
        kind, target = self._assignment(variables)
        inner.append(f"{target} = {self._expression(scope, kind)};")
        bound = f"({self._pick(variables, 'u32')} & 7) + 1"
        body = "\n    ".join(inner)
        if self.random.random() < 0.3:  # as often as a lane's word has bits set
            bits = self._pick(variables, "u32")
            return [f"for (u32 {index} = {bits} & 0x1111; {index} != 0; {index} &= {index} - 1) {{\n    {body}\n  }}"]
        return [f"for (u32 {index} = 0, end{index} = {bound}; {index} < end{index}; ++{index}) {{\n    {body}\n  }}"]


def _copy(variables: Scope) -> Scope:
    return {kind: list(names) for kind, names in variables.items()}
