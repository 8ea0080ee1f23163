# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions against AMD's published element maps (tests/data/matrix-instructions-cdna3.json).

Operands are small integers, so that every sum is exact and the test is about where elements live.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .harness import LANES, Probe

TABLE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data/matrix-instructions-cdna3.json").read_text())
MAPS = "Matrix element to register mapping with no modifiers"
BITS = {"FP64": 64, "FP32": 32, "int32": 32, "FP16": 16, "BF16": 16, "int8": 8, "FP8": 8, "BF8": 8}


# The published map of B for 16-bit SMFMAC puts k and k + 4 into the same half of a register; eight halves in four
# registers can only be meant like this, as it is for the dense instructions.
for _name, _entry in TABLE.items():
    if "smfmac" in _name and _name.endswith("f16"):
        assert _entry[MAPS]["B[k][j].block GPR"].startswith("(k % 4).[16")
        _entry[MAPS]["B[k][j].block GPR"] = _entry[MAPS]["B[k][j].block GPR"].replace("(k % 4)", "(floor(k / 2) % 4)")


def evaluate(formula: str, **values: int) -> int:
    text = re.sub(r"floor\(", "(", formula).replace("/", "//")
    return int(eval(text, {"__builtins__": {}}, values))


def place(maps: dict[str, str], key: str, bits: int, **values: int) -> tuple[int, int, int]:
    """Lane, bit offset and register of an element."""
    gpr, lane = maps[f"{key} GPR"], evaluate(maps[f"{key} Lane"], **values)
    pair = re.fullmatch(r"\[(.*):(.*)\]", gpr)
    if pair:  # a 64-bit element: [high : low]
        return lane, 0, evaluate(pair[2], **values)
    within = re.fullmatch(r"(.*)\.\[(.*):(.*)\]", gpr)
    if within:
        return lane, evaluate(within[3], **values), evaluate(within[1], **values)
    assert bits == 32
    return lane, 0, evaluate(gpr, **values)


def encode(value: float, kind: str, ocp: bool) -> int:
    if kind == "int8":
        return int(value) & 0xFF
    dtype = {
        "FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16,
        "FP8": ml_dtypes.float8_e4m3fn if ocp else ml_dtypes.float8_e4m3fnuz,
        "BF8": ml_dtypes.float8_e5m2 if ocp else ml_dtypes.float8_e5m2fnuz,
    }[kind]  # fmt: skip
    return int.from_bytes(np.array(value, dtype).tobytes(), "little")


def put(rows: np.ndarray, lane: int, register: int, bit: int, bits: int, value: int) -> None:
    mask = (1 << min(bits, 32)) - 1
    rows[register, lane] |= np.uint32((value & mask) << bit)
    if bits == 64:
        rows[register + 1, lane] |= np.uint32(value >> 32)


def supported(name: str, arch: str) -> bool:
    return not ("xf32" in name and arch == "gfx950")


