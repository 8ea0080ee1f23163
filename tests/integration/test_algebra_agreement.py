# SPDX-License-Identifier: Apache-2.0
"""The dialect's C++ algebra and fly-layout give the same results, on random static operations.

fly-layout writes tables of operations with its results; the dialect's table program, which stands in the build tree
beside fly-opt, computes each row anew and compares.
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

import flydsl.layout as fl

TREE = Path(__file__).resolve().parents[2] / "build" / "fly-dialect" / "bin"
EXTENTS = (1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16)
OF_ONE_LAYOUT = ("coalesce", "right_inverse", "left_inverse", "cosize", "complement", "make_layout_like")
DIVIDES = ("composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
PRODUCTS = ("logical_product", "tiled_product", "flat_product", "blocked_product", "raked_product")
AT_AN_INDEX = ("crd2idx", "idx2crd", "get_flat_coord", "get_1d_coord")
OF_TUPLES = ("int_tuple_add", "int_tuple_sub", "int_tuple_mul", "int_tuple_div", "int_tuple_mod", "ceil_div")


class Rows:
    """Random rows for one seed, by operation: `operands => fly-layout's result`, or `=> error`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tables = {}

    def shape(self, depth=0):
        if depth == 2 or self.random.random() < 0.5:
            return self.random.choice(EXTENTS)
        return tuple(self.shape(depth + 1) for _ in range(self.random.randint(1, 3)))

    def layout(self, shape=None):
        """Mostly injective, in random order of modes, sometimes with gaps or a stride of 0; else anything."""
        shape = self.shape() if shape is None else shape
        extents = fl.flatten(shape)
        if self.random.random() < 0.7:
            strides, step = [0] * len(extents), self.random.choice((1, 1, 1, 2))
            for position in self.random.sample(range(len(extents)), len(extents)):
                strides[position] = step
                step *= extents[position] * self.random.choice((1, 1, 1, 1, 1, 2))
            if self.random.random() < 0.15:
                strides[self.random.randrange(len(strides))] = 0
        else:
            strides = [self.random.choice((0, 1, 2, 3, 4, 6, 8, 12, 16, 24)) for _ in extents]
        return fl.Layout(shape, fl.unflatten(tuple(strides), shape))

    def add(self, operation, operands, function=None, attributes=""):
        try:
            result = fl.text_of((function or getattr(fl, operation))(*operands))
        except fl.LayoutError:
            result = "error"
        row = " ; ".join(map(fl.text_of, operands)) + f"{attributes} => {result}"
        self.tables.setdefault(operation, []).append(row)

    def fill(self, rounds):
        choose = self.random.choice
        for _ in range(rounds):
            a, b = self.layout(), self.layout(choose((2, 4, 8, (2, 2), (4, 2))))
            for operation in OF_ONE_LAYOUT:
                self.add(operation, (a,))
            self.add("complement", (a, choose((1, 4, 24, 64, 96, 100))))
            for operation in (*DIVIDES, *PRODUCTS):
                self.add(operation, (a, b))
            for operation in AT_AN_INDEX:
                self.add(operation, (self.random.randrange(100), a))
            new, old = choose(((8, 16), (16, 8), (32, 8), (8, 32), (4, 8), (16, 1)))
            self.add(
                "recast_layout",
                (a,),
                lambda layout, old=old, new=new: fl.recast_layout(layout, old, new),
                f"   {{new_type_bits={new} old_type_bits={old}}}",
            )
            x, y = self.shape(), self.shape()
            for operation in OF_TUPLES:
                self.add(operation, (x, y))


@pytest.mark.parametrize("seed", range(4))
def test_dialect_and_library_agree(seed, tmp_path):
    program = shutil.which("fly-algebra-table-tests", path=TREE)
    assert program, f"fly-algebra-table-tests is not in {TREE}; run this through tools/dev test integration"
    rows = Rows(seed)
    rows.fill(60)
    for operation, lines in rows.tables.items():
        (tmp_path / f"{operation}.txt").write_text("\n".join(lines) + "\n")
    done = subprocess.run([program, str(tmp_path)], capture_output=True, text=True, timeout=600)
    total = sum(map(len, rows.tables.values()))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"{total} rows" in done.stdout + done.stderr
    results = [line.rpartition("=> ")[2] for lines in rows.tables.values() for line in lines]
    assert results.count("error") < total // 2  # else the comparison would say little
