# SPDX-License-Identifier: Apache-2.0
"""Assembles many cases into one kernel, runs it on several blocks of operands, and compares with the definitions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flydsl.emulator.device import Emulator

from .case import INPUT_NAMES, LANES, OUTPUT_NAMES, Case, Context, Operand
from .kinds import Words

ROW = 4 * LANES
# The first two blocks take special values and all lanes; then lanes are masked.
MASKS = [2**64 - 1, 2**64 - 1, 0xF0F3_5A5A_00FF_FFF7, 0x8000_0000_0000_0001, 0x0000_FFFF_FFFF_0000, 2**64 - 1]
SHARES = [1.0, 0.8, 0.8, 0.5, 0.3, 0.0]
SCALAR_BLOCKS = 60

_TEMPLATE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl probe
.p2align 8
.type probe,@function
probe:
  s_mov_b32 s3, s2
  s_load_dwordx8 s[64:71], s[0:1], 0x0
  v_and_b32 v0, 63, v0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s72, s3, {in_bytes}
  s_mul_hi_u32 s73, s3, {in_bytes}
  s_add_u32 s4, s64, s72
  s_addc_u32 s5, s65, s73
  s_mul_i32 s72, s3, {out_bytes}
  s_add_u32 s6, s66, s72
  s_addc_u32 s7, s67, 0
  s_mul_i32 s72, s3, {memory_bytes}
  s_add_u32 s2, s68, s72
  s_addc_u32 s3, s69, 0
  s_load_dwordx2 s[8:9], s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[10:11], s[2:3]
{body}
  s_endpgm
.Lend:
.size probe, .Lend-probe
.rodata
.p2align 6
.amdhsa_kernel probe
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 512
  .amdhsa_accum_offset 256
  .amdhsa_next_free_sgpr 100
  .amdhsa_group_segment_fixed_size 65536
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_enable_private_segment 1
  .amdhsa_float_round_mode_32 {round}
  .amdhsa_float_round_mode_16_64 {round}
  .amdhsa_ieee_mode {ieee}
  .amdhsa_float_denorm_mode_32 {denormals}
  .amdhsa_float_denorm_mode_16_64 {denormals}
  .amdhsa_fp16_overflow {overflow}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: probe
    .symbol: probe.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 65536
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: 512
    .agpr_count: 256
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 24, .value_kind: by_value}}
...
.end_amdgpu_metadata
"""


@dataclass
class Mode:
    """The MODE bits that a batch runs with."""

    ieee: int = 1
    denormals: int = 3
    round: int = 0
    overflow: int = 0  # FP16_OVFL


def span(bank: str, first: int, count: int) -> str:
    """v5, v[4:5], s20, a[0:3]."""
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


