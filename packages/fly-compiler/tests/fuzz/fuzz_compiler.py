# SPDX-License-Identifier: Apache-2.0
"""Compiles programs made at random, with odd arguments everywhere: the interpreter has to survive.

Not collected by pytest; `python tests/fuzz/fuzz_compiler.py [seed] [programs]` runs it, and `pytest -m fuzz` many. Any
exception is an outcome; a crash or a hang is a find. FUZZ_TRACE prints each program before it is compiled.
"""

from __future__ import annotations

import collections
import linecache
import os
import random
import sys
import traceback
import warnings

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

STATEMENTS = [
    "v = v + {e}",
    "v = {e}",
    "x[{e}] = {e}",
    "x[{e}] = v",
    "n = n * {e}",
    "w = fx.full({e}, {e}, fx.Float32)",
    "w = w + {e}",
    "v = w[{e}]",
    "t = x[None]",
    "t = fx.zipped_divide(x, ({e},))",
    "t.store({e})",
    "v = t[{e}]",
    "fx.barrier()",
    "fx.printf('{{}} {{}}', {e}, {e})",
    "fx.device_assert({e} < {e}, 'no')",
    "r = fx.make_rmem_tensor({e}, fx.Float32)",
    "r[{e}] = {e}",
    "fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy({e}), fx.Float32), x, r)",
    "s = fx.SharedAllocator().allocate(fx.Array[fx.Float32, {e}]).peek()",
    "s[{e}] = {e}",
    "n, v = v, n",
    "v = {e} if {e} else {e}",
    "return",
    "break",
    "continue",
    "del v",
    "v = None",
    "assert {e}",
    "v: fx.Int32 = {e}",
    "global G",
    "raise ValueError({e})",
    "v = v.to({e})",
    "v = v.bitcast({e})",
    "fx.ktrace.mark({e}, {e})",
    "fx.ktrace.range_push('p', {e})",
    "fx.ktrace.range_pop()",
    "v = fx.ktrace.range_start('r')",
    "fx.ktrace.range_stop({e})",
    "d = {{'a': [{e}], 'b': ({e}, {e})}}",
    "d['a'][0] = {e}",
    "d['a'].append({e})",
    "d['b'] = {e}",
]
EXPRESSIONS = [
    "n",
    "v",
    "i",
    "x",
    "x[0]",
    "x[i]",
    "w",
    "t",
    "0",
    "1",
    "-1",
    "64",
    "2**31",
    "2**70",
    "1.5",
    "float('nan')",
    "True",
    "None",
    "'a'",
    "()",
    "(1, 2)",
    "fx.Int32",
    "fx.Float32(2)",
    "fx.Int64(n)",
    "fx.Index(3)",
    "fx.Boolean(True)",
    "fx.thread_idx.x",
    "fx.block_idx.y",
    "n + 1",
    "n // 2",
    "n % 0",
    "n / 0",
    "n > 3",
    "not n",
    "n and v",
    "-v",
    "~n",
    "n << 40",
    "fx.math.exp(v)",
    "fx.math.sqrt(n)",
    "fx.max(n, v)",
    "fx.Float8E4M3FN(v)",
    "fx.BFloat16(v)",
    "abs(v)",
    "fx.make_layout((4, 8), (1, 4))",
    "fx.size(x)",
    "x.shape",
    "x.layout",
    "len(w)",
    "[v, n]",
    "{{'a': v}}",
    "int(n)",
]
HEADS = [
    "if {e}:",
    "while {e}:",
    "for i in range({e}):",
    "for i in range(0, {e}, {e}):",
    "for i in fx.range_constexpr(min({e}, 9)):",
    "for i in range(n, unroll={e}):",
    "if fx.const_expr({e}):",
    "with fx.fastmath({e}):",
    "try:",
    "for i, st in range(0, {e}, 1, init=[{e}]):",
    "def g(k, v=v):",
    "for i in [{e}, {e}]:",
]
LAUNCH = ["grid={e}", "block={e}", "smem={e}", "cluster={e}", "stream={e}", "unit_attrs={e}", "value_attrs={e}"]
SIZES = [
    "1",
    "(1,)",
    "(2, 1, 1)",
    "(64,)",
    "0",
    "-1",
    "(1, 2, 3, 4)",
    "n",
    "1.5",
    "None",
    "'a'",
    "{{'a': 1}}",
    "['a']",
    "2**40",
]
ARGUMENTS = [
    lambda: np.ones(64, np.float32),
    lambda: np.ones((4, 16), np.float32),
    lambda: np.ones(0, np.float32),
    lambda: np.ones(64, np.int8),
    lambda: np.ones(64, np.float16),
    lambda: np.ones(64, np.complex64),
    lambda: None,
    lambda: np.ones((64, 2), np.float32)[:, 0],
    lambda: flyc.from_dlpack(np.ones(64, np.float32)),
    lambda: [1, 2],
    lambda: flyc.from_dlpack(np.ones((8, 8), np.float32)).mark_layout_dynamic(),
    lambda: np.float32(3),
    lambda: "x",
    lambda: flyc.from_c_void_p(fx.Float32, None),
    lambda: 5,
    lambda: 2**70,
    lambda: -1,
    lambda: True,
    lambda: object(),
    lambda: np.ones((), np.float32),
    lambda: fx.Float32(1.0),
    lambda: fx.Stream(None),
    lambda: (1, 2),
]
HINTS = [
    {},
    {"waves_per_eu": 2},
    {"waves_per_eu": 99},
    {"fast_fp_math": True},
    {"llvm_options": {"amdgpu-early-inline-all": 1}},
    {"llvm_options": {"nothing": 1}},
    {"fastmath": "fast"},
    {"fastmath": "quick"},
    {"other": object()},
    {"ktrace": True},
    {"ktrace": True, "ktrace_blocks": "0,0,0"},
]


