# SPDX-License-Identifier: Apache-2.0
"""Statistics of a kernel's code, and of the body of its main loop.

All figures are of one static pass over the code: what a wave would do if it executed each instruction once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from .code_object import Instruction, KernelCode, kernels_of
from .instruction import is_transcendental, issue_cycles, kind_of, matrix_work, slot
from .loops import find_loops
from .occupancy import waves_per_simd


@dataclass(frozen=True)
class Work:
    """Instructions by class, and what they amount to, for one wave.

    `widths` counts memory accesses by class and bytes a lane. `density` is the matrix unit's share of the issue cycles;
    `bound` its share if all else were issued in its shadow.
    """

    instructions: int
    classes: dict[str, int]
    widths: dict[str, dict[int, int]]
    transcendental: int
    flops: int
    matrix_cycles: int
    issue_cycles: int
    density: float
    bound: float


@dataclass(frozen=True)
class Statistics:
    """Resources and work of a kernel; `main_loop` is the innermost loop with most matrix work, else the longest."""

    kernel: str
    arch: str
    vgpr: int
    agpr: int
    vgpr_total: int
    vgpr_allocated: int
    sgpr: int
    spills: int
    lds_bytes: int
    scratch_bytes: int
    threads: int
    code_bytes: int
    waves_per_simd: float
    whole: Work
    main_loop: Work | None

    def to_dict(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return asdict(self)


def work_of(code: Iterable[Instruction], arch: str) -> Work:
    """Add up one pass over `code`."""
    classes: Counter[str] = Counter()
    widths: dict[str, Counter[int]] = {}
    count = transcendental = flops = matrix = others = slots = 0
    for one in code:
        kind, width = kind_of(one.mnemonic, one.operands)
        count += 1
        classes[kind] += 1
        if width:
            widths.setdefault(kind, Counter())[width] += 1
        if kind == "mfma":
            done = matrix_work(one.mnemonic, one.operands, arch)
            flops, matrix, slots = flops + done.flops, matrix + done.cycles, slots + slot(arch)
        else:
            cycles = issue_cycles(one.mnemonic, one.operands, arch)
            transcendental += is_transcendental(one.mnemonic)
            others, slots = others + cycles, slots + cycles
    return Work(
        instructions=count,
        classes=dict(sorted(classes.items())),
        widths={kind: dict(sorted(counts.items())) for kind, counts in sorted(widths.items())},
        transcendental=transcendental,
        flops=flops,
        matrix_cycles=matrix,
        issue_cycles=matrix + others,
        density=round(matrix / (matrix + others), 4) if matrix else 0.0,
        bound=round(matrix / max(matrix, slots), 4) if matrix else 0.0,
    )


def of_kernel(kernel: KernelCode) -> Statistics:
    """The statistics of one kernel."""
    code = kernel.instructions
    inner = [
        work_of((code[place] for place in loop.instructions), kernel.arch)
        for loop in find_loops(code)
        if loop.innermost
    ]
    return Statistics(
        kernel=kernel.name,
        arch=kernel.arch,
        vgpr=kernel.vgpr,
        agpr=kernel.agpr,
        vgpr_total=kernel.vgpr_total,
        vgpr_allocated=kernel.vgpr_allocated,
        sgpr=kernel.sgpr,
        spills=kernel.vgpr_spill + kernel.sgpr_spill,
        lds_bytes=kernel.lds_bytes,
        scratch_bytes=kernel.scratch_bytes,
        threads=kernel.threads,
        code_bytes=kernel.code_bytes,
        waves_per_simd=waves_per_simd(kernel),
        whole=work_of(code, kernel.arch),
        main_loop=max(inner, key=lambda work: (work.flops, work.instructions), default=None),
    )


def of_image(image: bytes) -> list[Statistics]:
    """The statistics of every kernel of a code object."""
    return [of_kernel(kernel) for kernel in kernels_of(image)]
