# SPDX-License-Identifier: Apache-2.0
"""fly-expand-arith, run on the host: every code of every small float, rounding, and remainders against C's fmod."""

import ctypes
import itertools
import math
import random
import shutil
import struct
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager

COUNT = 1 << 12


@dataclass(frozen=True)
class Format:
    """An encoding, by its definition: bits, exponent bits, bias, and what the codes at the end of the range are."""

    type: str
    exponent: int
    mantissa: int
    bias: int
    nans: frozenset[int]
    infinities: frozenset[int] = frozenset()
    signed: bool = True

    @property
    def width(self) -> int:
        return self.signed + self.exponent + self.mantissa

    def value(self, code: int) -> float:
        """What a code stands for."""
        sign = -1.0 if self.signed and code >> (self.width - 1) else 1.0
        magnitude = code & ((1 << (self.exponent + self.mantissa)) - 1)
        if code in self.nans:
            return math.nan
        if code in self.infinities:
            return sign * math.inf
        exponent, mantissa = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if self.mantissa and exponent == 0:
            return sign * math.ldexp(mantissa, 1 - self.bias - self.mantissa)
        return sign * math.ldexp((1 << self.mantissa) + mantissa, exponent - self.bias - self.mantissa)

    @property
    def numbers(self) -> list[tuple[float, int]]:
        """The finite values that are not negative, with their codes."""
        codes = range(1 << (self.exponent + self.mantissa))
        return [(self.value(code), code) for code in codes if math.isfinite(self.value(code))]


FORMATS = [
    Format("f8E4M3FN", 4, 3, 7, frozenset({0x7F, 0xFF})),
    Format("f8E5M2", 5, 2, 15, frozenset({*range(0x7D, 0x80), *range(0xFD, 0x100)}), frozenset({0x7C, 0xFC})),
    Format("f8E4M3FNUZ", 4, 3, 8, frozenset({0x80})),
    Format("f8E5M2FNUZ", 5, 2, 16, frozenset({0x80})),
    Format("f6E2M3FN", 2, 3, 1, frozenset()),
    Format("f6E3M2FN", 3, 2, 3, frozenset()),
    Format("f4E2M1FN", 2, 1, 1, frozenset()),
    Format("f8E8M0FNU", 8, 0, 127, frozenset({0xFF}), signed=False),
]
SIGNED = [form for form in FORMATS if form.signed]

# Expanded for a chip without instructions of its own, then to LLVM for the host.
PIPELINE = (
    "builtin.module(fly-expand-arith{chip=none},convert-scf-to-cf,convert-vector-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)"
)


def tool(name: str) -> str:
    found = next((str(path) for path in (Path("/usr/lib/llvm-22/bin") / name,) if path.is_file()), None)
    found = found or shutil.which(f"{name}-22") or shutil.which(name)
    if not found:
        pytest.skip(f"{name} of LLVM 22 is not installed")
    return found