@pytest.mark.parametrize("name", TABLE)
def test_elements_live_where_amd_says(probe: Probe, name: str) -> None:
    if not supported(name, probe.arch):
        pytest.skip(f"{probe.arch} has no {name}")
    entry = TABLE[name]
    maps, kinds = entry[MAPS], {k: v.split()[0] for k, v in entry["Register data types"].items()}
    m, n, k, blocks = (int(entry["Matrix Dimensions"][key]) for key in ("M", "N", "K", "blocks"))
    sparse = entry["Register modifiers"]["Sparse A matrix"] == "True"
    usage = {key[-1]: int(v) for key, v in entry["Register usage"].items() if key.startswith("GPRs")}
    rng = np.random.default_rng(len(name))
    a = rng.integers(-4, 5, (blocks, m, k)).astype(np.float64)
    b = rng.integers(-4, 5, (blocks, k, n)).astype(np.float64)
    c = rng.integers(-9, 9, (blocks, m, n)).astype(np.float64)
    ocp = probe.arch == "gfx950"
    a_bits, b_bits = BITS[kinds["Src0"]], BITS[kinds["Src1"]]
    out_kind = kinds["Vdst"]
    rows_a, rows_b = np.zeros((usage["A"], LANES), np.uint32), np.zeros((usage["B"], LANES), np.uint32)
    rows_c, index = np.zeros((usage["D"], LANES), np.uint32), np.zeros((1, LANES), np.uint32)
    if sparse:
        a = sparse_a(rng, maps, a, rows_a, index, a_bits, kinds["Src0"], ocp)
    else:
        for block, i, kk in np.ndindex(blocks, m, k):
            lane, bit, register = place(maps, "A[i][k].block", a_bits, i=i, k=kk, block=block)
            put(rows_a, lane, register, bit, a_bits, encode(a[block, i, kk], kinds["Src0"], ocp))
    for block, kk, j in np.ndindex(blocks, k, n):
        lane, bit, register = place(maps, "B[k][j].block", b_bits, j=j, k=kk, block=block)
        put(rows_b, lane, register, bit, b_bits, encode(b[block, kk, j], kinds["Src1"], ocp))
    key = "D[i][j].block" if sparse else "C or D[i][j].block"
    out_bits = BITS[out_kind]
    encode_out = (lambda v: int(v) & 0xFFFFFFFF) if out_kind == "int32" else (lambda v: encode(v, out_kind, ocp))
    for block, i, j in np.ndindex(blocks, m, n):
        lane, bit, register = place(maps, key, out_bits, i=i, j=j, block=block)
        put(rows_c, lane, register, bit, out_bits, encode_out(c[block, i, j]))
    got = run(probe, name, rows_a, rows_b, rows_c, index if sparse else None)
    want = a @ b + c
    for block, i, j in np.ndindex(blocks, m, n):
        lane, _, register = place(maps, key, out_bits, i=i, j=j, block=block)
        words = got[register : register + max(1, out_bits // 32), lane].copy()
        dtype = {"FP32": np.float32, "FP64": np.float64, "int32": np.int32}[out_kind]
        assert words.view(dtype)[0] == want[block, i, j], (block, i, j)


def sparse_a(
    rng: np.random.Generator, maps: dict[str, str], a: np.ndarray, rows: np.ndarray, index: np.ndarray, bits: int,
    kind: str, ocp: bool,
) -> np.ndarray:  # fmt: skip
    """Keep two of each four elements; store them and their indices; return the dense matrix."""
    dense = np.zeros_like(a)
    _, m, k = a.shape
    for i, group in np.ndindex(m, k // 4):
        first, second = sorted(rng.choice(4, 2, replace=False).tolist())
        for slot, position in enumerate((first, second)):
            kk = group * 4 + position
            dense[0, i, kk] = a[0, i, kk]
            # AMD's map gives the pair of a group as one field of two elements.
            lane, bit, register = pair_place(maps, i, group * 4, bits, slot)
            put(rows, lane, register, bit, bits, encode(a[0, i, kk], kind, ocp))
        lane = evaluate(maps["compression[i][k] Lane"], i=i, k=group * 4)
        field = re.fullmatch(r"0\.\[(.*):(.*)\]", maps["compression[i][k] GPR"])
        assert field
        index[0, lane] |= np.uint32((first | second << 2) << evaluate(field[2], i=i, k=group * 4))
    return dense


def pair_place(maps: dict[str, str], i: int, k: int, bits: int, slot: int) -> tuple[int, int, int]:
    lane = evaluate(maps["A[i][k].block Lane"], i=i, k=k, block=0)
    gpr = maps["A[i][k].block GPR"]
    within = re.fullmatch(r"(.*)\.\[(.*):(.*)\]", gpr)
    if within is None:  # a whole register holds the pair
        return lane, slot * bits, evaluate(gpr, i=i, k=k, block=0)
    return lane, evaluate(within[3], i=i, k=k) + slot * bits, evaluate(within[1], i=i, k=k)


def run(probe: Probe, name: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, index: np.ndarray | None) -> np.ndarray:
    parts = [a, b, c] + ([index] if index is not None else [])
    starts, rows = [], []
    at = 10
    for part in parts:
        if at % 2:
            rows.append(np.zeros((1, LANES), np.uint32))
            at += 1
        starts.append(at)
        rows.append(part)
        at += len(part)

    def span(start: int, count: int) -> str:
        return f"v{start}" if count == 1 else f"v[{start}:{start + count - 1}]"

    d = span(starts[2], len(c))
    sources = f"{span(starts[0], len(a))}, {span(starts[1], len(b))}"
    last = f"v{starts[3]}" if index is not None else d
    results = [f"v{starts[2] + i}" for i in range(len(c))]
    # EXEC is without meaning to these instructions.
    return probe.run(f"{name} {d}, {sources}, {last}", np.concatenate(rows), results, exec_mask=0x55)
