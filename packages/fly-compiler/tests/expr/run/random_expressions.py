# SPDX-License-Identifier: Apache-2.0
"""Random expressions of all dtypes, and a kernel that computes many of them."""

from __future__ import annotations

import linecache
import math
import random

import ml_dtypes
import numpy as np
import torch
from exact_numbers import FLOATS, INTEGERS, Language, Number, bits_of

import flydsl.compiler as flyc
import flydsl.expr as fx

LANES = 64
CLASSES = ["Boolean", *INTEGERS, *FLOATS]
NUMPY = {"Boolean": np.bool_, "BFloat16": ml_dtypes.bfloat16}
NUMPY |= {name: getattr(ml_dtypes, name.lower().replace("float8", "float8_")) for name in FLOATS if bits_of(name) == 8}
NUMPY |= {name: getattr(np, name.lower()) for name in CLASSES if name not in NUMPY}
REFUSALS = (TypeError, ValueError, OverflowError, ZeroDivisionError, RuntimeError)


def lanes(name, generator, exact):
    """Return values of a class, its extremes among them; floats of a moderate range unless they are `exact` ones."""
    if name == "Boolean":
        return generator.integers(0, 2, LANES).astype(np.bool_)
    if name in INTEGERS:
        info = np.iinfo(NUMPY[name])
        values = generator.integers(info.min, info.max, LANES, NUMPY[name], endpoint=True)
        values[16:40] = generator.integers(-9 if info.min else 0, 10, 24).astype(NUMPY[name])
        values[:8] = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2 + 1, 1, 2, 3]
        generator.shuffle(values)
        return values
    values = generator.normal(0, 30, LANES)
    values[8:32] = generator.integers(-9, 10, 24)
    if exact:
        largest = FLOATS[name].largest
        values[:8] = [0.0, -0.0, math.inf, -math.inf, math.nan, largest, -largest, 2.0 ** FLOATS[name].smallest / 2]
    generator.shuffle(values)
    with np.errstate(all="ignore"):
        return values.astype(NUMPY[name])


ONES = {f"{name}_{row}": Number(name, [1]) for name in CLASSES for row in range(2)}


class Writer:
    """Writes expressions over the names `Int8_0`, `Int8_1` and so on."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def leaf(self, kinds):
        name = self.random.choice(kinds)
        if self.random.random() < 0.72:
            return f"{name}_{self.random.randrange(2)}"
        if name == "Boolean":
            return self.random.choice(["True", "False", "fx.Boolean(True)"])
        if name in INTEGERS:
            bits = INTEGERS[name][0]
            edges = [
                0,
                1,
                2,
                3,
                7,
                8,
                -1,
                -2,
                -5,
                bits - 1,
                bits,
                (1 << bits) - 1,
                1 << (bits - 1),
                (1 << (bits - 1)) - 1,
            ]
            edges += [-(1 << (bits - 1)), 100, 2**31 - 1, 2**31, -(2**31)]
            number = self.random.choice(edges)
            return f"({number})" if self.random.random() < 0.5 else f"fx.{name}({number})"
        number = self.random.choice([0.0, -0.0, 1.0, 0.5, -1.5, 2.5, 0.1, 3.0, 1e-3, 100.0, 65504.0, 70000.0, 1e-8])
        return f"({number!r})" if self.random.random() < 0.5 else f"fx.{name}({number!r})"

    def expression(self, depth, kinds=CLASSES):
        if depth == 0:
            return self.leaf(kinds)
        kind = self.random.random()
        one = self.expression(depth - 1, kinds)
        if kind < 0.1:
            return f"({self.random.choice('-~+')}{one})"
        if kind < 0.14:
            return f"abs({one})"
        if kind < 0.3:
            return f"({one}).to(fx.{self.random.choice(CLASSES)})"
        other = self.expression(self.random.randrange(depth), kinds if self.random.random() < 0.7 else CLASSES)
        if self.random.random() < 0.5:
            one, other = other, one
        if kind < 0.62:
            return f"({one} {self.random.choice(['+', '-', '*', '//', '%', '/', '+', '-', '*'])} {other})"
        if kind < 0.75:
            return f"({one} {self.random.choice(['&', '|', '^'])} {other})"
        if kind < 0.82:
            amount = self.random.choice([str(self.random.randrange(9)), f"({other} & 7)"])
            return f"({one} {self.random.choice(['<<', '>>'])} {amount})"
        if kind < 0.9:
            return f"({one} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {other})"
        if kind < 0.97:
            return (
                f"fx.{self.random.choice(['max', 'min', 'max', 'min', 'ceildiv', 'truncdiv', 'fmod'])}({one}, {other})"
            )
        return f"({self.expression(1, kinds)}).select({one}, {other})"

    def statement(self):
        kinds = self.random.choice([CLASSES, list(INTEGERS), list(FLOATS), self.random.sample(CLASSES, 2)])
        while True:
            text = self.expression(self.random.randint(1, 3), kinds)
            if "_" in text and (evaluate([text], ONES)[0] is not None or self.random.random() < 0.02):
                return text


def load(tensor, row, vector):
    """Return this thread's element of a row, or its four as a vector."""
    i = fx.thread_idx.x
    return fx.logical_divide(tensor[row, None], fx.make_layout(4, 1))[None, i].load() if vector else tensor[row, i]


