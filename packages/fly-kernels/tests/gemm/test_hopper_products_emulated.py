# SPDX-License-Identifier: Apache-2.0
"""Products for Hopper run by an interpreter of their PTX, `ptx_machine`: right, and without a fault of their waits.

Operands are small integers, so sums are exact and results are compared bit by bit. Results begin as NaN, and every
element has to be written once.
"""

import dataclasses
import functools
import re

import numpy as np
import pytest
import torch
from artifact_ptx import ptx_of_the_last
from ptx_arithmetic import E4M3, bfloat16
from ptx_machine import Fault, Machine, TensorMap
from ptx_program import Program, UnknownPtx

import flydsl.expr as fx
from flydsl.kernels.gemm.hopper_config import HopperConfig, default_hopper_config
from flydsl.kernels.gemm.hopper_gemm import compile_hopper_gemm

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("hopper")]

TYPES = {"bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn}
BYTES = {"bf16": 2, "fp8": 1}
_NAN = 0x7FC0


@dataclasses.dataclass(frozen=True)
class Product:
    """A compiled product.

    Attributes:
        boxes: of the maps of A, B and C, and of parts of A if there are: (rows, columns), bytes of a swizzled row.
    """

    dtype: str
    config: HopperConfig
    ptx: str
    boxes: tuple[tuple[tuple[int, int], int], ...]

    def run(self, m, n, k, *, seed, workgroups=2, ptx=None, late=None):
        """Run it, or other PTX, for one shape. Raises Fault, also for wrong results."""
        config, size = self.config, BYTES[self.dtype]
        numbers = np.random.default_rng(seed)
        a, b = (numbers.integers(-3, 4, (rows, k)).astype(np.float32) for rows in (m, n))
        c = np.full((m, n), _NAN, np.uint16)
        maps = []
        a_bytes, b_bytes = self._encoded(a), self._encoded(b)
        of_parts = len(self.boxes) - 3
        for data, ((rows, columns), swizzle), element in zip(
            (a_bytes, b_bytes, c.view(np.uint8), *(a_bytes,) * of_parts),
            self.boxes,
            (size, size, 2, *(size,) * of_parts),
            strict=True,
        ):
            maps.append(TensorMap(data, (rows, columns * element), swizzle, element))
        tiles = -(-m // config.tile_m) * -(-n // config.tile_n)
        machine = Machine(
            program(ptx or self.ptx),
            (*maps, m, n, k),
            # Workgroups that share a tile have no other.
            grid=tiles * config.splits if config.splits > 1 else min(tiles, workgroups),
            cluster=config.splits,
            shared_bytes=config.shared_bytes(),
            seed=seed,
            late=seed % 2 == 0 if late is None else late,
        )
        machine.run()
        if (maps[2].written != 1).any():
            raise Fault(f"results are written {np.unique(maps[2].written)} times")
        wrong = np.argwhere(c != bfloat16(a @ b.T))
        if len(wrong):
            raise Fault(f"{len(wrong)} of {c.size} results are wrong, from {wrong.min(0)} to {wrong.max(0)}")

    def _encoded(self, numbers):
        """As bytes of the operands' type, (rows, bytes of a row)."""
        if self.dtype == "bf16":
            return bfloat16(numbers).astype(np.uint16).view(np.uint8)
        of = {float(value): bits for bits, value in reversed([*enumerate(E4M3)])}
        return np.vectorize(of.__getitem__, otypes=[np.uint8])(numbers)


@functools.lru_cache(maxsize=4)
def program(ptx):
    return Program.read(ptx)


@functools.cache
def product(dtype, config):
    boxes = []

    def make_tensor_map(tensor, box, swizzle, *, make=fx.nvgpu.make_tensor_map, **options):
        boxes.append((tuple(box), 16 << swizzle[0]))
        return make(tensor, box, swizzle, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fx.nvgpu, "make_tensor_map", make_tensor_map)
        launch = compile_hopper_gemm(in_dtype=dtype, out_dtype="bf16", config=config)
        a, b = (torch.empty((rows, 256), dtype=TYPES[dtype]) for rows in (config.rows, 512))
        launch(torch.empty((config.rows, 512), dtype=torch.bfloat16), a, b)
    return Product(dtype, config, ptx_of_the_last(), tuple(boxes))


def shapes(dtype, config):
    """Of awkward products: a tail in every direction, K of less than a box, and more turns than stages."""
    box, unit = 128 // BYTES[dtype], 16 // BYTES[dtype]
    rows, columns = config.rows, config.tile_n
    wanted = (
        # Of two boxes of a stage the second of the last turn lies outside, wholly.
        (rows, 2 * columns + 8, 3 * box),
        # Few rows, a last box that is all but empty.
        (rows - 3, columns - 8, 2 * box + unit),
        # One row, several tiles of a workgroup, a box that is not full.
        (1, 3 * columns + 16, 5 * box - unit),
        # Less than a box; with splits most have nothing to do.
        (rows // 2 + 1, 8, unit),
        # Several times round the ring.
        (rows, 2 * columns, (2 * config.stages * config.boxes * config.splits + 1) * box + unit),
        (rows, columns + 24, 7 * box),
    )
    return [(m, -(-n // 8) * 8, k) for m, n, k in wanted]


# Rows, columns and bytes of K of products with other default configurations.
DEFAULTS = [
    (16, 4096, 8192), (16, 28672, 8192), (16, 1024, 16384), (16, 1024, 32768), (32, 14336, 8192), (64, 8192, 8192),
    (64, 28672, 16384), (64, 2048, 32768), (128, 1024, 32768), (512, 4096, 8192), (4096, 4096, 8192),
    (8192, 8192, 16384), (1280, 4096, 8192), (640, 5120, 10240), (384, 12288, 8192), (768, 4096, 8192),
    (128, 4096, 32768),
]  # fmt: skip
SOME = [(64, 8192, 8192), (16, 28672, 8192), (64, 2048, 32768)]


def run_default(dtype, point, count):
    m, n, k_bytes = point
    one = product(dtype, default_hopper_config(m, n, k_bytes=k_bytes))
    for seed, (m, n, k) in enumerate(shapes(dtype, one.config)[:count]):
        one.run(m, n, k, seed=seed)


@pytest.mark.parametrize("point", SOME, ids=str)
def test_some_defaults(point):
    run_default("bf16", point, 4)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("point", DEFAULTS, ids=str)
def test_defaults(dtype, point):
    run_default(dtype, point, 6)


# Small rings, so that few turns go round them.
FEW_ROWS = HopperConfig(32, 3, rows=16, store_buffers=1, boxes=2)
LARGE = HopperConfig(64, 3, store_n=32, store_buffers=1)
SPLIT = HopperConfig(32, 3, rows=64, splits=2, store_buffers=1, boxes=2)
IN_TURNS = HopperConfig(64, 3, store_n=32, store_buffers=1, pingpong=True)


@pytest.mark.parametrize(
    ("dtype", "config"),
    [
        ("bf16", FEW_ROWS), ("fp8", FEW_ROWS), ("bf16", LARGE), ("bf16", SPLIT), ("fp8", SPLIT), ("bf16", IN_TURNS),
        ("fp8", IN_TURNS),
    ],
    ids=["few rows", "few rows fp8", "large", "split", "split fp8", "in turns", "in turns fp8"],
)  # fmt: skip
def test_small_rings(dtype, config):
    one = product(dtype, config)
    for seed, (m, n, k) in enumerate(shapes(dtype, config)):
        one.run(m, n, k, seed=seed, workgroups=1)


@pytest.mark.parametrize(
    ("config", "rows"),
    [
        # The last tile has one part, two, three or all; the next workgroup has the tile before it.
        (LARGE, (32, 33, 64, 65, 96, 97, 160, 224)),
        (IN_TURNS, (33, 161, 192, 225)),
        # Of a warp's 16 rows, and of the second consumer's 64, some are brought.
        (dataclasses.replace(SPLIT, rows=24), (17, 24)),
        (HopperConfig(32, 3, rows=88, splits=2, store_buffers=1), (64, 81, 88)),
        (dataclasses.replace(IN_TURNS, rows=80), (65, 80)),
    ],
    ids=["parts", "parts in turns", "24 rows split", "88 rows split", "80 rows in turns"],
)
def test_rows_that_are_not_there(config, rows):
    one, numbers = product("bf16", config), np.random.default_rng(1)
    for seed, m in enumerate(rows):
        one.run(m, config.tile_n + 8 * int(numbers.integers(0, 9)), 72 + 64 * seed, seed=seed, workgroups=1 + seed % 2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("config", [FEW_ROWS, LARGE, SPLIT, IN_TURNS], ids=["few rows", "large", "split", "in turns"])
def test_random_shapes(dtype, config):
    one, numbers, unit = product(dtype, config), np.random.default_rng(0), 16 // BYTES[dtype]
    for seed in range(20):
        m = int(numbers.integers(1, config.rows + (200 if config.consumers == 2 else 1)))
        n, k = 8 * int(numbers.integers(1, 30)), unit * int(numbers.integers(1, 100))
        one.run(m, n, k, seed=seed, workgroups=1 + seed % 3)


def without(pattern, number=0):
    """Leaves the number-th match of a pattern out."""
    return instead(pattern, "", number)


def instead(pattern, replacement, number=0):
    """Puts something else for the number-th match of a pattern, which there has to be."""

    def changed(ptx):
        found = [*re.finditer(pattern, ptx)][number]
        return ptx[: found.start()] + found.expand(replacement) + ptx[found.end() :]

    return changed


WAIT = r"\{\s*\.reg \.pred\s+P1;[^{}]*try_wait[^{}]*\}"
READ = r"cp\.async\.bulk\.wait_group\.read\s+0;"
PARITY = r"(try_wait\S+ P1, \[%r\d+\]), %r\d+,"
AROUND = r"@%p\d+ bra\s+\$\S+;(?=(?:\s*(?:\.loc|//).*)*\s*bar\.{}\s+%r\d+, 256;)"
TOGETHER = r"barrier\.cluster\.arrive;\s*barrier\.cluster\.wait;"
# What is planted, where, and what is said of it.
FAULTS = {
    "consumers do not wait for copies": (FEW_ROWS, without(WAIT, 0), "wrong"),
    "copies do not wait for room": (FEW_ROWS, without(WAIT, 1), "too many arrivals"),
    "consumers wait for another phase": (FEW_ROWS, instead(PARITY, r"\1, 0,", 0), "deadlock"),
    "the producer waits for another phase": (FEW_ROWS, instead(PARITY, r"\1, 0,", 1), "deadlock"),
    "bytes of one box of two": (FEW_ROWS, instead(r"(mov\.b32\s+%r\d+), 12288;", r"\1, 6144;"), "deadlock"),
    "stages are not released": (FEW_ROWS, without(r"mbarrier\.arrive\.shared\.b64[^;]*;", 0), "deadlock"),
    "the last stage is not released": (FEW_ROWS, without(r"mbarrier\.arrive\.shared\.b64[^;]*;", 1), "deadlock"),
    "stages are released while products read": (
        FEW_ROWS, instead(r"(wgmma\.wait_group\.sync\.aligned) 1;", r"\1 2;"), "wrong",
    ),
    "sums are read before they are there": (
        FEW_ROWS, instead(r"(wgmma\.wait_group\.sync\.aligned) 0;", r"\1 1;"), "products at the end",
    ),
    "barriers are used before they are made": (LARGE, without(r"bar\.sync\s+0;"), "no mbarrier"),
    "one of two consumers releases": (LARGE, instead(r"(mov\.b32\s+%r\d+), 2;", r"\1, 1;"), "deadlock|too many"),
    "room for results is not waited for": (LARGE, without(READ, 0), "wrong"),
    "one thread knows of room for results": (LARGE, without(r"bar\.sync\s+%r\d+, 128;", 0), "wrong"),
    "results are stored before all are there": (LARGE, without(r"bar\.sync\s+%r\d+, 128;", 1), "wrong"),
    "stores are not waited for at the end": (LARGE, without(READ, -1), "at the end"),
    "sums of others are read too soon": (
        SPLIT, lambda ptx: without(TOGETHER, 2)(without(TOGETHER, 0)(ptx)), "wrong|workgroup that is gone",
    ),
    "others are gone when their sums are read": (
        SPLIT, lambda ptx: without(TOGETHER, 2)(without(TOGETHER, 1)(ptx)), "a load of a workgroup that is gone",
    ),
    "a turn is not waited for": (IN_TURNS, without(r"bar\.sync\s+%r\d+, 256;"), "deadlock|too many arrivals"),
    "a turn is not handed over": (IN_TURNS, without(r"bar\.arrive\s+%r\d+, 256;"), "deadlock"),
    "a turn is handed over behind the last tile": (IN_TURNS, without(AROUND.format("arrive")), "barrier at the end"),
    "who is first waits for a turn": (IN_TURNS, without(AROUND.format("sync")), "deadlock"),
    "warps that load are not at the cluster's barrier": (SPLIT, without(TOGETHER, 2), "deadlock"),
}  # fmt: skip


@pytest.mark.parametrize("planted", FAULTS)
def test_planted_faults(planted):
    """What the interpreter has to find in some order of what is asynchronous."""
    config, change, said = FAULTS[planted]
    one = product("bf16", config)
    ptx, found = change(one.ptx), []
    for seed in range(12):
        try:
            one.run(config.rows, 3 * config.tile_n, 136 if config is LARGE else 520, seed=seed, workgroups=1, ptx=ptx)
        except Fault as fault:
            found.append(str(fault))
            if re.search(said, found[-1]):
                return
    pytest.fail(f"only found {found}")


def run_lines(*lines, arguments=(), shared_bytes=1024, threads=32):
    parameters = ",\n".join(f"\t.param .u32 some_0_param_{number}" for number in range(len(arguments)))
    ptx = f".visible .entry some_0(\n{parameters}\n)\n.maxntid {threads}, 1, 1\n{{\n" + "\n".join(lines) + "\n}\n"
    Machine(Program.read(ptx), arguments, grid=1, shared_bytes=shared_bytes, seed=0, late=True).run()


def test_lanes_part_and_come_together():
    """Each lane goes round as often as its number says; then all have to be there, and what they store to fit."""
    lines = (
        "mov.u32 %r1, %tid.x;", "mov.b32 %r2, 0;", "$loop:", "setp.ge.s32 %p1, %r2, %r1;", "@%p1 bra $out;",
        "add.s32 %r2, %r2, 1;", "bra.uni $loop;", "$out:", "bar.sync 0;", "shl.b32 %r3, %r2, 2;",
        "mul.wide.s32 %rd1, %r3, 1;", "add.s64 %rd2, %rd1, 1024;", "st.shared.b32 [%rd2], %r2;", "ret;",
    )  # fmt: skip
    run_lines(*lines, shared_bytes=128)
    with pytest.raises(Fault, match="a store out of shared memory"):
        run_lines(*lines, shared_bytes=124)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["bar.sync 1, 64;"], r"deadlock of the warps \[\(0, 0\)\]"),
        (["add.s32 %r1, %r2, 1;"], "%r2 is read and was never written"),
        (["div.u32 %r1, 7, 0;"], "div.u32 %r1, 7, 0: a division by 0"),
        (["mov.u32 %r1, %tid.x;", "mbarrier.init.shared.b64 [%r1], 1;"], "by 32 lanes"),
        (["mov.b64 %rd1, 1026;", "st.shared.b32 [%rd1], 1;"], "a store that is not aligned"),
        (
            ["mov.u32 %r1, %tid.x;", "setp.eq.s32 %p1, %r1, 0;", "@%p1 bra $out;", "bar.sync 0;", "$out:"],
            "bar.sync 0 by some lanes",
        ),
    ],
)
def test_what_a_program_must_not(lines, message):
    with pytest.raises(Fault, match=message):
        run_lines(*lines, "ret;")


@pytest.mark.parametrize("line", ["sin.approx.f32 %f1, 0f00000000;", "@%p1 add.s32 %r1, 1, 2;", "mov.b32 %r1, some;"])
def test_what_is_not_known_is_said(line):
    with pytest.raises(UnknownPtx, match=re.escape(line.split()[-1].rstrip(";"))):
        run_lines(line, "ret;")
