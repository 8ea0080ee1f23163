# SPDX-License-Identifier: Apache-2.0
"""Evaluates the published mapping formulas of the matrix instructions.

Two directions are published: element to register (``A[i][k] GPR`` and ``Lane``) and register to element (``A i``,
``A k``, ``A block``). Both become a dictionary from (lane, value) to the element's index in column-major
(rows, columns, blocks); a value is the position of an element among those that the lane holds.

Sparse A: a group of four k shares two stored values, so the column of a stored value is ``2 * (k // 4) + 0 or 1``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Operand:
    """An operand's formulas: what rows and columns are called, how many, and how wide an element is."""

    name: str
    row: str
    column: str
    rows: int
    columns: int
    blocks: int
    bits: int
    per_register: int
    sparse: bool
    forward: tuple[str, str]
    backward: tuple[str, str, str]
    lanes: int
    registers: int

    @property
    def per_lane(self) -> int:
        """Values that a lane holds."""
        return self.registers * self.per_register if self.bits <= 32 else self.registers * 32 // self.bits


def evaluate(formula: str, **names: int) -> int:
    """Value of an arithmetic formula; ``/`` is integer division."""
    text = re.sub(r"floor\(([^()]*(?:\([^()]*\)[^()]*)*)\)", r"(\1)", formula).replace("/", "//")
    return int(eval(text, {"__builtins__": {}, "floor": int}, names))


def load() -> dict[str, dict]:
    """The formulas, by ``arch mnemonic wave``."""
    return json.loads((DATA / "matrix_formulas.json").read_text())


def operands(entry: dict) -> list[Operand]:
    """A, B and C (or D) of an instruction."""
    found = []
    m, n, k, blocks = entry["shape"]
    for name, row, column, rows, columns in (("A", "i", "k", m, k), ("B", "j", "k", n, k), ("C", "i", "j", m, n)):
        f = entry["operands"][name]
        sparse = entry["sparse"] and name == "A"
        columns = columns // 2 if sparse else columns
        bits = f["bits"]
        per_register = 1 if bits > 16 or f.get("unpacked") else 32 // bits
        found.append(
            Operand(
                name, row, column, rows, columns, blocks, bits, per_register, sparse, (f["gpr"], f["lane"]),
                (f["row"], f["column"], f.get("block", "0")), entry["wave"], f["registers"],
            )
        )  # fmt: skip
    return found


def forward(o: Operand) -> dict[tuple[int, int], int]:
    """(lane, value) to element, from the element-to-register formulas."""
    mapping: dict[tuple[int, int], int] = {}
    gpr, lane_text = o.forward
    balanced = lane_text.count("(") - lane_text.count(")")
    lane_text += ")" * balanced
    for block in range(o.blocks):
        for c in range(o.columns * (2 if o.sparse else 1)):
            if o.sparse and c % 4:
                continue
            for r in range(o.rows):
                names = {o.row: r, o.column: c, "block": block}
                register, low = _register(gpr, names)
                if o.bits == 64:
                    value = register // 2
                elif o.per_register == 1:
                    value = register
                else:
                    value = (register * 32 + low) // o.bits
                for lane in [evaluate(t, **names) for t in re.split(r",? and |, ", lane_text)]:
                    for s in range(2 if o.sparse else 1):
                        column = c // 2 + s if o.sparse else c
                        key = (lane, value + s)
                        if key in mapping:
                            raise ValueError(f"two elements of {o.name} in lane {lane}, value {value + s}")
                        mapping[key] = r + o.rows * (column + o.columns * block)
    return mapping


def _register(formula: str, names: dict[str, int]) -> tuple[int, int]:
    """Register number and lowest bit of ``r``, ``r.[hi : lo]`` or, for a register pair, ``[hi : lo]``."""
    match = re.fullmatch(r"(.*?)\.?\[(.*):(.*)\]", formula)
    if not match:
        return evaluate(formula, **names), 0
    register, _, low = match.groups()
    if not register:
        return evaluate(low, **names), 0
    return evaluate(register, **names), evaluate(low, **names)


def backward(o: Operand) -> dict[tuple[int, int], int]:
    """(lane, value) to element, from the register-to-element formulas."""
    mapping = {}
    row, column, block = (re.sub(r"\.\[15:0\]", "", f) for f in o.backward)
    column = re.sub(r" through .*", "", column)
    for lane in range(o.lanes):
        for value in range(o.per_lane):
            stored = value // 2 * 2 if o.sparse else value
            if o.bits == 64:
                register, low = stored * 2, 0
            else:
                register, low = divmod(stored, o.per_register)
                low *= o.bits
            names = {"lane": lane, "GPR_num": register, "GPR_bits": low}
            r, c, b = evaluate(row, **names), evaluate(column, **names), evaluate(block, **names)
            if o.sparse:
                c = c // 4 * 2 + value % 2
            mapping[lane, value] = r + o.rows * (c + o.columns * b)
    return mapping
