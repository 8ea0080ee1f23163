# SPDX-License-Identifier: Apache-2.0
"""A program that runs matrix atoms on the device of the process, each once, against products in integers.

Fragments are filled by the layouts of the atom's instruction in fly-layout's table, which come from AMD's formulas and
not from the dialect; so a result is right only if atom, lowering and instruction mean the same.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.layout.atoms import MatrixInstruction, matrix_instruction

LANES = 64
TORCH = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "i32": torch.int32,
}
FP8 = {
    "gfx942": {"fp8": torch.float8_e4m3fnuz, "bf8": torch.float8_e5m2fnuz},
    "gfx950": {"fp8": torch.float8_e4m3fn, "bf8": torch.float8_e5m2},
}


@dataclass(frozen=True)
class Case:
    """An operation and the instruction that it has to become."""

    operation: object
    mnemonic: str
    index_set: int = 0


def dense() -> Iterator[Case]:
    """Dense operations of one block and of several."""
    yield Case(fx.rocdl.MFMA(16, 16, 4, fx.Float64), "mfma_f64_16x16x4_f64")
    yield Case(fx.rocdl.MFMA(4, 4, 4, fx.Float64, blocks=4), "mfma_f64_4x4x4_4b_f64")
    kinds = ((fx.Float32, "f32", "f32", 1), (fx.Float16, "f32", "f16", 4))
    kinds += ((fx.BFloat16, "f32", "bf16", 4), (fx.Int8, "i32", "i8", 4))
    for (kind, acc, name, k), (m, blocks) in itertools.product(kinds, ((32, 2), (16, 4), (4, 16))):
        operation = fx.rocdl.MFMA(m, m, k, kind, blocks=blocks)
        yield Case(operation, f"mfma_{acc}_{m}x{m}x{k}_{blocks}b_{name}")


def formats(arch: str) -> dict[str, object]:
    fnuz = {"fp8": fx.Float8E4M3FNUZ, "bf8": fx.Float8E5M2FNUZ}
    return fnuz if arch == "gfx942" else {"fp8": fx.Float8E4M3FN, "bf8": fx.Float8E5M2}


def of_architecture(arch: str) -> Iterator[Case]:
    """What only one architecture has."""
    if arch == "gfx942":
        yield Case(fx.rocdl.MFMA(16, 16, 8, fx.Float32, xf32=True), "mfma_f32_16x16x8_xf32")
        yield Case(fx.rocdl.MFMA(32, 32, 4, fx.Float32, xf32=True), "mfma_f32_32x32x4_xf32")
    else:
        yield Case(fx.rocdl.MFMA(16, 16, 64, fx.Int8), "mfma_i32_16x16x64_i8")
        yield Case(fx.rocdl.MFMA(32, 32, 32, fx.Int8), "mfma_i32_32x32x32_i8")
    for (a, kind_a), (b, kind_b) in itertools.product(formats(arch).items(), repeat=2):
        yield Case(fx.rocdl.MFMA(16, 16, 32, kind_a, elem_ty_b=kind_b), f"mfma_f32_16x16x32_{a}_{b}")


def sparse(arch: str) -> Iterator[Case]:
    """Operations on a sparse A; index sets in turn."""
    eight = [(a, b, f"{n}_{o}") for (n, a), (o, b) in itertools.product(formats(arch).items(), repeat=2)]
    kinds = [(fx.Float16, fx.Float16, "f16", 512), (fx.BFloat16, fx.BFloat16, "bf16", 512)]
    kinds += [(fx.Int8, fx.Int8, "i8", 1024), *((a, b, name, 1024) for a, b, name in eight)]
    shapes = itertools.product(kinds, (16, 32), (1, 2) if arch == "gfx950" else (1,))
    for turn, ((a, b, name, area), m, times) in enumerate(shapes):
        k = area // m * times
        index_set = turn % (2048 // (m * k))
        operation = fx.rocdl.SMFMAC(m, m, k, a, b, index_set=index_set)
        acc = "i32" if name == "i8" else "f32"
        yield Case(operation, f"smfmac_{acc}_{m}x{m}x{k}_{name}", index_set)


def run(operation: object, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """D of one call: each row of the tensors is what a lane holds."""
    is_sparse = isinstance(operation, fx.rocdl.SMFMAC)
    counts = [tensor.shape[1] for tensor in (a, b, c, index)]

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, index: fx.Tensor, d: fx.Tensor):
        lane = fx.thread_idx.x
        fragments = []
        for source, count in zip((a, b, c, index), counts, strict=True):
            fragment = fx.make_rmem_tensor(count, source.dtype)
            for j in fx.range_constexpr(count):
                fragment[j] = source[lane, j]
            fragments.append(fragment)
        left = [fragments[0], fragments[3]] if is_sparse else fragments[0]
        fx.mma_atom_call(fx.make_mma_atom(operation), fragments[2], left, fragments[1], fragments[2])
        for j in fx.range_constexpr(counts[2]):
            d[lane, j] = fragments[2][j]

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, index: fx.Tensor, d: fx.Tensor):
        kernel(a, b, c, index, d).launch(grid=(1,), block=(LANES,))

    d = torch.empty_like(c)
    launch(a, b, c, index, d)
    return d


def by_lane(instruction: MatrixInstruction, operand: str) -> torch.Tensor:
    """For each lane, the indices of its values in the operand's (rows, columns, blocks), column-major."""
    layout = instruction.layout_tv(operand)
    values = 1
    for extent in flat(layout.shape[1]):
        values *= extent
    return torch.tensor([[int(layout(lane, value)) for value in range(values)] for lane in range(LANES)])


