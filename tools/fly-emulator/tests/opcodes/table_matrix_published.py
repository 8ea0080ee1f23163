# SPDX-License-Identifier: Apache-2.0
"""The matrix instructions of CDNA3 against AMD's published element maps (tests/data/matrix-instructions-cdna3.json).

Operands are small integers, so that every sum is exact and the test is about where elements live. The modifiers that
AMD's calculator knows (CBSZ with ABID, BLGP) run where it says that an instruction has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .case import ARCHITECTURES, LANES, Case, Context, case
from .kinds import KINDS, Array, Kind, Words
from .table_matrix import SPARSE_INDEX

TABLE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data/matrix-instructions-cdna3.json").read_text())
MAPS = "Matrix element to register mapping with no modifiers"
# The published map of B for 16-bit SMFMAC puts k and k + 4 into the same half of a register; eight halves in four
# registers can only be meant like this, as it is for the dense instructions.
for _name, _entry in TABLE.items():
    if "smfmac" in _name and _name.endswith("f16"):
        assert _entry[MAPS]["B[k][j].block GPR"].startswith("(k % 4).[16")
        _entry[MAPS]["B[k][j].block GPR"] = _entry[MAPS]["B[k][j].block GPR"].replace("(k % 4)", "(floor(k / 2) % 4)")

Place = tuple[int, int, int]  # lane, bit, register
FLOATS = {"FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16,
          "FP8": ml_dtypes.float8_e4m3fn, "BF8": ml_dtypes.float8_e5m2}  # fmt: skip
FNUZ = {"FP8": ml_dtypes.float8_e4m3fnuz, "BF8": ml_dtypes.float8_e5m2fnuz}
BITS = {"FP64": 64, "FP32": 32, "int32": 32, "FP16": 16, "BF16": 16, "int8": 8, "FP8": 8, "BF8": 8}
WORD: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@lru_cache
def formula(text: str) -> Callable[..., int]:
    """A function of i, j, k and block."""
    source = text.replace("floor(", "(").replace("/", "//")
    function: Callable[..., int] = eval(f"lambda i=0, j=0, k=0, block=0: {source}", {"__builtins__": {}})
    return function


def place(maps: dict[str, str], key: str, bits: int, **values: int) -> Place:
    gpr, lane = maps[f"{key} GPR"], formula(maps[f"{key} Lane"])(**values)
    pair = re.fullmatch(r"\[(.*):(.*)\]", gpr)
    if pair:  # a 64-bit element: [high : low]
        return lane, 0, formula(pair[2])(**values)
    within = re.fullmatch(r"(.*)\.\[(.*):(.*)\]", gpr)
    if within:
        return lane, formula(within[3])(**values), formula(within[1])(**values)
    assert bits == 32
    return lane, 0, formula(gpr)(**values)


class Published:
    """One entry of AMD's table."""

    def __init__(self, name: str) -> None:
        entry = TABLE[name]
        self.maps: dict[str, str] = entry[MAPS]
        self.m, self.n, self.k, self.blocks = (int(entry["Matrix Dimensions"][d]) for d in ("M", "N", "K", "blocks"))
        types = {key: value.split()[0] for key, value in entry["Register data types"].items()}
        self.a, self.b, self.out = types["Src0"], types["Src1"], types["Vdst"]
        self.rows = {key[-1]: int(v) for key, v in entry["Register usage"].items() if key.startswith("GPRs")}
        modifiers = entry["Register modifiers"]
        self.sparse = modifiers["Sparse A matrix"] == "True"
        self.broadcasts = modifiers["CBSZ and ABID bits supported"] == "True" and not self.sparse
        self.patterns = modifiers["BLGP bits supported"] == "True"

    @property
    def result_key(self) -> str:
        return "D[i][j].block" if self.sparse else "C or D[i][j].block"

    @lru_cache  # noqa: B019 - entries live as long as the tables
    def places(self, which: str) -> list[tuple[tuple[int, int, int], Place]]:
        """(block, row, column) of each element of A, B or C, and where it lies."""
        out = []
        if which == "a":
            for block, i, k in np.ndindex(self.blocks, self.m, self.k):
                out.append(((block, i, k), place(self.maps, "A[i][k].block", BITS[self.a], i=i, k=k, block=block)))
        elif which == "b":
            for block, k, j in np.ndindex(self.blocks, self.k, self.n):
                out.append(((block, k, j), place(self.maps, "B[k][j].block", BITS[self.b], j=j, k=k, block=block)))
        else:
            for block, i, j in np.ndindex(self.blocks, self.m, self.n):
                out.append(((block, i, j), place(self.maps, self.result_key, BITS[self.out], i=i, j=j, block=block)))
        return out


