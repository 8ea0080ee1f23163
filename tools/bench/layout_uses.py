#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the kernel library is written in layouts: a count for each file, from its syntax tree.

    python tools/bench/layout_uses.py                 # the table, to the standard output
    python tools/bench/layout_uses.py --write         # docs/benchmarks/layout-uses.md, docs/kernels/raw-accesses.md

Layout operations are calls that make, divide, partition, view or copy tensors and tilings, and reductions along a mode.
Raw accesses are loads and stores through a pointer or an address, buffer resources and their loads and stores, and
intrinsics by name. A file that has neither is left out. The second page has each raw access, and why it is one: a file
with raw accesses and no reason in `REASONS` is an error.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels"
PAGE = ROOT / "docs" / "benchmarks" / "layout-uses.md"
LIST = ROOT / "docs" / "kernels" / "raw-accesses.md"

LAYOUT = """
    make_tiled_copy make_tiled_copy_tv make_tiled_copy_A make_tiled_copy_B make_tiled_copy_C make_tiled_mma make_layout
    make_composed_layout make_identity_layout make_ordered_layout make_layout_tv make_view make_rmem_tensor
    make_fragment_like make_fragment_A make_fragment_B make_fragment_C make_copy_atom make_mma_atom make_buffer_tensor
    logical_divide zipped_divide tiled_divide flat_divide logical_product raked_product composition get_slice
    partition_S partition_D partition_A partition_B partition_C retile copy copy_atom_call gemm tiled_reduce
    tiled_reduce_storage crd2idx idx2crd local_tile
"""
RAW = """
    create_buffer_resource buffer_load buffer_store raw_ptr_buffer_load raw_ptr_buffer_store recast_iter
    call_intrinsic inline_asm update_dpp ds_swizzle readlane getattr
"""
# `pointer + offset` and then `.load()` or `.store(...)`: an address by hand.
ACCESSES = ("load", "store")
# What gives a pointer: something added to it is an address by hand as well.
POINTERS = ("get_iter", "start_of")


HELPER = "a public helper for kernels that compute addresses themselves; no kernel of the library calls it"
LANES = "a public helper: values between lanes by hand, no access; kernels use `fx.coop`"
ROOM = "the room of one thing in LDS is used again for another of another type; no address is computed"
POINTERS_OF_CALLERS = "no access: pointers to elements of another type, as callers give them"
# Why the raw accesses of a file are there.
REASONS = {
    "attention/flash_attn_kernel.py": f"{ROOM}. The counters are two numbers, and no copy atom adds with a scope",
    "common/black_box.py": "no instruction and no access: what LLVM must not look through, see the docstrings",
    "common/buffer_ops.py": HELPER,
    "common/coalesced_store.py": "where the part of a workgroup begins: 64 bits, and coordinates have 32",
    "common/convert.py": "arithmetic, no access: the instruction without the correction of denormal results",
    "common/dpp_utils.py": LANES,
    "common/mem_ops.py": HELPER,
    "common/mma/b_packs.py": HELPER,
    "common/mma/lds_stores.py": HELPER,
    "common/mma/lds_ways.py": ROOM,
    "common/mma/mx_large_tile_loop.py": ROOM,
    "common/mma/mx_staging.py": ROOM,
    "common/mma/quadrant_loop.py": "room in LDS and lanes' places come from one register: one for each was spilled",
    "common/mma/scaled_quadrant_loop.py": "as in quadrant_loop.py: one register for places in LDS and in an operand",
    "common/mma/shuffled_store.py": "one read of 16 bytes whose halves change places; a layout makes two reads of it",
    "common/mma/staged_loop.py": ROOM,
    "common/mma/tdm_loop.py": ROOM,
    "common/mma/tdm_transfers.py": "where an operand begins, for what the mover and L2 are told",
    "common/mma/uniform_steps.py": "a thread's place in an operand, of which the compiler is to know nothing",
    "common/mma/wave_sum.py": ROOM,
    "common/reduce.py": LANES,
    "common/rows.py": "where a row begins: 64 bits, and coordinates have 32",
    "common/tensor_shim.py": HELPER,
    "common/views.py": "no instruction and no access: arguments are asked for together, see `load_arguments`",
    "elementwise/pointwise_kernel.py": "where the part of a workgroup begins: 64 bits, and coordinates have 32",
    "gemm/mxfp4_preshuffle.py": POINTERS_OF_CALLERS,
    "gemm/gemm_a8w4_mxscale_gfx1250.py": POINTERS_OF_CALLERS,
    "gemm/gemm_a8w8_gfx1250.py": POINTERS_OF_CALLERS,
    "gemm/gemm_bf16_gfx1250.py": POINTERS_OF_CALLERS,
    "gemm/tdm_gemm.py": "parts of K add themselves to C: no copy atom adds numbers of 32 bits to memory",
    "gemm/arguments.py": "where the tile of a buffer tensor begins: 64 bits; operands may come as plain bytes",
}


def name_of(function: ast.expr) -> str:
    """The last name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def found(text: str) -> Iterator[tuple[str, int]]:
    """("layout" or "raw", line) of each layout operation and raw access of a source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call) and name_of(node.left.func) in POINTERS:
            yield "raw", node.lineno
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        # `copy.copy` is Python's; `getattr(fx.…)` looks an operation up by name, others do not count.
        if name == "copy" and not (isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "fx"):
            continue
        if name == "getattr" and not (node.args and "rocdl" in ast.unparse(node.args[0])):
            continue
        by_hand = name in ACCESSES and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp)
        if name in LAYOUT.split():
            yield "layout", node.lineno
        if name in RAW.split() or by_hand:
            yield "raw", node.lineno


def sources() -> Iterator[tuple[str, str]]:
    """Name and text of each file of the library."""
    for path in sorted(SOURCES.rglob("*.py")):
        yield path.relative_to(SOURCES).as_posix(), path.read_text()


def table() -> str:
    """The page's table, by file, with the sums."""
    lines = ["| file | layout operations | raw accesses |", "|---|---|---|"]
    sums = [0, 0]
    for name, text in sources():
        kinds = [kind for kind, _ in found(text)]
        counts = kinds.count("layout"), kinds.count("raw")
        if any(counts):
            lines.append(f"| {name} | {counts[0]} | {counts[1]} |")
            sums = [have + one for have, one in zip(sums, counts, strict=True)]
    return "\n".join([*lines, f"| all | {sums[0]} | {sums[1]} |"]) + "\n"


def raw_accesses() -> str:
    """The list of all raw accesses, by file, with the reasons; KeyError for a file that has none."""
    parts = []
    for name, text in sources():
        numbers = sorted(line for kind, line in found(text) if kind == "raw")
        if numbers:
            lines = text.split("\n")
            code = "\n".join(f"    {lines[number - 1].strip()}" for number in dict.fromkeys(numbers))
            parts.append(f"`{name}`: {REASONS[name]}.\n\n{code}\n")
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """The texts of the two pages."""
    made = "ade by `tools/bench/layout_uses.py --write`, which says what counts.\n\n"
    return {
        PAGE: f"# Layout operations and raw accesses of the kernel library\n\nM{made}{table()}",
        LIST: f"# Raw accesses of the kernel library\n\nEverything else is said in layouts. M{made}{raw_accesses()}",
    }


def main() -> int:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write both pages")
    if parser.parse_args().write:
        for page, text in pages().items():
            page.write_text(text)
    else:
        sys.stdout.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
