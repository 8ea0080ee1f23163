# SPDX-License-Identifier: Apache-2.0
"""Each matrix atom of the dialect means the instruction that it becomes.

All atoms that can be spelled and that have a lowering are lowered, and their thread-value layouts compared, element by
element, with the layouts of that instruction in fly-layout's table, which its own tests compare with AMD's published
formulas and with LLVM's assembler. Instructions of the table without an atom are listed with the reason, so that none
goes unnoticed.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

import flydsl.layout as fl
from flydsl._mlir import ir
from flydsl._mlir.dialects import fly, fly_rocdl  # noqa: F401
from flydsl._mlir.passmanager import PassManager
from flydsl.layout.atoms import MatrixInstruction, matrix_instructions

FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
OCP = ("f8E4M3FN", "f8E5M2")
SMALL = (*OCP, "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
WMMA_KEYS = "signA = false, signB = false, clamp = false"
SCALED_WMMA_KEYS = "opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = "

# Where the instructions of a family of atoms are looked up, the first that has it.
ARCHITECTURES = {
    "cdna3.mfma": ("gfx942", "gfx950"),
    "cdna3.smfmac": ("gfx942", "gfx950"),
    "cdna4.mfma_scale": ("gfx950",),
    "gfx11.wmma": ("gfx11",),
    "gfx120x.wmma": ("gfx12",),
    "gfx1250.wmma": ("gfx1250",),
    "gfx1250.wmma_scale": ("gfx1250",),
}
# Atoms of the contract whose instruction no processor of the family has: the first two are gfx908's.
WITHOUT_INSTRUCTION = {
    ("cdna3.mfma", "rocdl.mfma.f32.32x32x4bf16"),
    ("cdna3.mfma", "rocdl.mfma.f32.16x16x8bf16"),
    ("gfx1250.wmma", "rocdl.wmma.i32.16x16x32.iu4"),
}


# Instructions that number k in another order than their atoms.
REORDERED = [
    "v_wmma_bf16_16x16x16_bf16",
    "v_wmma_f16_16x16x16_f16",
    "v_wmma_f32_16x16x16_bf16",
    "v_wmma_f32_16x16x16_f16",
]
UNSCALED = "what the code generator makes of the scaled atom when both scales are the constant 0"
NO_OP = "the ROCDL dialect of LLVM 22 has no operation for it"
# Instructions that have no atom.
WITHOUT_ATOM = {
    "v_mfma_f32_16x16x128_f8f6f4": UNSCALED,
    "v_mfma_f32_32x32x64_f8f6f4": UNSCALED,
    "v_wmma_bf16f32_16x16x32_bf16": "its C has another type than its D; an atom has one accumulator type",
    "v_wmma_f32_16x16x128_f8f6f4": NO_OP,
    "v_wmma_f32_32x16x128_f4": NO_OP,
}
# Sparse WMMA instructions of gfx12 and gfx1250 have no atoms: the dialect has none, fx.coop reaches them by name.
SPARSE_WMMA = "v_swmmac_"


@dataclass(frozen=True)
class Atom:
    """A matrix atom; `keys` are the options at its end."""

    family: str
    shape: tuple[int, int, int]
    elem_a: str
    elem_b: str
    acc: str
    keys: str = ""

    def __str__(self) -> str:
        m, n, k = self.shape
        keys = f", {self.keys}" if self.keys else ""
        return f"!fly_rocdl.{self.family}<{m}x{n}x{k}, ({self.elem_a}, {self.elem_b}) -> {self.acc}{keys}>"

    @property
    def blocks(self) -> int:
        return int(self.keys.removeprefix("blocks = ")) if self.keys.startswith("blocks") else 1

    @property
    def sparse(self) -> bool:
        return self.family == "cdna3.smfmac"


def pairs(*groups: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every two types of one group."""
    for group in groups:
        yield from itertools.product(group, repeat=2)


def spelled() -> Iterator[Atom]:
    """More atoms than there are: what the dialect refuses is left out by the test."""
    ks = (1, 2, 4, 8, 16, 32, 64, 128)
    accs = {"i8": "i32", "f64": "f64"}
    singles = pairs(("f16",), ("bf16",), ("f32",), ("tf32",), ("f64",), ("i8",), FNUZ, OCP)
    for (a, b), m, k in itertools.product(singles, (16, 32), ks):
        yield Atom("cdna3.mfma", (m, m, k), a, b, accs.get(a, "f32"))
    for a, m, k, blocks in itertools.product(("f16", "bf16", "f32", "f64", "i8"), (4, 16, 32), (1, 4), (2, 4, 16)):
        yield Atom("cdna3.mfma", (m, m, k), a, a, accs.get(a, "f32"), f"blocks = {blocks}")
    for (a, b), m, k in itertools.product(pairs(("f16",), ("bf16",), ("i8",), FNUZ, OCP), (16, 32), ks):
        yield Atom("cdna3.smfmac", (m, m, k), a, b, accs.get(a, "f32"))
    for (a, b), shape in itertools.product(pairs(SMALL), ((16, 16, 128), (32, 32, 64))):
        yield Atom("cdna4.mfma_scale", shape, a, b, "f32", "opselA = 0, opselB = 0")
    types = pairs(("f16",), ("bf16",), ("f32",), ("i8",), ("i4",), OCP)
    families = ("gfx11.wmma", "gfx120x.wmma", "gfx1250.wmma")
    for (a, b), k, acc, family in itertools.product(types, ks, ("f32", "f16", "bf16", "i32"), families):
        yield Atom(family, (16, 16, k), a, b, acc, WMMA_KEYS)
    for (a, b), m, block in itertools.product(pairs(SMALL), (16, 32), (16, 32)):
        yield Atom("gfx1250.wmma_scale", (m, 16, 128), a, b, "f32", SCALED_WMMA_KEYS + str(block))