def store(tensor, row, value, vector):
    i = fx.thread_idx.x
    if not vector:
        tensor[row, i] = value
    else:
        part = fx.logical_divide(tensor[row, None], fx.make_layout(4, 1))[None, i]
        if isinstance(value, fx.Vector):
            part.store(value)
        else:
            part.fill(value)


def evaluate(texts, inputs):
    """Return expected values and names of their rows: `None` where the language refuses the expression."""
    language, rows = Language(), []
    for text in texts:
        try:
            with np.errstate(all="ignore"):
                value = eval(text, {"fx": language, **inputs})
        except (TypeError, ValueError, OverflowError, ZeroDivisionError, AttributeError, KeyError):
            value = None
        rows.append(value if isinstance(value, Number) else None)
    return rows


def run(texts, seed, *, vector=False, exact=True):
    """Compute expressions on the device; return what differs from exact arithmetic, and what was refused.

    Returns:
        Lists of (text, what is wrong) and of (text, error).
    """
    generator = np.random.default_rng(seed)
    arrays = {name: np.stack([lanes(name, generator, exact), lanes(name, generator, exact)]) for name in CLASSES}
    inputs = {}
    for name, array in arrays.items():
        for row in range(2):
            inputs[f"{name}_{row}"] = Number(
                name,
                array[row].astype(object).tolist() if name not in FLOATS else array[row].astype(np.float64).tolist(),
            )
    expected = evaluate(texts, inputs)
    counts = dict.fromkeys(CLASSES, 0)
    places = []
    for value in expected:
        places.append(None if value is None else counts[value.dtype])
        if value is not None:
            counts[value.dtype] += 1
    outputs = {name: np.zeros((max(counts[name], 1), LANES), NUMPY[name]) for name in CLASSES}
    for name, array in outputs.items():
        array.view(np.uint8)[:] = 1 if name == "Boolean" else 0x55
    codes = [compile(text, f"<{text}>", "eval") for text in texts]
    refused, wrong = [], []

    def compute(tensors, results):
        values = {f"{name}_{row}": load(one, row, vector) for name, one in tensors.items() for row in range(2)}
        for text, code, value, place in zip(texts, codes, expected, places, strict=True):
            try:
                got = eval(code, {"fx": fx, **values})
            except REFUSALS as error:
                refused.append((text, error))
                continue
            if value is None:
                wrong.append((text, f"the rules refuse it, it gave {got!r}"))
            elif got.dtype.__name__ != value.dtype:
                wrong.append((text, f"is {value.dtype}, gave {got.dtype.__name__}"))
            else:
                store(results[value.dtype], place, got, vector)

    names = list(CLASSES)
    parameters = ", ".join(f"{kind}{name}: fx.Tensor" for kind in "xy" for name in names)
    arguments = ", ".join(f"{kind}{name}" for kind in "xy" for name in names)
    given = ", ".join(f"'{name}': x{name}" for name in names)
    taken = ", ".join(f"'{name}': y{name}" for name in names)
    threads = LANES // 4 if vector else LANES
    source = (
        f"@flyc.kernel\ndef kernel({parameters}):\n    compute({{{given}}}, {{{taken}}})\n\n"
        f"@flyc.jit\ndef launch({parameters}):\n    kernel({arguments}).launch(block=({threads},))\n"
    )
    namespace = _module(source, {"flyc": flyc, "fx": fx, "compute": compute})
    namespace["launch"](*map(argument, (*arrays.values(), *outputs.values())))
    done = {text for text, _ in refused} | {text for text, _ in wrong}
    for text, value, place in zip(texts, expected, places, strict=True):
        if value is None or text in done:
            continue
        got = outputs[value.dtype][place]
        got = got.astype(np.float64).tolist() if value.dtype in FLOATS else got.tolist()
        want = value.lanes * (LANES // len(value.lanes))
        differ = [lane for lane in range(LANES) if want[lane] is not None and not same(got[lane], want[lane])]
        if differ:
            lane = differ[0]
            used = {key: one.lanes[lane] for key, one in inputs.items() if key in text}
            wrong.append((text, f"{len(differ)} lanes, {used}: {value.dtype} {want[lane]!r}, gave {got[lane]!r}"))
    return wrong, refused


def argument(array):
    """Return an array as what a kernel takes: formats that NumPy lacks as torch tensors on the same memory."""
    name = array.dtype.name
    if array.dtype.kind != "V" and not name.startswith(("bfloat", "float8")):
        return array
    return torch.from_numpy(array.view(np.uint16 if array.itemsize == 2 else np.uint8)).view(getattr(torch, name))


def same(got, want):
    """Tell whether two numbers are the same; NaN is, and a zero has its sign."""
    if isinstance(want, float):
        if math.isnan(want):
            return math.isnan(got)
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return got == want


def _module(source, names):
    file = f"<kernel {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"__name__": "random_kernel", **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace
