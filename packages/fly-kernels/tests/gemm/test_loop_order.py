# SPDX-License-Identifier: Apache-2.0
"""The order of instructions in the main loops of large tiles, in the code that is made of them.

What these loops are worth is their order: reads of LDS and loads that hide among matrix instructions, and waits that
leave later loads outstanding. It is lost without any result being wrong, whoever reorders. Nothing is run here.
"""

import re
from dataclasses import dataclass

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm.tile_gemm import build_tile_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm

TORCH = {"bf16": torch.bfloat16, "int8": torch.int8}
KINDS = (
    ("product", r"v_mfma"), ("read", r"ds_read"), ("write", r"ds_write"), ("load", r"buffer_load"),
    ("barrier", r"s_barrier"), ("wait", r"s_waitcnt"), ("scratch", r"scratch_"),
)  # fmt: skip


@dataclass(frozen=True)
class Order:
    """What a loop keeps to.

    Attributes:
        products: matrix instructions in it.
        apart: of them at most without an access among them, anywhere in the loop.
        unread: of them at most without a read of LDS among them: what is multiplied next comes meanwhile.
        together: accesses at most without a matrix instruction among them.
        outstanding: loads that every wait for loads leaves, at least.
        lead: matrix instructions between a barrier and the first load behind it, at least.
    """

    products: int
    apart: int
    unread: int
    together: int
    outstanding: int
    lead: int


