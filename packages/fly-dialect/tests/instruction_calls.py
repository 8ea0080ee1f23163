# SPDX-License-Identifier: Apache-2.0
"""Calls of AMD's intrinsics, as LLVM's `IntrinsicsAMDGPU.td` declares them, for each kind that some chips lack.

A call is the name behind `llvm.amdgcn.`, the type of the result, and the operands: types, and constants where the
operand is part of the instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["CALLS", "Call", "program"]

_F4, _F8, _F16, _F32 = (f"<{lanes} x float>" for lanes in (4, 8, 16, 32))
_I2, _I4, _I8, _I16, _I32 = (f"<{lanes} x i32>" for lanes in (2, 4, 8, 16, 32))
_FP8 = [f"{a}.{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8")]
_GLOBAL, _SHARED, _BUFFER = (f"ptr addrspace({space})" for space in (1, 3, 8))


class Call(NamedTuple):
    name: str
    result: str
    operands: str
    known_as: str = ""
    """Under which name the dialect knows it, where an operand decides."""


def _mfma() -> Iterator[Call]:
    shapes = {
        "float": "32x32x1f32 16x16x1f32 4x4x1f32 32x32x2f32 16x16x4f32",
        "<4 x half>": "32x32x4f16 16x16x4f16 4x4x4f16 32x32x8f16 16x16x16f16",
        "<2 x i16>": "32x32x2bf16 16x16x2bf16 4x4x2bf16 32x32x4bf16 16x16x8bf16",
        "<4 x i16>": "32x32x4bf16.1k 16x16x4bf16.1k 4x4x4bf16.1k 32x32x8bf16.1k 16x16x16bf16.1k",
    }
    for operand, names in shapes.items():
        for name, result in zip(names.split(), (_F32, _F16, _F4, _F16, _F4), strict=True):
            yield Call(f"mfma.f32.{name}", result, f"{operand}, {operand}, {result}, i32 0, i32 0, i32 0")
    for name, result in zip(
        ("32x32x4i8", "16x16x4i8", "4x4x4i8", "32x32x8i8", "16x16x16i8"), (_I32, _I16, _I4, _I16, _I4), strict=True
    ):
        yield Call(f"mfma.i32.{name}", result, f"i32, i32, {result}, i32 0, i32 0, i32 0")
    others = [
        ("f64.16x16x4f64", "<4 x double>", "double"), ("f64.4x4x4f64", "double", "double"),
        ("i32.16x16x32.i8", _I4, "i64"), ("i32.32x32x16.i8", _I16, "i64"),
        ("f32.16x16x8.xf32", _F4, "<2 x float>"), ("f32.32x32x4.xf32", _F16, "<2 x float>"),
        *((f"f32.16x16x32.{formats}", _F4, "i64") for formats in _FP8),
        *((f"f32.32x32x16.{formats}", _F16, "i64") for formats in _FP8),
        ("f32.16x16x32.f16", _F4, "<8 x half>"), ("f32.32x32x16.f16", _F16, "<8 x half>"),
        ("f32.16x16x32.bf16", _F4, "<8 x bfloat>"), ("f32.32x32x16.bf16", _F16, "<8 x bfloat>"),
        ("i32.16x16x64.i8", _I4, _I4), ("i32.32x32x32.i8", _I16, _I4),
    ]  # fmt: skip
    for name, result, operand in others:
        yield Call(f"mfma.{name}", result, f"{operand}, {operand}, {result}, i32 0, i32 0, i32 0")
    for name, result in (("16x16x128.f8f6f4", _F4), ("32x32x64.f8f6f4", _F16)):
        scaled = f"{_I8}, {_I8}, {result}, i32 0, i32 0, i32 0, i32, i32 0, i32"
        yield Call(f"mfma.scale.f32.{name}", result, scaled)


def _smfmac() -> Iterator[Call]:
    for names, sums, a, b in (
        ("f32.16x16x32.f16 f32.32x32x16.f16", "f", "<4 x half>", "<8 x half>"),
        ("f32.16x16x64.f16 f32.32x32x32.f16", "f", "<8 x half>", "<16 x half>"),
        ("f32.16x16x32.bf16 f32.32x32x16.bf16", "f", "<4 x i16>", "<8 x i16>"),
        ("f32.16x16x64.bf16 f32.32x32x32.bf16", "f", "<8 x bfloat>", "<16 x bfloat>"),
        ("i32.16x16x64.i8 i32.32x32x32.i8", "i", _I2, _I4),
        ("i32.16x16x128.i8 i32.32x32x64.i8", "i", _I4, _I8),
        *((f"f32.16x16x64.{formats} f32.32x32x32.{formats}", "f", _I2, _I4) for formats in _FP8),
        *((f"f32.16x16x128.{formats} f32.32x32x64.{formats}", "f", _I4, _I8) for formats in _FP8),
    ):
        for name, result in zip(names.split(), (_F4, _F16) if sums == "f" else (_I4, _I16), strict=True):
            yield Call(f"smfmac.{name}", result, f"{a}, {b}, {result}, i32, i32 0, i32 0")


def _wmma() -> Iterator[Call]:
    of_float = (("f32", _F8), ("f16", "<8 x half>"))
    for lanes in (16, 8):  # gfx11 holds each operand in both halves of a wave
        for name, element in (("f16", "half"), ("bf16", "i16")):
            v = f"<{lanes} x {element}>"
            yield Call(f"wmma.f32.16x16x16.{name}", _F8, f"{v}, {v}, {_F8}")
            yield Call(f"wmma.{name}.16x16x16.{name}", v, f"{v}, {v}, {v}, i1 0")
        for name, v in (("iu8", f"<{lanes // 4} x i32>"), ("iu4", "i32" if lanes == 8 else _I2)):
            yield Call(f"wmma.i32.16x16x16.{name}", _I8, f"i1 0, {v}, i1 0, {v}, {_I8}, i1 0")
    yield Call("wmma.i32.16x16x32.iu4", _I8, f"i1 0, {_I2}, i1 0, {_I2}, {_I8}, i1 0")
    yield Call("wmma.i32.16x16x64.iu8", _I8, f"i1 0, {_I8}, i1 0, {_I8}, {_I8}, i1 0, i1 0, i1 0")
    for formats in _FP8:
        yield Call(f"wmma.f32.16x16x16.{formats}", _F8, f"{_I2}, {_I2}, {_F8}")
        for sums, result in of_float:
            yield Call(f"wmma.{sums}.16x16x64.{formats}", result, f"{_I8}, {_I8}, i16 0, {result}, i1 0, i1 0")
            yield Call(f"wmma.{sums}.16x16x128.{formats}", result, f"{_I16}, {_I16}, i16 0, {result}, i1 0, i1 0")
    v = "<2 x float>"
    yield Call("wmma.f32.16x16x4.f32", _F8, f"i1 0, {v}, i1 0, {v}, i16 0, {_F8}, i1 0, i1 0")
    for sums, result in of_float:
        v = "<16 x half>"
        yield Call(f"wmma.{sums}.16x16x32.f16", result, f"i1 0, {v}, i1 0, {v}, i16 0, {result}, i1 0, i1 0")
    v = "<16 x bfloat>"
    halves = "<8 x bfloat>"
    for sums, result, c in (("f32", _F8, _F8), ("bf16", halves, halves), ("bf16f32", halves, _F8)):
        yield Call(f"wmma.{sums}.16x16x32.bf16", result, f"i1 0, {v}, i1 0, {v}, i16 0, {c}, i1 0, i1 0")
    yield Call("wmma.f32.16x16x128.f8f6f4", _F8, f"i32 0, {_I16}, i32 0, {_I16}, i16 0, {_F8}")
    yield Call("wmma.f32.32x16x128.f4", _F16, f"{_I16}, {_I8}, i16 0, {_F16}")
    for name, scale in (("scale", "i32"), ("scale16", "i64")):
        scales = f"i32 0, i32 0, {scale}, i32 0, i32 0, {scale}, i1 0, i1 0"
        yield Call(f"wmma.{name}.f32.16x16x128.f8f6f4", _F8, f"i32 0, {_I16}, i32 0, {_I16}, i16 0, {_F8}, {scales}")
        yield Call(f"wmma.{name}.f32.32x16x128.f4", _F16, f"{_I16}, {_I8}, i16 0, {_F16}, {scales}")


def _swmmac() -> Iterator[Call]:
    of_float = (("f32", _F8), ("f16", "<8 x half>"))
    for sums, result in of_float:
        yield Call(f"swmmac.{sums}.16x16x32.f16", result, f"<8 x half>, <16 x half>, {result}, i32")
        wide = f"i1 0, <16 x half>, i1 0, <32 x half>, {result}, i32, i1 0, i1 0"
        yield Call(f"swmmac.{sums}.16x16x64.f16", result, wide)
        for formats in _FP8:
            wide = f"{_I8}, {_I16}, {result}, i64, i1 0, i1 0"
            yield Call(f"swmmac.{sums}.16x16x128.{formats}", result, wide)
    for formats in _FP8:
        yield Call(f"swmmac.f32.16x16x32.{formats}", _F8, f"{_I2}, {_I4}, {_F8}, i32")
    for sums, result in (("f32", _F8), ("bf16", "<8 x i16>")):
        yield Call(f"swmmac.{sums}.16x16x32.bf16", result, f"<8 x i16>, <16 x i16>, {result}, i32")
    for sums, result in (("f32", _F8), ("bf16", "<8 x bfloat>"), ("bf16f32", _F8)):
        wide = f"i1 0, <16 x bfloat>, i1 0, <32 x bfloat>, {result}, i32, i1 0, i1 0"
        yield Call(f"swmmac.{sums}.16x16x64.bf16", result, wide)
    for name, a, b in (("16x16x32.iu8", _I2, _I4), ("16x16x32.iu4", "i32", _I2), ("16x16x64.iu4", _I2, _I4)):
        yield Call(f"swmmac.i32.{name}", _I8, f"i1 0, {a}, i1 0, {b}, {_I8}, i32, i1 0")
    wide = f"i1 0, {_I8}, i1 0, {_I16}, {_I8}, i64, i1 0, i1 0, i1 0"
    yield Call("swmmac.i32.16x16x128.iu8", _I8, wide)


def _conversions() -> Iterator[Call]:
    for name, element in (("f32", "float"), ("f16", "half"), ("bf16", "bfloat")):
        yield Call(f"cvt.scalef32.pk.{name}.fp4", f"<2 x {element}>", "i32, float, i32 0")
        for small in ("fp8", "bf8"):
            yield Call(f"cvt.scalef32.pk.{name}.{small}", f"<2 x {element}>", "i32, float, i1 0")
        yield Call(f"cvt.scalef32.pk32.{name}.fp6", f"<32 x {element}>", "<6 x i32>, float")
    yield Call("cvt.scalef32.pk.fp4.f32", "i32", "i32, float, float, float, i32 0")
    yield Call("cvt.scalef32.pk.fp4.f16", "i32", "i32, <2 x half>, float, i32 0")
    yield Call("cvt.scalef32.pk.fp8.f32", "<2 x i16>", "<2 x i16>, float, float, float, i1 0")
    yield Call("cvt.scalef32.2xpk16.fp6.f32", "<6 x i32>", "<16 x float>, <16 x float>, float")
    yield Call("cvt.scalef32.pk32.fp6.f16", "<6 x i32>", "<32 x half>, float")
    yield Call("cvt.scalef32.sr.fp8.f32", "i32", "i32, float, i32, float, i32 0")
    yield Call("cvt.scalef32.sr.pk.fp4.f32", "i32", "i32, <2 x float>, i32, float, i32 0")
    yield Call("cvt.scalef32.sr.bf8.f32", "i32", "i32, float, i32, float, i32 0")
    yield Call("cvt.scalef32.sr.pk32.fp6.f32", "<6 x i32>", f"{_F32}, i32, float")
    yield Call("cvt.scalef32.f32.fp8", "float", "i32, float, i32 0")
    yield Call("cvt.scalef32.f16.fp8", "<2 x half>", "<2 x half>, i32, float, i32 0, i1 0")
    yield Call("cvt.scalef32.sr.pk8.fp8.f32", _I2, f"{_F8}, i32, float")
    yield Call("cvt.scalef32.sr.pk16.fp6.f32", "<3 x i32>", f"{_F16}, i32, float")
    yield Call("cvt.scalef32.pk8.fp8.f32", _I2, f"{_F8}, float")
    yield Call("cvt.scalef32.pk16.fp6.f32", "<3 x i32>", f"{_F16}, float")
    yield Call("cvt.scale.pk8.f32.fp8", _F8, f"{_I2}, i32, i32 0")
    yield Call("cvt.scale.pk16.f32.fp6", _F16, "<3 x i32>, i32, i32 0")
    yield Call("cvt.sr.bf16.f32", "<2 x bfloat>", "<2 x bfloat>, float, i32, i1 0")
    yield Call("cvt.sr.f16.f32", "<2 x half>", "<2 x half>, float, i32, i1 0")
    for small in ("fp8", "bf8"):
        yield Call(f"cvt.pk.{small}.f32", "i32", "float, float, i32, i1 0")
        yield Call(f"cvt.pk.f32.{small}", "<2 x float>", "i32, i1 0")
        yield Call(f"cvt.f32.{small}", "float", "i32, i32 0")
        yield Call(f"cvt.sr.{small}.f32", "i32", "float, i32, i32, i32 0")
    yield Call("tanh", "float", "float")


def _dots_and_lanes() -> Iterator[Call]:
    for sign in "su":
        yield Call(f"{sign}dot2", "i32", "<2 x i16>, <2 x i16>, i32, i1 0")
    for count in (4, 8):
        yield Call(f"sudot{count}", "i32", "i1 0, i32, i1 0, i32, i32, i1 0")
    yield Call("fdot2", "float", "<2 x half>, <2 x half>, float, i1 0")
    yield Call("fdot2.f32.bf16", "float", "<2 x bfloat>, <2 x bfloat>, float, i1 0")
    yield Call("fdot2.f16.f16", "half", "<2 x half>, <2 x half>, half")
    yield Call("fdot2.bf16.bf16", "bfloat", "<2 x bfloat>, <2 x bfloat>, bfloat")
    for formats in _FP8:
        yield Call(f"dot4.f32.{formats}", "float", "i32, i32, float")
    row_bcast15 = 322
    yield Call("update.dpp", "i32", f"i32, i32, i32 {row_bcast15}, i32 15, i32 15, i1 0", "update.dpp.row_bcast")
    for name in ("permlane16", "permlanex16"):
        yield Call(name, "i32", "i32, i32, i32, i32, i1 0, i1 0")
        yield Call(f"{name}.var", "i32", "i32, i32, i32, i1 0, i1 0")
    for name in ("permlane16.swap", "permlane32.swap"):
        yield Call(name, "{i32, i32}", "i32, i32, i1 0, i1 0")


def _memory() -> Iterator[Call]:
    for name, result in (("tr4.b64", _I2), ("tr8.b64", _I2), ("tr6.b96", "<3 x i32>"), ("tr16.b64", "<4 x i16>")):
        yield Call(f"ds.read.{name}", result, _SHARED)
    for name, result in (("tr8.b64", _I2), ("tr16.b128", "<8 x i16>")):
        yield Call(f"ds.load.{name}", result, _SHARED)
    yield Call("global.load.tr.b64", _I2, _GLOBAL)
    yield Call("global.load.tr.b128", "<8 x i16>", _GLOBAL)
    yield Call("global.load.tr4.b64", _I2, _GLOBAL)
    yield Call("global.load.tr6.b96", "<3 x i32>", _GLOBAL)
    for size in (1, 2, 4, 12, 16):
        yield Call(
            "raw.ptr.buffer.load.lds", "void", f"{_BUFFER}, {_SHARED}, i32 {size}, i32, i32, i32 0, i32 0",
            f"raw.ptr.buffer.load.lds.b{8 * size}",
        )  # fmt: skip
        for name in ("global.load.lds", "load.to.lds"):
            yield Call(name, "void", f"{_GLOBAL}, {_SHARED}, i32 {size}, i32 0, i32 0", f"{name}.b{8 * size}")
    for width in ("b8", "b32", "b64", "b128"):
        yield Call(f"cluster.load.async.to.lds.{width}", "void", f"{_GLOBAL}, {_SHARED}, i32 0, i32 0, i32")
        yield Call(f"global.load.async.to.lds.{width}", "void", f"{_GLOBAL}, {_SHARED}, i32 0, i32 0")
        yield Call(f"global.store.async.from.lds.{width}", "void", f"{_GLOBAL}, {_SHARED}, i32 0, i32 0")
    yield Call("cluster.load.b32", "i32", f"{_GLOBAL}, i32 0, i32")
    for name in ("tensor.load.to.lds", "tensor.store.from.lds"):
        yield Call(name, "void", f"{_I4}, {_I8}, {_I4}, {_I4}, i32 0")
        yield Call(f"{name}.d2", "void", f"{_I4}, {_I8}, i32 0")
    yield Call("global.prefetch", "void", f"{_GLOBAL}, i32 0")
    yield Call("flat.prefetch", "void", "ptr, i32 0")
    yield Call("ds.atomic.async.barrier.arrive.b64", "void", _SHARED)
    yield Call("ds.atomic.barrier.arrive.rtn.b64", "i64", f"{_SHARED}, i64")


def _control() -> Iterator[Call]:
    yield Call("s.cluster.barrier", "void", "")
    yield Call("s.barrier.signal", "void", "i32 -1")
    yield Call("s.barrier.wait", "void", "i16 -1")
    yield Call("s.barrier.leave", "void", "i16 -1")
    yield Call("s.get.barrier.state", "i32", "i32 -1")
    for counter in ("asynccnt", "tensorcnt", "dscnt", "loadcnt", "storecnt"):
        yield Call(f"s.wait.{counter}", "void", "i16 0")
    yield Call("s.waitcnt", "void", "i32 0")
    yield Call("s.wakeup.barrier", "void", _SHARED)


_KINDS = (_mfma, _smfmac, _wmma, _swmmac, _conversions, _dots_and_lanes, _memory, _control)
CALLS = tuple(call for kind in _KINDS for call in kind())


def program(calls: list[Call]) -> str:
    """Return LLVM IR with a function for each call."""
    functions, declared = [], {}
    for at, call in enumerate(calls):
        parameters, given, types = [], [], []
        for position, operand in enumerate(re.split(r", (?![^<{(]*[>})])", call.operands) if call.operands else []):
            constant = re.fullmatch(r"(i\d+) (-?\d+)", operand)
            types.append(constant[1] if constant else operand)
            if not constant:
                parameters.append(f"{operand} %a{position}")
            value = constant[2] if constant else f"%a{position}"
            given.append(f"{types[-1]} {'false' if types[-1] == 'i1' and constant else value}")
        # LLVM mangles the types of overloaded intrinsics into their names, and mends a name that lacks them.
        name = f"llvm.amdgcn.{call.name}"
        signature = f"{call.result} ({', '.join(types)})"
        if declared.setdefault(name, signature) != signature:
            name = f"{name}.overload{at}"
        functions.append(f"declare {call.result} @{name}({', '.join(types)})")
        made = f"call {call.result} @{name}({', '.join(given)})"
        body = f"{made}\n  ret void" if call.result == "void" else f"%r = {made}\n  ret {call.result} %r"
        functions.append(f"define {call.result} @f{at}({', '.join(parameters)}) {{\n  {body}\n}}")
    return "\n".join(dict.fromkeys(functions)) + "\n"
