# SPDX-License-Identifier: Apache-2.0
"""Kernels broken on purpose: the sanitizers say so, at the right line.

One row of `KERNELS` for each kernel: how to launch it (the import is inside, so that it gets the broken module), and
the ways to break it: a part of one line of its source, what takes its place, the sanitizer that has to speak, and
lines that it may name instead of the broken one (see `flydsl.emulator.mutation.Break`). Besides, every s_barrier and
s_waitcnt of the compiled kernel is left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

mutation = pytest.importorskip("flydsl.emulator.mutation", reason="the emulator is needed")
Break = mutation.Break

ROWS = "flydsl.kernels.common.rows"

# Where rows are read and written: what an index that is off by one, or a value that was never loaded, runs into.
MOVES = (
    "flydsl.kernels.common.rows: fx.copy(mine.tiled_copy, source, fragment, pred=self._predicate(step))",
    "flydsl.kernels.common.rows: fx.copy(mine.tiled_copy, fragment, target, pred=self._predicate(step))",
)


@dataclass(frozen=True)
class Kernel:
    """A kernel, and the ways to break it."""

    name: str
    launch: Callable[[], Any]
    breaks: tuple[Any, ...]
    barriers: bool = True  # does leaving a barrier out show? (kernels of one wave have none)


def softmax() -> None:
    """Rows that a workgroup of several waves holds in registers."""
    from flydsl.kernels.softmax_kernel import build_softmax_module

    x = torch.randn(3, 16384, generator=torch.Generator().manual_seed(0))
    build_softmax_module(16384, "f32")(x, torch.empty_like(x), 3)


COALESCED_STORE, COLUMN_SUMS = "flydsl.kernels.common.coalesced_store", "flydsl.kernels.norm.column_sums"
REDUCED = f"{ROWS}: return fx.coop.tiled_reduce("  # writes to LDS, and reads what other waves wrote
HALVES = (  # what takes turns between two halves of LDS
    f"{ROWS}: return self._slots[self._start + index]",
    f"{ROWS}: self._slots[self._start + index] = value",
)
TURNED = "fx.copy(fx.make_copy_atom(word, fx.Float32), turned, fragment)"
TO_LDS = "fx.copy(fx.make_copy_atom(word, fx.Float32), vector, held)"
VIEWS = "flydsl.kernels.common.views"
ONE_LOADED = f"{VIEWS}: fx.copy(_scalar_copy(source.element_type), source, fragment, pred=predicate(condition))"
ONE_STORED = f"{VIEWS}: fx.copy(_scalar_copy(target.element_type), fragment, target, pred=predicate(condition))"


def rmsnorm() -> None:
    """Two rows of a workgroup of several waves, one after the other, with the statistics."""
    from flydsl.kernels.norm import forward
    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module

    x = torch.randn(2, 16384, generator=torch.Generator().manual_seed(0))
    kernel = build_rmsnorm_module(16384, "f32", store_rstd=True)
    with mock.patch.object(forward, "programs", return_value=1):
        kernel(x, torch.ones(16384), torch.empty_like(x), torch.empty(2), 2)


def rmsnorm_backward() -> None:
    """The sums of two workgroups, spread over LDS several times, and their sum."""
    from flydsl.kernels.common.row_plan import RowConfig
    from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_two_stage_module

    config = RowConfig(elements=16, held=16, unroll=1, single=True)
    x = torch.randn(2, 2050, generator=torch.Generator().manual_seed(0))
    rest = torch.ones(2), torch.empty_like(x), torch.empty(2050), torch.empty(2 * 2050)
    build_rmsnorm_bwd_two_stage_module(2050, "f32", 2, config=config)(x, torch.ones(2050), x.clone(), *rest, 2)


def per_block_quant() -> None:
    """The last workgroup of a row has threads without work."""
    from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module

    x = torch.randn(2, 1280, generator=torch.Generator().manual_seed(0)).bfloat16()
    q, scale = torch.empty(2, 1280, dtype=torch.int8), torch.empty(2, 10)
    build_per_block_quant_module(1280, "bf16", "int8")(x, q, scale, 2)


def rope_cache() -> None:
    """Three tokens, one of them without a slot."""
    from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module

    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(3, heads, 64, generator=generator).bfloat16() for heads in (4, 2, 2))
    cos, sin = (torch.randn(8, 32, generator=generator).bfloat16() for _ in range(2))
    positions, slots = torch.tensor([0, 7, 3], dtype=torch.int32), torch.tensor([5, -1, 0])
    caches = [torch.zeros(2, 4, 2, 64).bfloat16() for _ in range(2)]
    kernel = build_fused_rope_cache_module(64, -1, 4, 2, 4)
    outputs, one = (torch.empty_like(q), torch.empty_like(k)), torch.ones(1)
    kernel(q, k, v, positions, cos, sin, slots, *caches, *outputs, 3, one, one)


LOOP, TILE = "flydsl.kernels.common.mma.tiled_loop", "flydsl.kernels.gemm.tile_gemm"
SPLITK = "flydsl.kernels.gemm.splitk_reduce"
WAYS = "flydsl.kernels.common.mma.lds_ways"
# Where A is written to LDS and read, and what takes it.
ISSUED = (
    f"{WAYS}: return Access(name, lambda: fx.copy(atom, source, target)",
    f"{LOOP}: fx.gemm(tiled, sums, fragment_b[one]",
)
BEFORE_LAST = "fx.barrier()  # all have read this step, and written the next"
STORE_C = f'{TILE}: chain.store(mine, results, matrix(C, "C", stored)'


SUM = "flydsl.kernels.common.mma.wave_sum"
READ_SUM = "fx.copy(through_lds, exchanged[None, (lane, None, group), along_k % parts, slot], values)"
WRITE_SUM = "fx.copy(through_lds, held, exchanged[None, (lane, along_k, group), owner, slot])"


def preshuffled_gemm(tile_m: int, tile_n: int, **config: object) -> None:
    """Six stages of K, so that the loop and what follows it both run."""
    from flydsl.kernels.common.shuffle import shuffle_weight
    from flydsl.kernels.gemm.config import GemmConfig
    from flydsl.kernels.gemm.row_major_gemm import compile_gemm

    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(rows, 768, generator=generator).bfloat16() for rows in (32, 64))
    c, none = torch.empty(32, 64, dtype=torch.bfloat16), torch.empty(0)
    gemm = {"N": 64, "K": 768, "config": GemmConfig(tile_m, tile_n, 64, **config), "shuffled": True}
    gemm |= {"in_dtype": "bf16", "out_dtype": "bf16"}
    compile_gemm(**gemm)(c, a, shuffle_weight(b), none, none, none, none, none, 32)


def preshuffle_gemm() -> None:
    """Waves along N, which share A in LDS."""
    preshuffled_gemm(32, 64, waves=(1, 4))


def waves_along_k() -> None:
    """Waves along K, each with its own A in registers, and their sum."""
    preshuffled_gemm(32, 64, waves=(1, 1), k_waves=4)


ATTENTION = "flydsl.kernels.attention"


def flash_attention() -> None:
    """Five tiles of keys, the last of them masked, for two workgroups of eight waves."""
    from flydsl.kernels.attention.config import FlashConfig
    from flydsl.kernels.attention.flash_attn_kernel import build_dense

    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 300, 1, 64, generator=generator).bfloat16()
    out, lse = torch.empty_like(q), torch.empty(1, 1, 300)
    build_dense(1, 1, 64, "bf16", False, True, None, FlashConfig())(q, q, q, out, lse, 1, 300, 300)


def split_attention() -> None:
    """Two parts of four tiles of keys, and the kernel that combines them."""
    from flydsl.kernels.attention.config import FlashConfig
    from flydsl.kernels.attention.flash_attn_splits import build_split_forward
    from flydsl.kernels.attention.variant import AttentionVariant

    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 200, 1, 64, generator=generator).bfloat16()
    out, parts, parts_lse = torch.empty_like(q), torch.empty(2 * q.numel()), torch.empty(2 * 200)
    config, variant = FlashConfig(waves=4), AttentionVariant(splits=2)
    kernel = build_split_forward(1, 1, 64, "bf16", False, False, None, config, variant)
    kernel(q, q, q, out, out, parts, parts_lse, out, out, out, out, 1, 200, 200)


OUTPUT_IN_LDS = (
    f"{ATTENTION}.output_store: fx.copy(self._put.tiled_copy",
    f"{ATTENTION}.output_store: fx.copy(self._get.tiled_copy",
    f"{ATTENTION}.kv_staging: fx.copy(self._put, fragment",
    f"{ATTENTION}.kv_staging: fx.copy(self._put, turned",
    f"{ATTENTION}.flash_attn_kernel: fx.copy(from_lds, v_mine[None, None, step",
)
# An operand that nobody wrote is noticed where it is read, or where it is used.
KEYS_IN_LDS = (
    f"{ATTENTION}.flash_attn_kernel: fx.copy(from_lds, k_mine",
    f"{ATTENTION}.flash_attn_kernel: fx.gemm(qk.tiled_mma, scores, k_steps[one], q_steps[one], scores)",
)


PARTS = ("highest, logs[part]", "logs[part] - highest", "fx.copy(get.tiled_copy", "fx.copy(put.tiled_copy")


def grouped_gemm() -> None:
    """Groups of rows that end inside of tiles."""
    from flydsl.kernels.gemm.grouped_dispatch import multiply_grouped

    a, b = torch.ones(40, 64, dtype=torch.float16), torch.ones(3, 64, 64, dtype=torch.float16)
    b[1] = 2.0
    c = torch.empty(40, 64, dtype=torch.float16)
    multiply_grouped("grouped_gemm", a, b, c, torch.tensor([0, 9, 30, 40]))


def splitk_gemm() -> None:
    """Two parts of K and the kernel that adds them up."""
    from flydsl.kernels.gemm.config import GemmConfig
    from flydsl.kernels.gemm.dispatch import multiply

    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(rows, 512, generator=generator).half() for rows in (5, 64))
    multiply(a, b, torch.empty(5, 64, dtype=torch.float16), config=GemmConfig(16, 64, 128, 2))


def rows_of(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def softmax_backward() -> None:
    from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module

    y = rows_of(3, 512).softmax(1)
    build_softmax_bwd_module(512, "f32")(rows_of(3, 512), y, torch.empty_like(y), 3)


def layernorm() -> None:
    from flydsl.kernels.norm.layernorm_kernel import build_layernorm_module

    x = rows_of(3, 512)
    build_layernorm_module(512, "f32")(x, torch.ones(512), torch.zeros(512), torch.empty_like(x), 3)


def layernorm_backward() -> None:
    from flydsl.kernels.norm.layernorm_bwd_kernel import build_layernorm_bwd_module

    x, sums = rows_of(3, 512), (torch.zeros(512), torch.zeros(512))
    mean, rstd = torch.zeros(3), torch.ones(3)
    build_layernorm_bwd_module(512, "f32")(x, torch.ones(512), x.clone(), mean, rstd, torch.empty_like(x), *sums, 3)


def per_token_quant() -> None:
    from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

    q, scale = torch.empty(3, 512, dtype=torch.int8), torch.empty(3)
    build_per_token_quant_module(512, "f32", "int8")(rows_of(3, 512), q, scale, 3)


def argmax() -> None:
    from flydsl.kernels.elementwise.argmax_kernel import build_argmax_module

    build_argmax_module(512, "f32")(rows_of(3, 512), torch.empty(3, dtype=torch.int64), 3)


def row_reduce() -> None:
    from flydsl.kernels.elementwise.row_reduce_kernel import build_row_reduce_module

    build_row_reduce_module(512, "f32")(rows_of(3, 512), torch.empty(3), 3)


def gated() -> None:
    from flydsl.kernels.elementwise.gated_kernel import build_gated_module

    build_gated_module(512, "f32")(rows_of(3, 1024), torch.empty(3, 512), 3)


def gated_backward() -> None:
    from flydsl.kernels.elementwise.gated_kernel import build_gated_bwd_module

    x = rows_of(3, 1024)
    build_gated_bwd_module(512, "f32")(rows_of(3, 512), x, torch.empty_like(x), 3)


def pointwise() -> None:
    """Vectors, and a rest of one element."""
    from flydsl.kernels.elementwise.pointwise_kernel import build_unary_module

    x = rows_of(513)
    build_unary_module("relu", "f32")(x, torch.empty_like(x), 513)


def next_row(name: str, launch: Callable[[], Any], module: str, line: str) -> Kernel:
    """A kernel of one wave a row; broken, it takes the next row instead of its own: the last one is outside."""
    row = "at.first" if "at.first" in line else "row"
    broken = line.replace(f"at, {row}", f"at, {row} + 1")
    return Kernel(name, launch, (Break(f"flydsl.kernels.{module}", line, broken, "memory", MOVES),), barriers=False)


KERNELS = [
    Kernel(
        "flash_attention",
        flash_attention,
        (
            Break(
                f"{ATTENTION}.flash_attn_kernel",
                "fx.barrier()  # the keys and values in LDS",
                "pass  # the keys and values in LDS",
                "race",
                OUTPUT_IN_LDS,
            ),
            Break(f"{ATTENTION}.flash_attn_kernel", "lse[rows[b]] =", "lse[rows[b] + 1] =", "memory"),
            Break(
                f"{ATTENTION}.kv_staging",
                "fx.copy(self._put, fragment, self._target[None, None, None, stage])",
                "pass",
                "init",
                KEYS_IN_LDS,
            ),
        ),
    ),
    Kernel(
        "split_attention",
        split_attention,
        (
            Break(
                f"{ATTENTION}.split_combine_kernel",
                "(thread < threads_a_row * rows) & (row < seq_len)",
                "thread < threads_a_row * rows",
                "memory",
                PARTS,
            ),
            Break(
                f"{ATTENTION}.split_combine_kernel",
                "[row, head, None, batch]",
                "[row, head, None, batch + 1]",
                "memory",
                PARTS,
            ),
        ),
        barriers=False,
    ),
    Kernel(
        "softmax",
        softmax,
        (
            Break(ROWS, "self._used += 1", "pass", "race", (REDUCED,)),
            Break(ROWS, MOVES[0].partition(": ")[2], "pass", "init", (REDUCED, MOVES[1])),
            Break(ROWS, "step.vector + step.offset)", "step.vector + step.offset + 1)", "memory", MOVES),
        ),
    ),
    Kernel(
        "rmsnorm",
        rmsnorm,
        (
            Break(ROWS, "self._turn & 1", "self._turn & 0", "race", (REDUCED, *HALVES)),
            Break(
                VIEWS,
                "fx.make_layout(1, 1))[None, index]",
                "fx.make_layout(1, 1))[None, index + 1]",
                "memory",
                (ONE_STORED,),
            ),
        ),
    ),
    Kernel(
        "rmsnorm_backward",
        rmsnorm_backward,
        (
            Break(COALESCED_STORE, "fx.barrier()  # all vectors are there", "pass", "race", (TURNED, TO_LDS)),
            Break(COALESCED_STORE, "fx.barrier()  # and all are read", "pass  #", "race", (TURNED, TO_LDS)),
            Break(COALESCED_STORE, TO_LDS, "pass", "init", (TURNED,)),
            Break(
                COLUMN_SUMS,
                "row < rows % LANES",
                "row <= rows % LANES",
                "memory",
                ("fx.copy(mine.tiled_copy, source[None, None, None, turn], part",),
            ),
            Break(
                COLUMN_SUMS,
                "predicate((column < columns) & (row == 0)",
                "predicate((column <= columns) & (row == 0)",
                "memory",
            ),
        ),
    ),
    Kernel(
        "per_block_quant",
        per_block_quant,
        (
            Break(
                "flydsl.kernels.quant.per_block_quant_kernel",
                "(group % lanes == 0) & (group < groups)",
                "(group % lanes == 0) & (group <= groups)",
                "memory",
                (ONE_STORED,),
            ),
        ),
        barriers=False,
    ),
    Kernel(
        "rope_cache",
        rope_cache,
        (
            Break(
                "flydsl.kernels.attention.fused_rope_cache_kernel",
                "(first_token + row < num_tokens)",
                "(first_token + row <= num_tokens)",
                "memory",
                (ONE_LOADED,),
            ),
            Break(
                "flydsl.kernels.attention.fused_rope_cache_kernel",
                "if slot >= 0:",
                "if slot >= -1:",
                "memory",
                ("fx.copy(mine.tiled_copy, fragment, to, pred=predicate(condition))  # a head",),
            ),
        ),
        barriers=False,
    ),
    Kernel(
        "grouped_gemm",
        grouped_gemm,
        (
            Break(
                "flydsl.kernels.gemm.group_tiles",
                "fx.min(end - first_row, self._tile_m)",
                "fx.min(end - first_row + 5, self._tile_m)",
                "race",
                (STORE_C,),
            ),
        ),
        barriers=False,
    ),
    Kernel(
        "splitk_gemm",
        splitk_gemm,
        (
            Break(TILE, "first = first_row + part * M", "first = first_row + part * M + 1", "memory", (STORE_C,)),
            Break(
                SPLITK,
                "begin = part * fx.Int64(M) * groups + first",
                "begin = (part + 1) * fx.Int64(M) * groups + first",
                "memory",
                ("fx.copy(_atom(source), source, held)", "total = total + _read("),
            ),
        ),
    ),
    Kernel(
        "waves_along_k",
        waves_along_k,
        (
            Break(SUM, WRITE_SUM, "pass", "init", (READ_SUM,)),
            Break(SUM, READ_SUM, READ_SUM.replace("None, group", "None, group + 64"), "memory"),
        ),
    ),
    Kernel(
        "preshuffle_gemm",
        preshuffle_gemm,
        (
            Break(LOOP, BEFORE_LAST, "pass", "race", ISSUED),
            Break(LOOP, "issue_all(way.puts(now))  # the first step", "pass", "init", ISSUED),
            Break(WAYS, "fx.make_view(one, layout)", "fx.make_view(one + 65536, layout)", "memory", ISSUED),
            Break(TILE, "first = first_row + part * M", "first = first_row + part * M + 1", "memory", (STORE_C,)),
        ),
    ),
    next_row(
        "softmax_bwd", softmax_backward, "norm.softmax_bwd_kernel", "RowView(one, at, at.first) for one in (DY, Y, DX)"
    ),
    next_row("layernorm", layernorm, "norm.forward", "self.input = RowView(tensors.Input, at, row)"),
    next_row("layernorm_bwd", layernorm_backward, "norm.backward", "self.dy = RowView(tensors.DY, at, row)"),
    next_row(
        "per_token_quant",
        per_token_quant,
        "quant.per_token_quant_kernel",
        "source, output = RowView(Input, at, at.first), ",
    ),
    next_row("argmax", argmax, "elementwise.argmax_kernel", "source = RowView(X, at, at.first)"),
    next_row("row_reduce", row_reduce, "elementwise.row_reduce_kernel", "reduced(RowView(X, at, at.first))"),
    next_row("gated", gated, "elementwise.gated_kernel", "gates, target = RowView(X, at, at.first, columns=2 * N), "),
    next_row("gated_bwd", gated_backward, "elementwise.gated_kernel", "dys = RowView(DY, at, at.first)"),
    Kernel(
        "pointwise",
        pointwise,
        (
            Break(
                "flydsl.kernels.elementwise.pointwise_kernel",
                "inside[index, 0] = coordinates[(0, index), 0].unpack() < end",
                "inside[index, 0] = coordinates[(0, index), 0].unpack() <= end",
                "memory",
                ("fx.copy(copy, source, fragment, pred=inside)", "fx.copy(copy, out, result, pred=inside)"),
            ),
        ),
        barriers=False,
    ),
]


@pytest.fixture(autouse=True)
def _broken_code_is_loaded(_watched: Any, emulator: Any) -> None:
    """The check of code would refuse what these tests run."""
    emulator.set_code_check(False)


@pytest.mark.parametrize(
    ("kernel", "one"),
    [pytest.param(kernel, one, id=f"{kernel.name}-{one}") for kernel in KERNELS for one in kernel.breaks],
)
def test_broken_source(kernel: Kernel, one: Any, tmp_path: Path) -> None:
    mutation.check_break(one, kernel.launch, tmp_path)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_dropped_waits_and_barriers(kernel: Kernel, tmp_path: Path) -> None:
    from flydsl.emulator import SavedLaunch, save_launches

    with save_launches(tmp_path):
        kernel.launch()
    for path in sorted(tmp_path.glob("*.flylaunch")):
        saved = SavedLaunch.load(path)
        for mnemonic, sanitizer in (("s_waitcnt", "wait"), ("s_barrier", "race")):
            dropped = mutation.drop_each(saved, mnemonic)
            caught = [one for one in dropped if any(report.sanitizer == sanitizer for report in one.reports)]
            if mnemonic == "s_waitcnt" or (kernel.barriers and dropped):
                assert caught, f"{saved.kernel}: none of {len(dropped)} missing {mnemonic} was noticed"
            for one in caught:
                # LLVM gives a few instructions no line, of which two lines became one; another report then has one.
                lines = [report.source or report.other_source for report in one.reports]
                assert any(lines), f"dropped {one.text}: no line in\n{one.reports}"