def admitted(atom: Atom) -> fly.MmaAtomType | None:
    try:
        return fly.MmaAtomType(ir.Type.parse(f"!fly.mma_atom<{atom}>"))
    except ir.MLIRError:
        return None


def layout_of(dialect: fly.MmaAtomType, operand: str) -> fl.Layout:
    return fl.parse(str(getattr(dialect, f"layout_{operand}_tv")).removeprefix("!fly.layout<")[:-1])


def lowered(atom: Atom, dialect: fly.MmaAtomType) -> str | None:
    """The name of the matrix operation that a call becomes; None without a lowering."""
    elems = {"A": atom.elem_a, "B": atom.elem_b, "C": atom.acc}
    a, b, c = (
        f"!fly.memref<{'f32' if elem == 'tf32' else elem}, register, {fl.size(layout_of(dialect, operand).shape[1])}:1>"
        for operand, elem in elems.items()
    )
    module = ir.Module.parse(
        f"func.func @f(%d: {c}, %a: {a}, %b: {b}) {{\n"
        f"  %atom = fly.make_mma_atom : !fly.mma_atom<{atom}>\n"
        f"  fly.mma_atom_call(%atom, %d, %a, %b, %d) : (!fly.mma_atom<{atom}>, {c}, {a}, {b}, {c}) -> ()\n"
        "  return\n}"
    )
    try:
        PassManager.parse("builtin.module(convert-fly-to-rocdl)").run(module.operation)
    except ir.MLIRError:
        return None
    (name,) = set(re.findall(r"rocdl\.(?:mfma|smfmac|wmma)[\w.]*", str(module)))
    return str(name)


def letters(name: str) -> str:
    """A mnemonic, or the name of an operation, without what the two spell differently."""
    return re.sub(r"_\d+b(?=_)|[^a-z0-9]|1k$", "", name.removeprefix("rocdl.").removeprefix("v_"))


def instruction_of(atom: Atom, operation: str) -> MatrixInstruction:
    wave = 64 if atom.family.startswith("cdna") else 32
    for arch in ARCHITECTURES[atom.family]:
        for instruction in matrix_instructions(arch):
            if letters(instruction.mnemonic) == letters(operation) and instruction.wave == wave:
                return instruction
    raise AssertionError(f"{atom} becomes {operation}, which is not in the table")


@cache
def elements(layout: fl.Layout) -> list[list[int]]:
    """What each lane holds, in the order of its values."""
    lanes, values = (fl.size(mode) for mode in layout.shape)
    return [[int(layout(lane, value)) for value in range(values)] for lane in range(lanes)]


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


def order_of_k(dialect: fl.Layout, instruction: fl.Layout, rows: int) -> dict[int, int]:
    """Which k of the instruction stands where the atom says k, in a matrix of so many rows."""
    order: dict[int, int] = {}
    for own, published in zip(elements(dialect), elements(instruction), strict=True):
        for here, there in zip(own, published, strict=True):
            assert here % rows == there % rows
            assert order.setdefault(here // rows, there // rows) == there // rows
    return order


def compare(atoms: list[Atom]) -> tuple[set[tuple[str, str]], set[str]]:
    """Compare atoms with their instructions.

    Returns:
        The instructions, by architecture and mnemonic; and those whose k are numbered in another order than the
        atom's, the same for A and B, so that the product is the same.
    """
    met: set[tuple[str, str]] = set()
    reordered: set[str] = set()
    for atom in atoms:
        dialect = admitted(atom)
        operation = lowered(atom, dialect) if dialect else None
        if operation is None or (atom.family, operation) in WITHOUT_INSTRUCTION:
            continue
        instruction = instruction_of(atom, operation)
        met.add((instruction.arch, instruction.mnemonic))
        facts = (instruction.shape_mnk, instruction.blocks, instruction.sparse)
        assert facts == (atom.shape, atom.blocks, atom.sparse), atom
        assert str(dialect.thr_layout) == f"!fly.layout<{instruction.wave}:1>", atom
        for operand in "CD":
            assert elements(layout_of(dialect, operand)) == elements(instruction.layout_tv(operand)), atom
        m, n, k = atom.shape
        order = order_of_k(layout_of(dialect, "B"), instruction.layout_B_tv, n)
        assert sorted(order.values()) == list(range(k * atom.blocks)), atom
        order_a = order_of_k(layout_of(dialect, "A"), instruction.layout_A_tv, m)
        if atom.sparse:  # A has half the columns.
            assert order_a == dict(enumerate(range(k // 2))), atom
        else:
            assert order_a == order, atom
        if order != dict(enumerate(range(k * atom.blocks))):
            reordered.add(instruction.mnemonic)
    return met, reordered


def test_atoms_mean_their_instructions() -> None:
    met, reordered = compare(list(spelled()))
    assert sorted(reordered) == REORDERED
    without = {
        instruction.mnemonic
        for instruction in matrix_instructions()
        # Atoms of WMMA are those of waves of 32 lanes.
        if instruction.wave == (64 if instruction.mnemonic.startswith(("v_mfma", "v_smfmac")) else 32)
        and not instruction.mnemonic.startswith(SPARSE_WMMA)
        and (instruction.arch, instruction.mnemonic) not in met
        # gfx950 has what gfx942 has.
        and ("gfx942", instruction.mnemonic) not in met
    }
    assert sorted(without) == sorted(WITHOUT_ATOM)