GOOD_EXPRESSIONS = ["n", "i", "1", "3", "fx.Int32(n)", "n + i", "n // 3", "i % 4", "fx.thread_idx.x", "n * 2"]
GOOD_FLOATS = ["v", "x[i]", "1.5", "v * v", "fx.Float32(n)", "fx.math.sqrt(v)", "-v", "abs(v)", "x[n % 8]"]
GOOD_STATEMENTS = [
    "v = v + {f}", "v = {f}", "x[{g}] = {f}", "n = n + {g}", "fx.barrier()", "fx.printf('{{}}', {f})",
    "v = {f} if {c} else {f}",
    "fx.device_assert({c}, 'no')", "r = fx.make_rmem_tensor(4, fx.Float32)", "return", "break", "continue", "i = i + 1",
]  # fmt: skip
GOOD_HEADS = [
    "if {c}:", "while {c}:", "for k in range({g}):", "for k in fx.range_constexpr(3):", "for k in range(0, {g}, 2):",
    "if fx.const_expr(True):",
]  # fmt: skip
CONDITIONS = ["n > 3", "i < n", "v > 0.5", "not (n == 2)", "n > 1 and i < 4", "n != 0 or v < 1.0", "1 < n < 9"]
_SANE = 0.93


def expression(rng):
    return rng.choice(EXPRESSIONS).replace("{{", "{").replace("}}", "}")


def filled(rng, template):
    for mark, values in (("{f}", GOOD_FLOATS), ("{g}", GOOD_EXPRESSIONS), ("{c}", CONDITIONS)):
        while mark in template:
            template = template.replace(mark, rng.choice(values) if rng.random() < _SANE else expression(rng), 1)
    while "{e}" in template:
        template = template.replace("{e}", expression(rng), 1)
    return template.replace("{{", "{").replace("}}", "}")


def block(rng, depth, indent):
    lines = []
    for _ in range(rng.randint(1, 4)):
        if depth and rng.random() < 0.4:
            head = filled(rng, rng.choice(GOOD_HEADS if rng.random() < _SANE else HEADS))
            lines += [indent + head, *block(rng, depth - 1, indent + "    ")]
            if head == "try:":
                lines += [indent + "finally:", indent + "    pass"]
            elif head.startswith(("if", "for", "while")) and rng.random() < 0.3:
                lines += [indent + "else:", *block(rng, depth - 1, indent + "    ")]
            elif head.startswith("def"):
                lines += [f"{indent}v = g({expression(rng)})"]
            elif "init=" in head:
                lines += [f"{indent}    yield [{expression(rng)}]"]
        else:
            lines.append(indent + filled(rng, rng.choice(GOOD_STATEMENTS if rng.random() < _SANE else STATEMENTS)))
    return lines


def program(rng):
    options = []
    for one in rng.sample(LAUNCH, rng.choice([0, 0, 0, 1, 2, 3])):
        options.append(one.replace("{e}", rng.choice(SIZES).replace("{{", "{").replace("}}", "}")))
    return "\n".join(
        [
            "@flyc.kernel",
            "def kernel(x, n: fx.Int32):",
            "    v = fx.Float32(0.0)",
            "    i = fx.thread_idx.x",
            *block(rng, 3, "    "),
            "@flyc.jit",
            "def launch(x, n):",
            *([f"    fx.printf('{{}}', {expression(rng)})"] if rng.random() < 0.2 else []),
            f"    kernel(x, n).launch({', '.join(options)})",
        ]
    )


def run_one(rng, number):
    text = program(rng)
    name = f"<fuzz {number}>"
    if os.environ.get("FUZZ_TRACE"):
        print(text, "\n", flush=True)
    linecache.cache[name] = (len(text), None, [f"{line}\n" for line in text.split("\n")], name)
    namespace = {"flyc": flyc, "fx": fx, "__name__": "fuzz"}
    try:
        exec(compile(text, name, "exec"), namespace)
        launch = namespace["launch"]
        launch.compile_hints.update(rng.choice(HINTS))
        # Compiled, not run: a program at random may never end.
        sane = rng.random() < 0.8
        flyc.compile.only(
            launch, ARGUMENTS[0]() if sane else rng.choice(ARGUMENTS)(), 5 if sane else rng.choice(ARGUMENTS)()
        )
        return "compiled"
    except AssertionError as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        if not error.args and last.filename != name:
            raise  # not of the program: an invariant of the compiler's
        return "AssertionError"
    except Exception as error:
        return type(error).__name__
    finally:
        linecache.cache.pop(name, None)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    outcomes = collections.Counter(run_one(rng, number) for number in range(count))
    print(f"seed {seed}: {count} programs, {dict(outcomes.most_common())}")


if __name__ == "__main__":
    main()