def flat(shape: object) -> list[int]:
    return [e for mode in shape for e in flat(mode)] if isinstance(shape, tuple) else [int(shape)]


def storage(values: torch.Tensor, kind: str, arch: str) -> torch.Tensor:
    """Integers as the type of an operand; 8-bit floats as their bytes."""
    if kind in FP8[arch]:
        return values.to(torch.float32).to(FP8[arch][kind]).view(torch.int8)
    return values.to(TORCH["f32" if kind == "xf32" else kind])


def check(case: Case, arch: str, generator: torch.Generator) -> None:
    instruction = matrix_instruction(arch, case.mnemonic)
    m, n, k = instruction.shape_mnk
    blocks, columns = instruction.blocks, k // 2 if instruction.sparse else k

    def matrix(rows: int, width: int) -> torch.Tensor:
        return torch.randint(-4, 5, (blocks, width, rows), generator=generator)  # column-major, blocks last

    a, b, c = matrix(m, columns), matrix(n, k), matrix(m, n).reshape(blocks, n, m)
    index = torch.zeros(LANES, 1, dtype=torch.int32)
    whole = a
    if instruction.sparse:
        # Two of four positions, for each group of four along a row.
        pairs = torch.tensor(list(itertools.combinations(range(4), 2)))
        chosen = pairs[torch.randint(0, len(pairs), (columns // 2, m), generator=generator)]
        positions = chosen.permute(0, 2, 1).reshape(columns, m)  # of each stored element, by column and row
        groups = torch.arange(columns).unsqueeze(1) // 2 * 4
        whole = torch.zeros(1, k, m, dtype=a.dtype)
        whole[0].scatter_(0, positions + groups, a[0])
        held = positions.flatten()[by_lane(instruction, "A")]
        shift = 2 * torch.arange(held.shape[1]) + case.index_set * 2 * held.shape[1]
        words = (held << shift).sum(1)
        index[:, 0] = torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)
    types = instruction.elem_types
    operands = [
        storage(matrix.flatten()[by_lane(instruction, operand)], kind, arch)
        for operand, matrix, kind in (("A", a, types[0]), ("B", b, types[1]), ("C", c, types[2]))
    ]
    expected = (whole.transpose(1, 2) @ b + c.transpose(1, 2)).transpose(1, 2).flatten()
    got = run(case.operation, *operands, index)
    assert torch.equal(got.to(torch.int64), expected[by_lane(instruction, "D")]), case.mnemonic


def main(arch: str) -> None:
    """Check every case of `arch`, which the device of the process must be."""
    generator = torch.Generator().manual_seed(4)
    cases = [*dense(), *of_architecture(arch), *sparse(arch)]
    for case in cases:
        check(case, arch, generator)
    print(f"{len(cases)} atoms")


if __name__ == "__main__":
    main(sys.argv[1])
