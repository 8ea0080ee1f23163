# SPDX-License-Identifier: Apache-2.0
"""Who does what in one tile of a preshuffled GEMM, worked out before anything is traced.

Waves form a grid over the tile and along K. 4 of them side by side along N own all rows and a quarter of the columns
each. Fewer along N and several along K, each with its share of every stage, multiply larger pieces of the tile, so that
every pack that a wave loads serves more products; what they add up is summed over the waves at the end
(`wave_sum`). No two waves load the same part of B as long as there is one along M.

K goes by in *stages*: one stage of A lies in one of the LDS buffers, one stage of B in registers. A stage is as long as
registers allow, two blocks or so, and shorter where two buffers would take so much LDS that only one workgroup fits a
compute unit. Where
all waves are along K none shares its rows of A with another: then A goes to registers as B does (*private*), there is
neither LDS nor a barrier in the loop, and a stage is as long as registers allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flydsl.runtime.chips import CHIPS

from ..arch import LDS_BYTES
from .instructions import PACK_BYTES, MatrixAtom, matrix_product
from .lds_swizzle import chunk_swizzle

__all__ = ["LDS_BYTES", "WAVE", "TilePlan", "best_plan", "plan_tile"]

WAVE = 64  # lanes of gfx942 and gfx950
_SLOT = 4  # cycles of a wave's issue time that an instruction other than a matrix product takes
_LONGEST_STAGE, _LONGEST_OF_MANY = 256, 128  # bytes of K, and of one wave of those that have many blocks of results
_FEW_BLOCKS = 8
_SMALL = 64 * 128  # elements of a tile that may have waves along K
_LONGEST_PRIVATE_STAGE = 256  # bytes of K of one wave
_B_REGISTERS = 64  # of one stage
_SUM_CHUNKS = 2048  # of 16 bytes, to exchange sums where no buffer of A lies
# Packs of A that are held twice, one set multiplied, one set arriving; fewer beside many sums.
_A_PACKS, _A_PACKS_BESIDE_MANY_SUMS, _MANY_SUMS = 8, 4, 128
_MOST_SUMS = {64: 192, 32: 128}  # by lanes of a wave
# Of the registers of a thread, what is left for things that `TilePlan.registers` does not count. Where the compiler
# must not use more than there are (else it may, and takes occupancy for it), it needs more to move about.
_UNCOUNTED, _UNCOUNTED_UNDER_A_LIMIT = 16, 48


@dataclass(frozen=True)
class TilePlan:
    """The geometry of one tile; bytes unless a name says otherwise."""

    arch: str
    tile_m: int
    tile_n: int
    k_bytes: int  # of a row: the K of this workgroup
    stage_bytes: int  # of a row: the K of one stage
    buffers: int  # LDS buffers: 1, 2, or with `direct` more
    product: MatrixAtom
    waves: tuple[int, int] = (1, 4)  # along M, along N
    shuffled: bool = True  # B is in the order of `shuffle_weight`, else row-major
    k_waves: int = 1
    direct: bool = False  # A goes to LDS without registers
    b_bytes: int = PACK_BYTES  # of a pack of B in memory: half where it is packed int4
    occupancy: int = 1  # waves a SIMD that the compiler is told to leave room for
    alone: bool = False  # waves load the rows of A that they want themselves, though others want them too
    loop_bytes: int | None = None  # LDS of a loop that does not lay its buffers out as this plan does

    @property
    def wave(self) -> int:
        """Lanes of a wave."""
        return self.product.wave

    @property
    def run(self) -> int:
        """Neighbouring columns that a lane has of a block of 16 x 16 results."""
        return 256 // self.wave

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return self.wave * self.waves[0] * self.waves[1] * self.k_waves

    @property
    def private(self) -> bool:
        """Whether A goes to the registers of the only wave that wants it."""
        return self.alone or (self.waves == (1, 1) and not self.direct)

    @property
    def b_pack_stride(self) -> int:
        """From one pack of a lane to its next along K, in B."""
        return (16 if self.shuffled else 1) * self.product.groups * self.b_bytes

    @property
    def b_stage_stride(self) -> int:
        """From one stage to the next, in B."""
        return self.k_waves * self.packs * self.b_pack_stride

    @property
    def stages(self) -> int:
        """How many stages K has."""
        return self.k_bytes // self.stage_bytes

    @property
    def row_blocks(self) -> int:
        """Blocks of 16 rows that a wave owns."""
        return self.tile_m // (16 * self.waves[0])

    @property
    def column_blocks(self) -> int:
        """Blocks of 16 columns (rows of B) that a wave owns."""
        return self.tile_n // (16 * self.waves[1])

    @property
    def column_parts(self) -> int:
        """Parts of a wave's columns that the waves along K divide among them once K is summed over.

        Where there are fewer parts than such waves, several have the same part, and the first of them stores it.
        """
        return math.gcd(self.k_waves, self.column_blocks)

    @property
    def packs(self) -> int:
        """Packs that a lane has of one row in one stage."""
        return self.stage_bytes // (self.product.groups * PACK_BYTES * self.k_waves)

    @property
    def chunks(self) -> int:
        """16-byte chunks of a row of A in LDS."""
        return self.stage_bytes // PACK_BYTES

    @property
    def rows_per_pass(self) -> int:
        """Rows of A that the workgroup loads at once."""
        return self.threads // self.chunks

    @property
    def passes(self) -> int:
        """Loads to LDS that a thread issues for one stage of A; the last may reach past the tile."""
        return 0 if self.private else -(-self.tile_m // self.rows_per_pass)

    @property
    def buffer_chunks(self) -> int:
        """Size of one LDS buffer in chunks."""
        return self.passes * self.threads

    @property
    def sum_chunks(self) -> int:
        """Chunks of LDS in which waves along K exchange sums: those of the buffers, or as many as they need."""
        if self.k_waves == 1:
            return 0
        least = self.column_parts * self.threads  # one block of each wave to come
        if not self.private:
            return max(least, self.buffer_chunks * (1 if self.direct else self.buffers))
        return least * min(self.row_blocks * self.column_blocks // self.column_parts, max(1, _SUM_CHUNKS // least))

    @property
    def sum_registers(self) -> int:
        """Registers of a thread for the sums."""
        return self.run * self.row_blocks * self.column_blocks

    @property
    def many_sums(self) -> bool:
        """Whether the sums take so much that the rest must be sparing."""
        return self.sum_registers >= _MANY_SUMS

    @property
    def blocks(self) -> int:
        """Blocks of K of a stage: what a wave multiplies with one pack of each row, or two where an instruction has."""
        return self.packs // self.product.packs

    @property
    def row_parts(self) -> int:
        """Parts in which a wave's rows of A are read from LDS: more where registers are short, or a stage is a block.

        While one part is multiplied the next is read; so a stage has two of them or more, if it can.
        """
        if self.private:
            return 1
        most = _A_PACKS_BESIDE_MANY_SUMS if self.many_sums else _A_PACKS
        rows, least = self.row_blocks, 1 if self.blocks > 1 else min(2, self.row_blocks)
        even = [one for one in range(1, rows + 1) if rows % one == 0]
        return next(one for one in even if one >= least and (rows // one * self.product.packs <= most or one == rows))

    @property
    def registers(self) -> int:
        """Registers of a thread for sums, a stage of B, two parts of A, what of A is on its way, and addresses."""
        held = 2 * self.row_blocks // self.row_parts * self.product.packs
        a = self.row_blocks * self.packs if self.private else held + (0 if self.direct else self.passes)
        addresses = 2 if self.many_sums else self.column_blocks + (self.row_blocks if self.private else self.passes)
        if self.direct:
            addresses += self.passes * self.many_sums + self.packs * (self.buffers - 1)
        addresses += 0 if self.private else self.packs
        return self.sum_registers + self.b_bytes // 4 * self.column_blocks * self.packs + 4 * a + addresses

    @property
    def crowded(self) -> bool:
        """Whether `registers` are more than a thread has at two waves a SIMD, or at those that are asked for."""
        limited = self.threads > 4 * WAVE or self.occupancy > 1
        most = 512 // max(2, self.occupancy) // 8 * 8
        return self.registers > most - (_UNCOUNTED_UNDER_A_LIMIT if limited else _UNCOUNTED)

    @property
    def lds_bytes(self) -> int:
        """LDS of the workgroup."""
        if self.loop_bytes is not None:
            return self.loop_bytes
        others = self.buffer_chunks * (self.buffers - 1) if self.direct else 0
        return max(self.buffers * self.buffer_chunks, self.sum_chunks + others) * PACK_BYTES

    @property
    def stored_blocks(self) -> int:
        """Row blocks of each wave that `shuffled_store` handles at once: as many as LDS of the loop has room for."""
        room = self.lds_bytes if not self.direct else 0
        return min(self.row_blocks, max(1, room // (32 * self.waves[0] * self.tile_n)))

    @property
    def store_chunks(self) -> int:
        """Chunks of LDS that `shuffled_store` needs."""
        return self.stored_blocks * 2 * self.waves[0] * self.tile_n

    @property
    def matrix_cycles(self) -> int:
        """Cycles of the matrix unit for one stage of a wave."""
        products = self.row_blocks * self.column_blocks * self.packs // self.product.packs * self.product.halves
        return products * self.product.cycles

    @property
    def loads(self) -> int:
        """Instructions that bring one stage of A and B to the registers of a wave, and its part of A to LDS."""
        return self.packs * (self.row_blocks + self.column_blocks) + self.passes * (1 if self.direct else 2)

    @property
    def bound(self) -> float:
        """The share of the matrix unit in the issue time of the main loop if it had nothing else to do but `loads`."""
        return self.matrix_cycles / (self.matrix_cycles + _SLOT * self.loads)

    @property
    def cycles(self) -> int:
        """Issue cycles of a wave for all of K and the sum over waves, without stalls."""
        unpacking = 6 * self.column_blocks * self.packs if self.b_bytes < PACK_BYTES else 0
        control = self.blocks * self.row_parts + (2 if self.private else 3)
        stage = self.matrix_cycles + _SLOT * (self.loads + unpacking + control)
        if self.k_waves == 1:
            return stage * self.stages
        exchanged = self.sum_registers // 4 * 2 + self.sum_registers * (self.k_waves - 1) // self.k_waves
        rounds = -(-self.row_blocks * self.column_blocks * self.threads // self.sum_chunks)
        return stage * self.stages + _SLOT * (exchanged + 2 * rounds)

    @property
    def swizzle(self) -> tuple[int, int]:
        """(shift, mask): chunk c of row r lies where chunk c xor ((r >> shift) & mask) would, see `chunk_swizzle`."""
        bits, shift = chunk_swizzle(self.chunks)
        return shift - (self.chunks.bit_length() - 1), (1 << bits) - 1

    def check(self) -> None:
        """ValueError when the buffers do not fit LDS, or the sums not the registers."""
        room, most = CHIPS[self.arch].lds_bytes, _MOST_SUMS[self.wave]
        if self.lds_bytes > room:
            raise ValueError(
                f"tile_m = {self.tile_m} needs {self.lds_bytes} bytes of LDS for {self.buffers} buffers; "
                f"{self.arch} has {room}: use a smaller tile_m"
            )
        if self.sum_registers > most:
            waves = self.threads // self.wave
            raise ValueError(
                f"tile_m = {self.tile_m}, tile_n = {self.tile_n}: {waves} waves need {self.sum_registers} registers a "
                f"thread for the sums, and {most} leave room for the operands: use a smaller tile or more waves"
            )


def plan_tile(
    arch: str,
    dtype: str,
    element_bytes: int,
    *,
    K: int,
    tile_m: int,
    tile_n: int,
    buffers: int = 2,
    waves: tuple[int, int] = (1, 4),
    shuffled: bool = True,
    k_waves: int = 1,
    direct: bool = False,
    occupancy: int = 1,
) -> TilePlan:
    """The plan of a tile whose numbers have been checked, with K of them for a workgroup; `check` is not called yet.

    ValueError when waves along K do not share its stages evenly.
    """
    k_bytes, budget = K * element_bytes, LDS_BYTES[arch] // 2

    def plan(stage: int) -> TilePlan:
        product = matrix_product(arch, dtype, stage // (64 * k_waves))
        return TilePlan(
            arch, tile_m, tile_n, k_bytes, stage, buffers, product, waves, shuffled, k_waves, direct,
            PACK_BYTES // 2 if dtype == "int4" else PACK_BYTES, occupancy,
        )  # fmt: skip

    chosen = plan(64 * k_waves)
    longest = _LONGEST_OF_MANY * k_waves
    if chosen.private:
        longest = _LONGEST_PRIVATE_STAGE * k_waves
    elif chosen.row_blocks * chosen.column_blocks <= _FEW_BLOCKS:
        longest = max(longest, _LONGEST_STAGE)
    if k_bytes % chosen.stage_bytes:
        raise ValueError(f"k_waves = {k_waves} waves of 64 bytes of K each do not divide {k_bytes} bytes")
    while k_bytes % (2 * chosen.stage_bytes) == 0 and 2 * chosen.stage_bytes <= longest:
        longer = plan(2 * chosen.stage_bytes)
        b_registers = 4 * longer.column_blocks * longer.packs
        faster = longer.product.packs > chosen.product.packs
        if longer.lds_bytes > LDS_BYTES[arch]:
            break
        if not faster and (longer.lds_bytes > budget or b_registers > _B_REGISTERS or longer.crowded):
            break
        chosen = longer
    return chosen


def best_plan(
    arch: str,
    dtype: str,
    element_bytes: int,
    *,
    K: int,
    tile_m: int,
    tile_n: int,
    buffers: int = 2,
    shuffled: bool = True,
    direct: bool = False,
    occupancy: int = 1,
) -> TilePlan:
    """`plan_tile` with 4 waves along N, or of a small tile those that take the fewest cycles and leave two waves a
    SIMD their registers.

    A tile with too many sums for 4 waves gets 8. With all waves along K, A stays private, which has less to wait for
    than loads that go directly to LDS have, also where these are asked for. Waves along K need LDS for two stages (with
    one there is nothing to hide the second barrier behind).
    """
    grids = [(1, 4, 1), (1, 2, 2), (1, 1, 4)] if buffers > 1 and tile_m * tile_n <= _SMALL else [(1, 4, 1)]
    if tile_m * tile_n > 64 * 4 * _MANY_SUMS:
        grids = [(2, 4, 1), (1, 8, 1), (1, 4, 1)]
    plans = []
    for along_m, along_n, along_k in grids:
        if tile_m % (16 * along_m) or tile_n % (16 * along_n * along_k) or K * element_bytes % (64 * along_k):
            continue
        alone = (along_m, along_n) == (1, 1) and buffers == 2
        plan = plan_tile(
            arch, dtype, element_bytes, K=K, tile_m=tile_m, tile_n=tile_n, buffers=buffers,
            waves=(along_m, along_n), shuffled=shuffled, k_waves=along_k, direct=direct and not alone,
            occupancy=occupancy,
        )  # fmt: skip
        exposed = plan.private and plan.blocks < 2  # nothing would hide the loads
        fits = not plan.crowded and plan.sum_registers <= _MANY_SUMS and plan.lds_bytes <= LDS_BYTES[arch] // 2
        cost = plan.cycles if fits and not exposed else plan.registers
        plans.append((exposed or not fits, cost, plan))
    return min(plans, key=lambda one: one[:2])[2]