class Placed:
    """A case with registers and places in the buffers."""

    def __init__(self, case: Case, index: int, at_in: int, at_out: int, at_memory: int) -> None:
        self.case = case
        self.index = index
        self.at_in, self.at_out, self.at_memory = at_in, at_out, at_memory
        self.registers: dict[str, str] = {}
        self.loads: list[tuple[str, int, int]] = []  # bank, register, byte in the case's input
        self.stores: list[tuple[str, int]] = []  # bank, register of each row of the output
        self._next = {"v": 10, "a": 8, "s": 20}
        # s20 to s59 for operands; 64-bit and wider ones aligned as their loads want it.
        self.in_bytes = self.out_bytes = 0
        for name, operand in zip(INPUT_NAMES, case.inputs, strict=False):
            self._place(name, operand, load=True, store=False)
        for name, operand in zip(OUTPUT_NAMES, case.outputs, strict=False):
            self._place(name, operand, load=True, store=True)

    def _place(self, name: str, operand: Operand, load: bool, store: bool) -> None:
        bank, rows = operand.bank, operand.kind.rows
        align = (4 if rows >= 4 else rows) if bank == "s" else 2 if rows > 1 else 1
        first = -(-self._next[bank] // align) * align
        self._next[bank] = first + rows
        assert bank != "s" or first + rows <= 60, f"{self.case.name}: too many scalar operands"
        self.registers[name] = span(bank, first, rows)
        for i in range(rows):
            if load:
                self.loads.append((bank, first + i, self.in_bytes))
                self.in_bytes += ROW
            if store:
                self.stores.append((bank, first + i))
                self.out_bytes += ROW

    def text(self) -> str:
        lines = [f"; {self.case.name}", "  s_mov_b64 exec, -1", "  s_mov_b32 m0, -1"]
        lines += _add("s[12:13]", "s[4:5]", self.at_in + 4096) + _add("s[14:15]", "s[6:7]", self.at_out)
        lines += _add("s[16:17]", "s[10:11]", self.at_memory)
        for start in range(0, len(self.loads), 30):
            part = self.loads[start : start + 30]
            for bank, register, place in part:
                offset = place - 4096 - start * ROW
                if bank == "v":
                    lines.append(f"  global_load_dword v{register}, v0, s[12:13] offset:{offset}")
                elif bank == "a":
                    lines.append(f"  global_load_dword a{register}, v0, s[12:13] offset:{offset}")
                else:
                    lines.append(f"  s_load_dword s{register}, s[12:13], {offset}")
            if start + 30 < len(self.loads):
                lines += _add("s[12:13]", "s[12:13]", 30 * ROW)
        lines.append("  s_waitcnt vmcnt(0) lgkmcnt(0)")
        lines += _SPACES_BEFORE[self.case.space]
        if not self.case.every_lane:
            lines.append("  s_mov_b64 exec, s[8:9]")
        code = self.case.code.format(**self.registers, i=self.index)
        lines += ["  " + line.strip() for line in code.splitlines()]
        lines += ["  s_waitcnt vmcnt(0) lgkmcnt(0)", "  s_mov_b64 exec, -1", *_SPACES_AFTER[self.case.space]]
        for i, (bank, register) in enumerate(self.stores):
            if i % 15 == 0 and i:
                lines += _add("s[14:15]", "s[14:15]", 15 * ROW)
            source = f"{bank}{register}"
            if bank == "s":
                lines.append(f"  v_mov_b32 v1, s{register}")
                source = "v1"
            lines.append(f"  global_store_dword v0, {source}, s[14:15] offset:{i % 15 * ROW}")
        return "\n".join(lines)


def _add(to: str, base: str, offset: int) -> list[str]:
    low, high = to[2:-1].split(":")
    base_low, base_high = base[2:-1].split(":")
    return [f"  s_add_u32 s{low}, s{base_low}, {offset}", f"  s_addc_u32 s{high}, s{base_high}, 0"]


# Lane i has dwords 16 i to 16 i + 15 of the case's memory in LDS or scratch. v200 to v216 are the carriers'.
def _carry(load: str, store: str, setup: str) -> list[str]:
    return [setup, *(line.format(i=i, o=4 * i, r=200 + i) for i in range(16) for line in (load,)),
            "  s_waitcnt vmcnt(0) lgkmcnt(0)",
            *(line.format(i=i, o=4 * i, r=200 + i) for i in range(16) for line in (store,)),
            "  s_waitcnt vmcnt(0) lgkmcnt(0)"]  # fmt: skip


_SETUP = "  v_lshlrev_b32 v220, 4, v0"
_GLOBAL_LOAD = "  global_load_dword v{r}, v220, s[16:17] offset:{o}"
_GLOBAL_STORE = "  global_store_dword v220, v{r}, s[16:17] offset:{o}"
_SPACES_BEFORE = {
    "global": [],
    "lds": _carry(_GLOBAL_LOAD, "  ds_write_b32 v220, v{r} offset:{o}", _SETUP),
    "scratch": _carry(_GLOBAL_LOAD, "  scratch_store_dword off, v{r}, off offset:{o}", _SETUP),
}
_SPACES_AFTER = {
    "global": [],
    "lds": _carry("  ds_read_b32 v{r}, v220 offset:{o}", _GLOBAL_STORE, _SETUP),
    "scratch": _carry("  scratch_load_dword v{r}, off, off offset:{o}", _GLOBAL_STORE, _SETUP),
}


def assemble(cases: Sequence[Case], arch: str, mode: Mode) -> tuple[str, list[Placed], tuple[int, int, int]]:
    """The kernel's text, where everything is, and the bytes of input, output and memory of a block."""
    placed: list[Placed] = []
    at_in, at_out, at_memory = 64, 0, 0
    for index, one in enumerate(cases):
        item = Placed(one, index, at_in, at_out, at_memory)
        placed.append(item)
        at_in += item.in_bytes
        at_out += item.out_bytes
        at_memory += one.memory
    at_memory = -(-at_memory // 256) * 256
    text = _TEMPLATE.format(
        arch=arch, body="\n".join(item.text() for item in placed), in_bytes=at_in, out_bytes=at_out,
        memory_bytes=at_memory, round=mode.round, ieee=mode.ieee, denormals=mode.denormals,
        overflow=mode.overflow,
    )  # fmt: skip
    return text, placed, (at_in, at_out, at_memory)


def _values(operand: Operand, rng: np.random.Generator, masks: Sequence[int]) -> Words:
    """Words of shape (rows, blocks * 64)."""
    blocks = len(masks)
    parts = []
    for block in range(blocks):
        n = 1 if operand.bank == "s" else LANES
        share = SHARES[block % len(SHARES)]
        if operand.high is not None:
            below = rng.integers(operand.low or 0, operand.high, (operand.kind.rows, n), dtype=np.uint64)
            words = below.astype(np.uint32)
        else:
            words = operand.kind.values(rng, n, share)
        parts.append(np.broadcast_to(words, (operand.kind.rows, LANES)) if n == 1 else words)
    return np.concatenate(parts, axis=1)


def run_batch(
    cases: Sequence[Case],
    emulator: Emulator,
    compile_object: Callable[..., bytes],
    arch: str,
    device: int,
    mode: Mode | None = None,
    adapt: Callable[[str, str], str] = lambda text, _: text,
    flags: tuple[str, ...] = (),
) -> list[str]:
    """Run the cases of an architecture; one line for each that differs from its definition.

    `adapt` makes the assembly of an architecture that gfx9's is not for; `flags` are the compiler's.
    """
    mode = mode or Mode()
    cases = [one for one in cases if arch in one.archs]
    scalar = all(operand.bank == "s" for one in cases for operand in (*one.inputs, *one.outputs))
    masks = [MASKS[i % len(MASKS)] for i in range(SCALAR_BLOCKS if scalar else len(MASKS))]
    blocks = len(masks)
    text, placed, (in_bytes, out_bytes, memory_bytes) = assemble(cases, arch, mode)
    inputs = np.zeros((blocks, max(in_bytes, 64) // 4), np.uint32)
    outputs = np.zeros((blocks, max(out_bytes, 4) // 4), np.uint32)
    noise = np.random.default_rng(17)
    memory = noise.integers(0, 256, (blocks, max(memory_bytes, 1)), dtype=np.uint64).astype(np.uint8)
    inputs[:, :2] = [(mask & 0xFFFFFFFF, mask >> 32) for mask in masks]
    given: list[list[Words]] = []
    for item in placed:
        rng = np.random.default_rng(zlib.crc32(item.case.name.encode()))
        words = [_values(operand, rng, masks) for operand in (*item.case.inputs, *item.case.outputs)]
        given.append(words)
        flat = np.concatenate(words) if words else np.zeros((0, blocks * LANES), np.uint32)
        rows = flat.reshape(len(flat), blocks, LANES).transpose(1, 0, 2).reshape(blocks, -1)
        inputs[:, item.at_in // 4 : item.at_in // 4 + rows.shape[1]] = rows
    before = memory.copy()
    module = emulator.load(compile_object(adapt(text, arch), arch, "asm", flags), device)
    try:
        module.kernel("probe")(blocks, LANES, inputs, outputs, memory, np.uint64(0))
    finally:
        module.unload()
    exec_lanes = np.array([[mask >> lane & 1 for lane in range(LANES)] for mask in masks], bool).reshape(-1)
    failures = []
    for item, words in zip(placed, given, strict=True):
        context = _context(item, arch, exec_lanes, words, before, memory)
        got = outputs[:, item.at_out // 4 : (item.at_out + item.out_bytes) // 4]
        got = got.reshape(blocks, -1, LANES).transpose(1, 0, 2).reshape(-1, blocks * LANES)
        after = memory[:, item.at_memory : item.at_memory + item.case.memory]
        failures += _compare(item.case, context, words, got, after)
    return failures


def _context(
    item: Placed, arch: str, lanes: npt.NDArray[np.bool_], words: list[Words], before: npt.NDArray[np.uint8],
    memory: npt.NDArray[np.uint8],
) -> Context:  # fmt: skip
    blocks = len(lanes) // LANES
    base = memory.ctypes.data + np.arange(blocks, dtype=np.uint64) * memory.shape[1] + item.at_memory
    return Context(
        arch, blocks, np.ones_like(lanes) if item.case.every_lane else lanes,
        np.tile(np.arange(LANES), blocks), [w.copy() for w in words[len(item.case.inputs) :]],
        before[:, item.at_memory : item.at_memory + item.case.memory].copy(), base.astype(np.uint64),
    )  # fmt: skip


def _compare(one: Case, context: Context, words: list[Words], got: Words, memory: npt.NDArray[np.uint8]) -> list[str]:
    sources = [w.copy() for w in words[: len(one.inputs)]]
    for prepare in one.before:
        sources = prepare(context, sources)
    decoded = [operand.kind.decode(w) for operand, w in zip(one.inputs, sources, strict=True)]
    with np.errstate(all="ignore"):
        result = one.define(context, *decoded)
    results = () if result is None else result if isinstance(result, tuple) else (result,)
    assert len(results) == len(one.outputs), f"{one.name}: {len(results)} results, {len(one.outputs)} outputs"
    want: list[Words] = []
    for operand, value in zip(one.outputs, results, strict=True):
        with np.errstate(all="ignore"):
            want.append(value.copy() if one.ulp else operand.kind.encode(value))
    if one.ulp:
        return _compare_within(one, context, want[0], got, sources)
    for finish in one.after:
        want = finish(context, want, sources)
    failures, at = [], 0
    for index, (operand, value) in enumerate(zip(one.outputs, want, strict=True)):
        rows = operand.kind.rows
        have, at = got[at : at + rows], at + rows
        old = context.old[index]
        if operand.bank != "s":
            if one.keep_high:
                # Float kinds compare NaNs by their own half.
                high = have & np.uint32(0xFFFF0000)
                wrong = (high != (old & np.uint32(0xFFFF0000))).any(axis=0)
                value = np.where(wrong, ~have, have & np.uint32(0xFFFF0000) | value)
            if not one.whole:
                value = np.where(context.exec, value, old)
        bad = ~(operand.kind.same(have, value) if not one.keep_high else _same_low(operand, have, value))
        if bad.any():
            failures.append(_failure(one, context, words, have, value, int(np.flatnonzero(bad)[0]), int(bad.sum())))
    if one.memory and not np.array_equal(memory, context.memory):
        block, place = np.argwhere(memory != context.memory)[0]
        failures.append(
            f"{one.name}: memory differs at byte {place} of block {block}: {memory[block, place]:#x}, "
            f"expected {context.memory[block, place]:#x} ({int((memory != context.memory).sum())} bytes)"
        )
    return failures


def _same_low(operand: Operand, have: Words, want: Words) -> npt.NDArray[np.bool_]:
    low = np.uint32(0xFFFF)
    return np.asarray(operand.kind.same(have & low, want & low) & ((have >> 16) == (want >> 16)).all(axis=0))


def _compare_within(one: Case, context: Context, want: Words, got: Words, sources: list[Words]) -> list[str]:
    """Transcendental results: within `ulp` units in the last place of the exact value."""
    kind = one.outputs[0].kind
    with np.errstate(all="ignore"):
        value = kind.decode(got).astype(np.longdouble)
    exact = want.astype(np.longdouble)
    dtype: Any = {16: np.float16, 32: np.float32, 64: np.float64}[kind.floats[0]]
    limits = np.finfo(dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        unit = np.spacing(np.maximum(np.abs(rounded), limits.tiny)).astype(np.longdouble)
        near = np.abs(value - exact) <= one.ulp * unit
    near |= (value == exact) | (np.isnan(value) & np.isnan(exact))
    near |= np.isinf(value) & (np.abs(exact) >= limits.max) & (np.sign(value) == np.sign(exact))
    bad = np.where(context.exec, ~near, (got != context.old[0]).any(axis=0))
    if not bad.any():
        return []
    lane = int(np.flatnonzero(bad)[0])
    return [f"{one.name}: {value[lane]} for {[hex(int(w[0, lane])) for w in sources]}, expected {exact[lane]}"]


def _failure(one: Case, context: Context, words: list[Words], have: Words, want: Words, at: int, count: int) -> str:
    def text(w: Words) -> str:
        return "_".join(f"{int(v):08x}" for v in w[::-1, at])

    sources = ", ".join(text(w) for w in words[: len(one.inputs)])
    return (
        f"{one.name}: {text(have)}, expected {text(want)} for ({sources}), block {at // LANES} lane {at % LANES}"
        f"{'' if context.exec[at] else ' (inactive)'}, {count} lanes"
    )