def decode(words: Words, at: Place, kind: str, arch: str) -> Array:
    """One element of every wave, as float64."""
    lane, bit, register = at
    bits = BITS[kind]
    codes = words[register, lane::LANES].astype(np.uint64)
    if bits == 64:
        codes = codes | words[register + 1, lane::LANES].astype(np.uint64) << np.uint64(32)
    codes = (codes >> np.uint64(bit) & np.uint64((1 << bits) - 1)).astype(WORD[bits])
    if kind.startswith("int"):
        return codes.view(np.int8 if bits == 8 else np.int32).astype(np.float64)
    dtype: Any = FNUZ.get(kind, FLOATS[kind]) if arch == "gfx942" else FLOATS[kind]
    value: Array = codes.view(dtype).astype(np.float64)
    return value


def matrix(one: Published, which: str, words: Words, arch: str) -> Array:
    """(waves, blocks, rows, columns)"""
    shapes = {"a": (one.m, one.k, one.a), "b": (one.k, one.n, one.b), "c": (one.m, one.n, one.out)}
    rows, columns, kind = shapes[which]
    out = np.zeros((words.shape[1] // LANES, one.blocks, rows, columns))
    for (block, i, j), at in one.places(which):
        out[:, block, i, j] = decode(words, at, kind, arch)
    return out


def expanded(one: Published, words: Words, index: Array, first_bit: int, arch: str) -> Array:
    """The dense A of a sparse instruction: each pair of a group of four goes where its two indices say."""
    bits, waves = BITS[one.a], words.shape[1] // LANES
    out = np.zeros((waves, 1, one.m, one.k))
    for i, group in np.ndindex(one.m, one.k // 4):
        values = {"i": i, "k": group * 4}
        lane = formula(one.maps["compression[i][k] Lane"])(**values)
        field = re.fullmatch(r"0\.\[(.*):(.*)\]", one.maps["compression[i][k] GPR"])
        assert field
        pair = index[lane::LANES] >> np.uint32(formula(field[2])(**values) + first_bit)
        for slot in range(2):
            at = pair >> np.uint32(2 * slot) & np.uint32(3)
            value = decode(words, _pair_place(one, i, group * 4, bits, slot), one.a, arch)
            out[np.arange(waves), 0, i, group * 4 + at.astype(int)] = value
    return out


def _pair_place(one: Published, i: int, k: int, bits: int, slot: int) -> Place:
    """AMD's map gives the pair of a group as one field of two elements."""
    lane = formula(one.maps["A[i][k].block Lane"])(i=i, k=k)
    gpr = one.maps["A[i][k].block GPR"]
    within = re.fullmatch(r"(.*)\.\[(.*):(.*)\]", gpr)
    if within is None:  # a whole register holds the pair
        return lane, slot * bits, formula(gpr)(i=i, k=k)
    return lane, formula(within[3])(i=i, k=k) + slot * bits, formula(within[1])(i=i, k=k)


def result(one: Published, values: Array) -> Words:
    """Register rows of D."""
    waves = len(values)
    out = np.zeros((one.rows["D"], waves * LANES), np.uint32)
    for (block, i, j), (lane, _, register) in one.places("c"):
        v = values[:, block, i, j]
        if one.out == "FP64":
            bits = v.view(np.uint64)
            out[register, lane::LANES] = bits.astype(np.uint32)
            out[register + 1, lane::LANES] = (bits >> np.uint64(32)).astype(np.uint32)
        elif one.out == "int32":
            out[register, lane::LANES] = (v.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)
        else:
            out[register, lane::LANES] = v.astype(np.float32).view(np.uint32)
    return out


def lane_pattern(blgp: int) -> Array:
    """The lane that each lane of B is taken from: halves and quarters broadcast, or all moved 16 lanes to the left."""
    lanes = np.arange(LANES)
    if blgp in (1, 2):
        return lanes % 32 + 32 * (blgp - 1)
    return (lanes + 16) % LANES if blgp == 3 else lanes % 16 + 16 * (blgp - 4)


def define(one: Published, cbsz: int = 0, abid: int = 0, blgp: int = 0) -> Callable[..., Words]:
    def run(context: Context, a: Words, b: Words, *index: Array) -> Words:
        negative = (1.0, 1.0, 1.0)
        if one.out == "FP64":  # BLGP holds three signs
            negative = tuple(-1.0 if blgp >> i & 1 else 1.0 for i in range(3))  # type: ignore[assignment]
        elif blgp:
            b = b.reshape(len(b), -1, LANES)[:, :, lane_pattern(blgp)].reshape(b.shape)
        per = one.m * one.k // LANES
        left = expanded(one, a, index[0], abid * per, context.arch) if one.sparse else matrix(one, "a", a, context.arch)
        if not one.sparse:
            left = left[:, (np.arange(one.blocks) >> cbsz << cbsz) + abid]
        right, old = matrix(one, "b", b, context.arch), matrix(one, "c", context.old[0], context.arch)
        return result(one, left * negative[0] @ (right * negative[1]) + old * negative[2])

    return run


def small_integers(rows: int, element: str) -> str:
    """A kind of operand: registers full of integers from -4 to 4 in an element type."""
    name = f"{element} {rows}".replace(" ", "_")
    bits = BITS[element]

    def values(rng: np.random.Generator, n: int, share: float) -> Words:
        numbers = rng.integers(-4, 5, (rows * 32 // bits, n))
        if element.startswith("int"):
            codes = (numbers & (1 << bits) - 1).astype(np.uint64)
        else:  # FNUZ reads half of the number, exact as well; zero stays zero
            codes = numbers.astype(FLOATS[element]).view(WORD[bits]).astype(np.uint64)
        out = np.zeros((rows, n), np.uint64)
        for i, code in enumerate(codes):
            if bits == 64:
                out[2 * i], out[2 * i + 1] = code & np.uint64(0xFFFFFFFF), code >> np.uint64(32)
            else:
                out[i * bits // 32] |= code << np.uint64(i * bits % 32)
        return out.astype(np.uint32)

    KINDS.setdefault(name, Kind(name, rows, lambda w: w, lambda v: v, values))
    return name


def archs_of(name: str) -> tuple[str, ...]:
    return ("gfx942",) if "xf32" in name else ARCHITECTURES


def cases() -> list[Case]:
    out = []
    for name in TABLE:
        one = Published(name)
        kinds = [small_integers(one.rows[key], kind) for key, kind in (("A", one.a), ("B", one.b))]
        result_kind = small_integers(one.rows["D"], one.out)
        variants: list[tuple[int, int, int]] = [(0, 0, 0)]
        if one.sparse:
            kinds.append(SPARSE_INDEX)
            per = one.m * one.k // LANES
            variants += [(0, abid, 0) for abid in range(1, 32 // per)]
        if one.broadcasts:
            variants += [(c, (1 << c) - 1 - (c > 2), 0) for c in range(1, one.blocks.bit_length())]
        if one.patterns:
            variants += [(0, 0, blgp) for blgp in range(1, 8)]
        for cbsz, abid, blgp in variants:
            last = "{c}" if one.sparse else "{d}"
            tail = "".join(f" {k}:{v}" for k, v in (("cbsz", cbsz), ("abid", abid)) if v)
            if blgp and one.out == "FP64":
                tail += f" neg:[{blgp & 1},{blgp >> 1 & 1},{blgp >> 2}]"
            elif blgp:
                tail += f" blgp:{blgp}"
            # EXEC is without meaning to these instructions.
            out.append(
                case(name, " ".join(kinds), result_kind, define(one, cbsz, abid, blgp),
                     f"{{op}} {{d}}, {{a}}, {{b}}, {last}{tail}", context=True, whole=True, archs=archs_of(name),
                     label=tail.strip())
            )  # fmt: skip
    return out
