# SPDX-License-Identifier: Apache-2.0
"""The SDWA and DPP forms of every vector instruction that has them.

Derived from the plain cases: LLVM's assembler says which forms exist.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from . import table_compare, table_convert, table_float, table_integer, table_transcendental
from .case import ARCHITECTURES, LANES, Case, Context, Operand
from .kinds import KINDS, Array, Words

# What DPP lanes read, in a row of 16.
_QUAD = (3, 0, 1, 2)


def _dpp_source(control: str, lane: int) -> int | None:
    if control.startswith("quad_perm"):
        return lane & ~3 | _QUAD[lane & 3]
    return lane - 3 if lane % 16 >= 3 else None  # row_shr:3


def dpp(one: Case, control: str, row_mask: int, bank_mask: int, bound: bool) -> Case:
    """Lane shuffles on the first source."""
    where = [_dpp_source(control, lane) for lane in range(LANES)]

    def valid(context: Context) -> np.ndarray:
        on = context.exec.reshape(context.blocks, LANES)
        return np.stack([[s is not None and bool(row[s]) for s in where] for row in on])

    def move(context: Context, words: list[Words]) -> list[Words]:
        source = words[0].reshape(len(words[0]), context.blocks, LANES)
        moved = source[:, :, [s or 0 for s in where]]
        moved = np.where(valid(context)[None], moved, 0).reshape(words[0].shape)
        return [moved.astype(np.uint32), *words[1:]]

    def keep(context: Context, want: list[Words], _: list[Words]) -> list[Words]:
        lanes = np.arange(LANES)
        on = (row_mask >> lanes // 16 & 1 == 1) & (bank_mask >> lanes // 4 % 4 & 1 == 1)
        written = (valid(context) | bound) & on[None]
        return [np.where(written.reshape(-1)[None], want[0], context.old[0]).astype(np.uint32)]

    tail = f" {control} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}" + (" bound_ctrl:0" if bound else "")
    code = re.sub(r"^\{op\}|^" + one.opcode, one.opcode + "_dpp", one.code) + tail
    return one.but(code=code, label=f"dpp {control}", before=(move,), after=(keep,), keep_high=False)


_SELECT = {
    "BYTE_0": (0, 8),
    "BYTE_1": (8, 8),
    "BYTE_3": (24, 8),
    "WORD_0": (0, 16),
    "WORD_1": (16, 16),
    "DWORD": (0, 32),
}


def sdwa(one: Case, selects: tuple[str, str], dst: str | None, unused: str, modifiers: bool) -> Case:
    """Bytes and words of the sources and of the result."""
    count = len(one.inputs)
    texts, plan = [], []
    for operand, select, name in zip(one.inputs, selects, "ab", strict=False):
        shift, width = _SELECT[select]
        float_bits = operand.kind.floats[0] if operand.kind.floats else 0
        sign = 1 << (31 if float_bits == 32 else 15) if float_bits else 0
        text = f"{{{name}}}"
        if modifiers:
            text = (f"-{text}" if name == "a" else f"|{text}|") if sign else f"sext({text})"
        texts.append(text)
        plan.append((shift, width, sign, name))

    def choose(context: Context, words: list[Words]) -> list[Words]:
        out = []
        for w, (shift, width, sign, name) in zip(words, plan, strict=False):
            value = w.astype(np.int64) >> shift & (1 << width) - 1
            if modifiers and sign:
                value = value ^ sign if name == "a" else value & ~sign
            elif modifiers:
                value = np.where(value >> width - 1 & 1, value - (1 << width), value)
            out.append((value & 0xFFFFFFFF).astype(np.uint32))
        return out + words[len(out) :]

    def place(context: Context, want: list[Words], _: list[Words]) -> list[Words]:
        if dst is None or dst == "DWORD":
            return want
        shift, width = _SELECT[dst]
        field = want[0].astype(np.int64) & (1 << width) - 1
        rest = context.old[0].astype(np.int64) & ~((1 << width) - 1 << shift)
        if unused == "UNUSED_PAD":
            rest = np.zeros_like(rest)
        elif unused == "UNUSED_SEXT":
            rest = np.where(field >> width - 1 & 1, -1 << shift + width, 0)
        return [((rest | field << shift) & 0xFFFFFFFF).astype(np.uint32), *want[1:]]

    operands = ["{d}", *texts]
    tail = f" dst_sel:{dst} dst_unused:{unused}" if dst else ""
    tail += f" src0_sel:{selects[0]}" + (f" src1_sel:{selects[1]}" if count > 1 else "")
    label = f"sdwa{tail}" + (" signs" if modifiers else "")
    return one.but(
        code=f"{one.opcode}_sdwa {', '.join(operands)}{tail}", label=label, before=(choose,), after=(place,),
        keep_high=False,
    )  # fmt: skip


def _in_low_half(one: Case) -> Callable[..., Array]:
    """The half result as a pair with a zero above."""

    def run(context: Context, *values: Array) -> Array:
        half = one.define(context, *values)
        return np.stack([half, np.zeros_like(half)])

    return run


def plain_cases() -> list[Case]:
    """Cases of one instruction on whole registers, without modifiers."""
    tables = (table_integer, table_float, table_convert, table_transcendental, table_compare)
    out = []
    for table in tables:
        for one in table.cases():
            names = ", ".join("{" + x + "}" for x in ["d", *"abc"[: len(one.inputs)]])
            if one.opcode.startswith("v_pk_"):
                continue
            if one.label == "" and one.code == f"{one.opcode} {names}" and 1 <= len(one.inputs) <= 2:
                out.append(one)
    return out


def candidates() -> list[Case]:
    """For each plain case, the forms that may exist."""
    out: list[Case] = []
    for one in plain_cases():
        if any(o.kind.rows > 1 for o in one.inputs) or one.ulp:
            continue
        mask = one.outputs[0].bank == "s"
        if one.outputs[0].kind.rows == 1 and not mask:
            out.append(dpp(one, "row_shr:3", 0xA, 0x7, False))
            out.append(dpp(one, "quad_perm:[3,0,1,2]", 0xF, 0xF, True))
        if one.outputs[0].kind.rows > 1 and not mask:
            continue
        dst = None if mask else "DWORD"
        for modifiers in (True, False):
            out.append(sdwa(one, ("WORD_1", "BYTE_1"), dst, "UNUSED_PAD", modifiers))
        if mask:
            continue
        floats = one.outputs[0].kind.floats
        if not floats:
            out.append(sdwa(one, ("DWORD", "DWORD"), "BYTE_1", "UNUSED_SEXT", False))
        if floats not in ((32,), (16, 16), (17, 17)):
            placed = sdwa(one, ("BYTE_3", "WORD_0"), "WORD_1", "UNUSED_PRESERVE", False)
            # A half in the upper half of a register: NaNs are compared there.
            pair = Operand(KINDS[f"pk_{one.outputs[0].kind.name}"]) if floats else one.outputs[0]
            out.append(placed.but(outputs=(pair,), define=_in_low_half(one)) if floats else placed)
    return out


@lru_cache
def cases() -> list[Case]:
    forms = candidates()
    lines = [
        form.code.format(a="v10", b="v11", c="v12", d="v13" if form.outputs[0].bank == "v" else "s[20:21]", e="v14")
        for form in forms
    ]
    accepted = {arch: _accepted(lines, arch) for arch in ARCHITECTURES}
    out = []
    for index, form in enumerate(forms):
        archs = tuple(arch for arch in form.archs if index in accepted[arch])
        if archs:
            out.append(form.but(archs=archs))
    return out


def _accepted(lines: list[str], arch: str) -> set[int]:
    """The lines that assemble."""
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=null"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=600)
    refused = {int(line) - 1 for line in re.findall(r"^<stdin>:(\d+):\d+: error:", done.stderr, re.M)}
    return set(range(len(lines))) - refused
