# SPDX-License-Identifier: Apache-2.0
"""The thread-value layouts of a warp's products and of their copies are what the PTX ISA's formulas say.

The formulas stand in `ptx_fragments.py` of fly-kernels' tests; the layouts come from the dialect.
"""

from __future__ import annotations

import ast
import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flydsl._mlir import ir
from flydsl._mlir.dialects import fly, fly_nvvm  # noqa: F401

LANES = 32
PRODUCTS = [
    *((f"16x8x{k}", 16, "f16", "f16", acc) for k in (16, 8) for acc in ("f32", "f16")),
    *((f"16x8x{k}", 16, "bf16", "bf16", "f32") for k in (16, 8)),
    *((f"16x8x{k}", 32, "tf32", "tf32", "f32") for k in (8, 4)),
    *((f"16x8x{k}", 8, "i8", "i8", "i32") for k in (32, 16)),
    *(("16x8x32", 8, a, b, "f32") for a, b in itertools.product(("f8E4M3FN", "f8E5M2"), repeat=2)),
    ("8x8x4", 64, "f64", "f64", "f64"),
]
COPIES = [
    (kind, matrices, transposed)
    for kind in ("ldmatrix", "stmatrix")
    for matrices in (1, 2, 4)
    for transposed in (False, True)
]


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with ir.Context() as context, ir.Location.unknown():
        yield context


@pytest.fixture
def isa(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    tests = Path(__file__).resolve().parents[2] / "packages" / "fly-kernels" / "tests" / "gemm"
    monkeypatch.syspath_prepend(str(tests))
    return importlib.import_module("ptx_fragments")


def flat(tree: Any) -> list[int]:
    return [tree] if isinstance(tree, int) else [leaf for part in tree for leaf in flat(part)]


def modes(layout: Any) -> list[list[tuple[int, int]]]:
    """(extent, stride) of the leaves of each mode of a layout of MLIR."""
    shape, stride = map(ast.literal_eval, str(layout).removeprefix("!fly.layout<").removesuffix(">").split(":"))
    return [list(zip(flat(one), flat(step), strict=True)) for one, step in zip(shape, stride, strict=True)]


def at(mode: list[tuple[int, int]], index: int) -> int:
    """What an index of a mode is mapped to, its first leaf fastest."""
    found = 0
    for extent, stride in mode:
        index, digit = divmod(index, extent)
        found += digit * stride
    assert index == 0
    return found


def size(mode: list[tuple[int, int]]) -> int:
    product = 1
    for extent, _ in mode:
        product *= extent
    return product


@pytest.mark.parametrize(("extents", "bits", "a", "b", "acc"), PRODUCTS)
def test_products(extents: str, bits: int, a: str, b: str, acc: str, isa: ModuleType) -> None:
    atom = fly.MmaAtomType(ir.Type.parse(f"!fly.mma_atom<!fly_nvvm.sm80.mma_sync<{extents}, ({a}, {b}) -> {acc}>>"))
    m, n, k = map(int, extents.split("x"))
    assert tuple(map(int, atom.shape_mnk)) == (m, n, k)
    for operand, rows in (("A", m), ("B", n), ("C", m), ("D", m)):
        thread, value = modes(getattr(atom, f"layout_{operand}_tv"))
        assert size(thread) == LANES
        covered = set()
        for lane in range(LANES):
            expected = isa.places(f"m{m}n{n}k{k}", bits, operand.replace("D", "C"), lane)
            if operand == "B":  # which is (N, K) here
                expected = [(column, row) for row, column in expected]
            places = [divmod(at(thread, lane) + at(value, i), rows)[::-1] for i in range(size(value))]
            assert places == expected, (operand, lane)
            covered |= set(places)
        assert len(covered) == {"A": m * k, "B": n * k}.get(operand, m * n)


@pytest.mark.parametrize(("kind", "matrices", "transposed"), COPIES)
def test_copies(kind: str, matrices: int, transposed: bool, isa: ModuleType) -> None:
    spelling = f"!fly_nvvm.{kind}<{matrices}, transposed = {str(transposed).lower()}>"
    element = 16
    atom = fly.CopyAtomType(ir.Type.parse(f"!fly.copy_atom<{spelling}, {element}>"))
    sides = {"memory": atom.layout_src_tv, "registers": atom.layout_dst_tv}
    if kind == "stmatrix":
        sides = {"memory": atom.layout_dst_tv, "registers": atom.layout_src_tv}
    assert str(atom.layout_ref_tv) == str(sides["registers"])
    # Elements are counted row by row, matrix by matrix.
    thread, value = modes(sides["memory"])
    assert (size(thread), size(value)) == (LANES, 8)
    for lane in range(LANES):
        named = isa.row_named_by(lane, matrices)
        if named is None:  # a lane whose address is not used names a row that another lane names
            named = isa.row_named_by(lane % (8 * matrices), matrices)
        first = named[0] * 64 + named[1] * 8
        assert [at(thread, lane) + at(value, i) for i in range(8)] == [*range(first, first + 8)]
    thread, value = modes(sides["registers"])
    assert (size(thread), size(value)) == (LANES, 2 * matrices)
    for lane in range(LANES):
        pair = isa.pair_held_by(lane, transposed=transposed)
        expected = [matrix * 64 + row * 8 + column for matrix in range(matrices) for row, column in pair]
        assert [at(thread, lane) + at(value, i) for i in range(2 * matrices)] == expected


@pytest.mark.parametrize("width", [8, 32])
def test_copies_of_other_elements(width: int) -> None:
    """Bytes travel in pairs, and words as two halves."""
    atom = fly.CopyAtomType(ir.Type.parse(f"!fly.copy_atom<!fly_nvvm.ldmatrix<4, transposed = false>, {width}>"))
    thread, value = modes(atom.layout_dst_tv)
    for lane in range(LANES):
        bits = {at(thread, lane) * width + at(value, i) * width for i in range(size(value))}
        assert bits == {lane * 32 + matrix * 1024 + part for matrix in range(4) for part in range(0, 32, width)}
