# SPDX-License-Identifier: Apache-2.0
"""The chips that kernels run on: what is fixed by each, in one table.

The compiler, the kernel library and the benchmarks read it; the tables of the packages that depend on nothing (the
layout algebra, the emulator) are held against it by `tests/integration/test_chips.py`.

Where the numbers come from. LDS, its granule, waves and workgroups: LLVM 22's AMDGPU target (the limit that it
reports for a kernel with more LDS, `getLdsDwGranularity`, `getMaxWavesPerEU`, `getMaxWorkGroupsPerCU`). Banks, SIMDs,
8-bit floats and matrix instructions: AMD's ISA documents of CDNA 3 and 4, RDNA 3, 3.5 (gfx1151) and 4. Compute units:
AMD's product pages; the Radeon 8060S has 40, which are 20 workgroup processors. There is no public document of
gfx1250: what LLVM says of it is LLVM's, and its compute units, SIMDs and banks are assumed to be as many as gfx950's.
sm_90a: the tables of compute capabilities in NVIDIA's CUDA C++ Programming Guide; multiprocessors are those of the H100
SXM.

The words are AMD's: a wave is a warp, LDS is shared memory, a compute unit a multiprocessor and a SIMD one of its
partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHIPS", "FAMILIES", "UNIFIED_REGISTERS", "Chip", "Family", "family_of"]


@dataclass(frozen=True)
class Family:
    """Chips that share their instructions' encoding, by how their processors' names begin.

    Attributes:
        name: of the family.
        prefix: of the names of its processors.
        wave: lanes of a wave, where compilers have the choice.
        rdna: it is one of the Radeon graphics chips' families.
        clusters: workgroups can be launched in clusters.
    """

    name: str
    prefix: str
    wave: int
    rdna: bool = False
    clusters: bool = False


FAMILIES = (
    Family("cdna", "gfx9", 64),
    Family("rdna2", "gfx10", 32, rdna=True),
    Family("rdna3", "gfx11", 32, rdna=True),
    Family("gfx1250", "gfx125", 32, clusters=True),
    Family("rdna4", "gfx12", 32, rdna=True),
    Family("hopper", "sm_90", 32, clusters=True),
)
"""A processor is of the first whose prefix its name has. The dialect, which depends on nothing, has the same in
`FlyROCDL/IR/Availability.cpp`; `tests/integration/test_chips.py` compares them."""


def family_of(processor: str) -> Family | None:
    """Return the family of a processor ("gfx942", "gfx1250-strict"); `None` for one that is of none of them."""
    return next((one for one in FAMILIES if processor.startswith(one.prefix)), None)


@dataclass(frozen=True)
class Chip:
    """One chip, by its processor's name; `None` stands for what is not known.

    Attributes:
        name: of the processor, "gfx942".
        product: that it is best known for, whose compute units are counted.
        wave: lanes of a wave, where compilers have the choice.
        lds_bytes: of a workgroup, at most.
        lds_banks: of 4 bytes each.
        lds_granule: bytes in which LDS is given out.
        compute_units: of the product; of RDNA workgroup processors, as HIP counts them.
        simds: of a compute unit.
        waves: of a SIMD, at most.
        workgroups: of more than one wave on a compute unit, at most: it has as many barriers (LLVM's
            `getMaxWorkGroupsPerCU`).
        fp8: "fnuz" or "ocp", the 8-bit floats that its instructions take; "" where they take none.
        matrix: the family of its matrix instructions.
    """

    name: str
    product: str
    wave: int
    lds_bytes: int
    lds_banks: int
    lds_granule: int | None
    compute_units: int | None
    simds: int
    waves: int
    workgroups: int
    fp8: str
    matrix: str

    @property
    def family(self) -> str:
        """The name of its family."""
        found = family_of(self.name)
        assert found is not None
        return found.name


CHIPS = {
    chip.name: chip
    for chip in (
        Chip("gfx942", "MI300X", 64, 64 << 10, 32, 512, 304, 4, 8, 16, "fnuz", "mfma"),
        Chip("gfx950", "MI355X", 64, 160 << 10, 64, 1280, 256, 4, 8, 16, "ocp", "mfma"),
        Chip("gfx1100", "RX 7900 XTX", 32, 64 << 10, 32, 1024, 48, 4, 16, 32, "", "wmma"),
        Chip("gfx1151", "Radeon 8060S", 32, 64 << 10, 32, 1024, 20, 4, 16, 32, "", "wmma"),
        Chip("gfx1201", "RX 9070 XT", 32, 64 << 10, 32, 1024, 32, 4, 16, 32, "ocp", "wmma"),
        Chip("sm_90a", "H100", 32, 227 << 10, 32, 128, 132, 4, 16, 32, "ocp", "wgmma"),
        Chip("gfx1250", "gfx1250", 32, 320 << 10, 64, 1024, 256, 4, 16, 16, "ocp", "wmma"),
    )
}
"""By name. A chip that is not here is compiled for, but nothing is known of it."""

UNIFIED_REGISTERS = frozenset(("gfx90a", "gfx942", "gfx950"))
"""Processors with one file of 512 vector registers a lane and SIMD, for vectors and accumulators. gfx90a is no chip of
the table, but code is tuned for it."""
