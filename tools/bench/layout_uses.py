#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the kernel library is written in layouts: a count for each file, from its syntax tree.

    python tools/bench/layout_uses.py                 # the table, to the standard output
    python tools/bench/layout_uses.py --write         # docs/benchmarks/layout-uses.md

Layout operations are calls that make, divide, partition, view or copy tensors and tilings, and reductions along a mode.
Raw accesses are loads and stores through a pointer or an address, buffer resources and their loads and stores, and
intrinsics by name. A file that has neither is left out.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels"
PAGE = ROOT / "docs" / "benchmarks" / "layout-uses.md"

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


def name_of(function: ast.expr) -> str:
    """The last name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def uses(text: str) -> tuple[int, int]:
    """Layout operations and raw accesses of a source."""
    layout = raw = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call):
            raw += name_of(node.left.func) in POINTERS
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        # `copy.copy` is Python's; `getattr(fx.…)` looks an operation up by name, others do not count.
        if name == "copy" and not (isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "fx"):
            continue
        if name == "getattr" and not (node.args and "rocdl" in ast.unparse(node.args[0])):
            continue
        by_hand = name in ACCESSES and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp)
        layout += name in LAYOUT.split()
        raw += name in RAW.split() or by_hand
    return layout, raw


def table() -> str:
    """The page's table, by file, with the sums."""
    lines = ["| file | layout operations | raw accesses |", "|---|---|---|"]
    sums = [0, 0]
    for path in sorted(SOURCES.rglob("*.py")):
        found = uses(path.read_text())
        if any(found):
            lines.append(f"| {path.relative_to(SOURCES)} | {found[0]} | {found[1]} |")
            sums = [have + one for have, one in zip(sums, found, strict=True)]
    return "\n".join([*lines, f"| all | {sums[0]} | {sums[1]} |"]) + "\n"


def main() -> int:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/layout-uses.md")
    if parser.parse_args().write:
        intro = "# Layout operations and raw accesses of the kernel library\n\nMade by `tools/bench/layout_uses.py"
        PAGE.write_text(f"{intro} --write`, which says what counts.\n\n{table()}")
    else:
        sys.stdout.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