def instructions(text):
    """(kind, line) of what counts in a loop: that of the last branch backwards."""
    lines = [line.split(";")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    labels = {line[:-1]: number for number, line in enumerate(lines) if re.fullmatch(r"\.LBB\d+_\d+:", line)}
    loops = []
    for number, line in enumerate(lines):
        target = re.fullmatch(r"s_c?branch\w*\s+(\.LBB\d+_\d+)", line)
        if target and labels[target[1]] < number:
            loops.append(lines[labels[target[1]] : number])
    (loop,) = loops
    found = [(kind, line) for line in loop for kind, pattern in KINDS if re.match(pattern, line)]
    assert found, "the loop has no instruction of any kind"
    return found


def faults(text, order):
    """What the loop does not keep to."""
    loop = instructions(text)
    found = []
    count = sum(kind == "product" for kind, _ in loop)
    if count != order.products:
        found.append(f"{count} products in the loop, not {order.products}")
    apart = unread = together = most_apart = most_unread = most_together = 0
    behind_barrier = None  # products
    for kind, line in loop * 2:  # the end of the loop goes on with its begin
        if kind == "product":
            apart, unread, together = apart + 1, unread + 1, 0
            behind_barrier = None if behind_barrier is None else behind_barrier + 1
        elif kind in ("read", "write", "load"):
            apart, together = 0, together + 1
            unread = 0 if kind == "read" else unread
        elif kind == "barrier":
            behind_barrier = 0
        most_apart, most_unread = max(most_apart, apart), max(most_unread, unread)
        most_together = max(most_together, together)
        if kind == "load" and behind_barrier is not None:
            if behind_barrier < order.lead:
                found.append(f"a load {behind_barrier} products behind a barrier: {line}")
            behind_barrier = None
    for most, limit, text_of in (
        (most_apart, order.apart, "products without an access"),
        (most_unread, order.unread, "products without a read"),
        (most_together, order.together, "accesses without a product"),
    ):
        if most > limit:
            found.append(f"{most} {text_of} among them, not {limit} at most")
    for number, (kind, line) in enumerate(loop):
        if kind == "scratch":
            found.append(f"a register is spilled: {line}")
        if kind == "wait":
            left = re.search(r"vmcnt\((\d+)\)", line)
            if left and int(left[1]) < order.outstanding:
                found.append(f"a wait leaves {left[1]} loads: {line}")
            following = loop[(number + 1) % len(loop)][0]
            if "lgkmcnt(0)" in line and following != "barrier" and loop[number - 1][0] != "product":
                found.append(f"a wait for all reads, and no barrier: {line}")
    if not re.search(r"vgpr_spill_count:\s*0\b", text):
        found.append("registers are spilled")
    return list(dict.fromkeys(found))


def code(arch, in_dtype, tile, shuffled=False):
    """The text of the kernel for a tile, in the form that the defaults have."""
    size = 2 if in_dtype == "bf16" else 1
    K, columns, rows = 2048 // size, tile[1], tile[0]
    gemm = TileGemm(
        arch=arch, N=columns, K=K, in_dtype=in_dtype, out_dtype="bf16", tile_m=rows, tile_n=columns,
        tile_k=128 // size, epilogue=Epilogue(scaled=size == 1), shuffled=shuffled,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "gemm")

    @flyc.jit
    def product(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        multiply(C, A, B, M, stream, **({"scale_a": scale_a, "scale_b": scale_b} if size == 1 else {}))

    a, b = (
        torch.zeros(count * gemm.row_bytes(), dtype=torch.uint8).view(TORCH.get(in_dtype, torch.uint8))
        for count in (rows, columns)
    )
    c = torch.empty(rows * columns, dtype=torch.bfloat16)
    return product.ir("isa", c, a, b, torch.ones(rows), torch.ones(columns), rows)


CASES = {
    # A step is four quadrants, and a step's loads stay outstanding: 8 of 256 x 256, 6 of a tile half as large.
    ("gfx950", "bf16", (256, 256)): Order(64, apart=3, unread=6, together=3, outstanding=8, lead=4),
    ("gfx950", "fp8", (256, 256)): Order(32, apart=3, unread=4, together=4, outstanding=8, lead=2),
    ("gfx950", "bf16", (128, 256)): Order(32, apart=3, unread=4, together=3, outstanding=6, lead=2),
    ("gfx950", "fp8", (256, 128)): Order(16, apart=3, unread=3, together=5, outstanding=6, lead=1),
    # B goes to registers, and A through registers: the last wait is for A that is written, of two steps ahead.
    ("gfx942", "bf16", (128, 256)): Order(256, apart=8, unread=24, together=1, outstanding=5, lead=4),
    ("gfx942", "fp8", (256, 128)): Order(128, apart=8, unread=10, together=3, outstanding=3, lead=8),
}


@pytest.mark.parametrize("shuffled", [False, True], ids=["row-major", "shuffled"])
@pytest.mark.parametrize(("of", "in_dtype", "tile"), CASES, ids=str)
def test_the_order_of_the_loop(arch, of, in_dtype, tile, shuffled):
    if of != arch:
        pytest.skip("a loop of another architecture")
    text = code(arch, in_dtype, tile, shuffled)
    assert not faults(text, CASES[of, in_dtype, tile]), [kind for kind, _ in instructions(text)]


def unscheduled(monkeypatch):
    """All instructions are there, in what order LLVM likes."""
    monkeypatch.setattr(fx.rocdl.Schedule, "apply", lambda self, *args, **options: None)


def unfenced(monkeypatch):
    """Loads before the loop have another order than those in it, and its waits count for both."""
    monkeypatch.setattr(fx.rocdl, "sched_barrier", lambda mask=0: None)


def drained(monkeypatch):
    """Each barrier waits for all loads."""

    def wait(*places):
        fx.rocdl.s_waitcnt(vmcnt=0, lgkmcnt=0)
        fx.rocdl.s_barrier()

    monkeypatch.setattr(fx.rocdl, "barrier_after_copies", wait)


def loads_first(monkeypatch):
    """Loads go right behind the barrier, and reads among the products."""
    given = fx.rocdl.interleave
    monkeypatch.setattr(
        fx.rocdl, "interleave", lambda mfma, ds_read, vmem_read: given(mfma=mfma, vmem_read=vmem_read, ds_read=ds_read)
    )


@pytest.mark.parametrize(
    ("of", "tile", "change", "message"),
    [
        ("gfx950", (256, 256), unscheduled, "accesses without a product"),
        ("gfx950", (256, 256), drained, "a wait leaves 0 loads"),
        ("gfx950", (256, 256), loads_first, "a load 0 products behind a barrier"),
        ("gfx942", (128, 256), unscheduled, "products without an access"),
        ("gfx942", (128, 256), unfenced, "a wait leaves 2 loads"),
    ],
)
def test_a_loop_out_of_order_is_found(arch, monkeypatch, of, tile, change, message):
    if of != arch:
        pytest.skip("a loop of another architecture")
    change(monkeypatch)
    found = faults(code(arch, "bf16", tile), CASES[arch, "bf16", tile])
    assert any(message in one for one in found), found