@cache
def library(folder: Path) -> ctypes.CDLL:
    """One function for each conversion and remainder, on scalars and bits, compiled for this machine."""
    functions = []
    for form in FORMATS:
        integer = f"i{form.width}"
        functions.append(f"""
          func.func @decode_{form.type}(%code: i32) -> f32 attributes {{llvm.emit_c_interface}} {{
            %bits = arith.trunci %code : i32 to {integer}
            %small = arith.bitcast %bits : {integer} to {form.type}
            %value = arith.extf %small : {form.type} to f32
            return %value : f32
          }}
          func.func @encode_{form.type}(%value: f32) -> i32 attributes {{llvm.emit_c_interface}} {{
            %small = arith.truncf %value : f32 to {form.type}
            %bits = arith.bitcast %small : {form.type} to {integer}
            %code = arith.extui %bits : {integer} to i32
            return %code : i32
          }}""")
    for type_ in ("f32", "f64"):
        functions.append(f"""
          func.func @remainder_{type_}(%x: {type_}, %y: {type_}) -> {type_} attributes {{llvm.emit_c_interface}} {{
            %r = arith.remf %x, %y : {type_}
            return %r : {type_}
          }}""")
    with ir.Context():
        module = ir.Module.parse("\n".join(functions))
        PassManager.parse(PIPELINE).run(module.operation)
        (folder / "m.mlir").write_text(str(module))
    translate = [tool("mlir-translate"), "--mlir-to-llvmir", str(folder / "m.mlir"), "-o", str(folder / "m.ll")]
    subprocess.run(translate, check=True, timeout=600)
    compile_ = [tool("clang"), "-O2", "-shared", "-fPIC", "-Wno-override-module", str(folder / "m.ll"), "-o"]
    subprocess.run([*compile_, str(folder / "m.so")], check=True, timeout=600)
    return ctypes.CDLL(str(folder / "m.so"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library(tmp_path_factory.mktemp("arith"))


def same(a: float, b: float) -> bool:
    return struct.pack("f", a) == struct.pack("f", b) or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.type)
def test_decodes_every_code(compiled: ctypes.CDLL, form: Format) -> None:
    decode = getattr(compiled, f"decode_{form.type}")
    decode.restype, decode.argtypes = ctypes.c_float, [ctypes.c_int32]
    for code in range(1 << form.width):
        assert same(decode(code), form.value(code)), hex(code)


def nearest(form: Format, value: float) -> set[int]:
    """The codes that a finite f32 or infinity may become: rounded to nearest, ties to the even mantissa."""
    negative = math.copysign(1.0, value) < 0
    sign = 1 << (form.width - 1) if negative else 0
    numbers = form.numbers
    largest, last = numbers[-1]
    # The next number, if there were one, is where ties to overflow would go.
    step = largest - numbers[-2][0]
    if abs(value) > largest + step / 2 or (abs(value) == largest + step / 2 and last & 1):
        if form.infinities:
            return {sign | 0x7C}
        return {code for code in form.nans if len(form.nans) == 1 or code >> 7 == negative} or {sign | last}
    code = min(numbers, key=lambda number: (abs(number[0] - abs(value)), number[1] & 1))[1]
    return {0} if code == 0 and form.type.endswith("FNUZ") else {sign | code}


@pytest.mark.parametrize("form", SIGNED, ids=lambda form: form.type)
def test_rounds_to_nearest_even(compiled: ctypes.CDLL, form: Format) -> None:
    encode = getattr(compiled, f"encode_{form.type}")
    encode.restype, encode.argtypes = ctypes.c_uint32, [ctypes.c_float]
    numbers = [value for value, _ in form.numbers]
    between = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    top = 2 * numbers[-1] - numbers[-2]
    values = [*numbers, *between, top, (top + numbers[-1]) / 2, 3e38, 1e-45, 1e-38, math.inf]
    values += [struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", value))[0] + step))[0]
               for value in between for step in (-1, 1)]  # fmt: skip
    generator = random.Random(0)
    values += [math.ldexp(generator.random(), generator.randrange(-20, 18)) for _ in range(COUNT)]
    values = [struct.unpack("f", struct.pack("f", value))[0] for value in values]
    for value in (*values, *(-value for value in values)):
        assert encode(value) in nearest(form, value), (value, hex(encode(value)))
    expected = {code & 0x7F if len(form.nans) > 1 else code for code in form.nans} or {form.numbers[-1][1]}
    assert encode(math.nan) & (0x7F if len(form.nans) > 1 else 0xFF) & ((1 << form.width) - 1) in expected


def test_exponent_of_e8m0(compiled: ctypes.CDLL) -> None:
    encode = compiled.encode_f8E8M0FNU
    encode.restype, encode.argtypes = ctypes.c_uint32, [ctypes.c_float]
    assert [encode(value) for value in (1.0, 1.99, 2.0, 0.5, math.inf, -4.0)] == [127, 127, 128, 126, 254, 129]
    assert encode(math.nan) == 255


@pytest.mark.parametrize(("type_", "ctype", "code"), [("f32", ctypes.c_float, "f"), ("f64", ctypes.c_double, "d")])
def test_remainder_is_fmod(compiled: ctypes.CDLL, type_: str, ctype: type, code: str) -> None:
    remainder = getattr(compiled, f"remainder_{type_}")
    remainder.restype, remainder.argtypes = ctype, [ctype, ctype]
    generator = random.Random(1)
    size = struct.calcsize(code)
    special = [0.0, -0.0, 1.0, -3.0, 5.5, 1e30, -1e-30, 5e-324 if code == "d" else 1e-45, math.inf, math.nan]
    pairs = [(x, y) for x in special for y in special]
    pairs += [struct.unpack(f"2{code}", generator.randbytes(2 * size)) for _ in range(COUNT)]
    pairs += [(generator.uniform(-1e6, 1e6), generator.uniform(-10, 10)) for _ in range(COUNT)]
    for x, y in pairs:
        x, y = struct.unpack(f"2{code}", struct.pack(f"2{code}", x, y))
        try:
            expected = math.fmod(x, y)
        except ValueError:
            expected = math.nan
        found = remainder(x, y)
        equal = struct.pack(code, found) == struct.pack(code, expected)
        assert equal or (math.isnan(found) and math.isnan(expected)), (x, y, found, expected)
