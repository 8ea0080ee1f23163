# SPDX-License-Identifier: Apache-2.0
"""Who holds what of a row of a matrix: configuration, and the plan that it gives for a length.

A row of N elements is cut into groups of one vector (16 bytes). A group of threads shares the row; each access of a
wave is one contiguous stretch of memory. Thread t holds the groups t, t + threads, t + 2 threads, …; or, where that
comes out even, each wave has a stretch of the row to itself, whose accesses lie so close to each other that their
distance is part of the instruction. N is any number: what is left after the last whole vector is at most one element a
thread, moved by one access of its own. Every element is so moved exactly once, whatever N is.

    short row   16 lanes to a whole wave hold a row: no LDS, no barrier, several rows a workgroup
    long row    several waves, up to 1024 threads, hold a row: one barrier and a few bytes of LDS a reduction
    longer      the row doesn't fit the registers: a run-time loop over it, once for each pass
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .arch import architecture
from .checks import positive_integer

VECTOR_BYTES = 16
MAX_THREADS = 1024


@dataclass(frozen=True)
class Step:
    """What each thread moves in one access, or in several that are equally far apart: a tile of the row.

    `vector` elements, the `vector` times (`first` + t)-th of the row after `offset` for thread t. Where `groups` is
    set, only the threads whose group is below it have something to move. Each of the `passes` after the first begins
    `apart` groups later; `stretch`: the passes of so many threads, a wave, lie side by side, and then come those of the
    next wave.
    """

    vector: int
    first: Any
    offset: int = 0
    groups: int | None = None
    passes: int = 1
    apart: int = 0
    stretch: int | None = None

    @property
    def elements(self) -> int:
        """How many elements a thread moves."""
        return self.vector * self.passes

    def layout_tv(self, threads: int) -> tuple[Any, Any]:
        """Shape and stride of (thread, value) to the element of the tile, for `threads` threads."""
        values = (self.vector, self.passes), (1, self.apart * self.vector)
        if self.stretch is not None:
            lanes = self.stretch
            waves = (lanes, threads // lanes), (self.vector, self.passes * lanes * self.vector)
            return (waves[0], values[0]), (waves[1], values[1])
        return ((threads,), values[0]), ((self.vector,), values[1])


@dataclass(frozen=True)
class RowConfig:
    """How a row kernel divides rows among threads; `row_config` has the defaults.

    A row that gives each lane of a wave at most `wave_limit` elements stays with one wave, or with a part of one, whose
    lanes hold `wave_aim`. A longer one gets threads up to 1024 until each has at most `elements`, and stays in
    registers up to `held` of them; beyond, `streaming` threads stream it, each with `unroll` vectors in flight. Where
    `wave_aim` and `wave_limit` are not given, they are `elements`. `block` asks for a number of threads of a workgroup,
    which otherwise follows from the row. `single`: one row a workgroup, of at least one wave. Where `threads_aim` is
    given, a row gets more threads than that only when each has `held` elements already; one of 1024 threads stays in
    registers up to half of `held`: the more threads a workgroup has, the fewer registers has each. `even_aim` takes its
    place for rows that so many threads hold with the same number of whole vectors each. `wave_block`: threads of a
    workgroup whose rows each stay with a wave or a part of one, where `block` isn't given. `resident`: threads
    of a compute unit that a launch of a norm is cut for, which holds its rows and their weights; more rows than that
    take turns. Where it is None each workgroup has its own rows only.

    Raises ValueError for numbers that are not positive, and for a `block`, `wave_block` or `streaming` that is no power
    of two from 64 to 1024.
    """

    elements: int = 32
    held: int = 64  # of one operand: at 1024 threads a thread has 128 vector registers
    wave_aim: int | None = None
    wave_limit: int | None = None
    unroll: int = 4
    single: bool = False
    block: int | None = None
    threads_aim: int | None = None
    even_aim: int | None = None
    wave_block: int = 256
    streaming: int = MAX_THREADS
    # Four times what there is room for: workgroups that end make room for others, whose loads then overlap the
    # reductions of those that still run.
    resident: int | None = 8192

    def __post_init__(self) -> None:
        for name in ("elements", "held", "wave_aim", "wave_limit", "unroll", "threads_aim", "even_aim", "resident"):
            value = getattr(self, name)
            if value is not None:
                positive_integer(f"RowConfig: {name}", value)
        if self.block is not None and self.block not in (64, 128, 256, 512, 1024):
            raise ValueError(f"BLOCK_THREADS must be 64, 128, 256, 512 or 1024, got {self.block!r}")
        for name in ("wave_block", "streaming"):
            value = getattr(self, name)
            if value not in (64, 128, 256, 512, 1024):
                raise ValueError(f"RowConfig: {name} must be 64, 128, 256, 512 or 1024, got {value!r}")


@dataclass(frozen=True)
class RowPlan:
    """What a `RowConfig` makes of a length: `threads` per row, `rows` per workgroup, `vector` elements an access."""

    columns: int
    vector: int
    threads: int
    rows: int
    in_registers: bool
    stretch: int | None = None  # lanes of a wave, where each wave has a part of the row to itself
    unroll: int = 4  # vectors in flight per thread while streaming
    resident: int | None = 8192  # threads of a compute unit that a norm is cut for

    @property
    def step_groups(self) -> int:
        """How far apart, in groups, the accesses of a thread are."""
        return self.stretch or self.threads

    @property
    def block(self) -> int:
        """Threads of a workgroup."""
        return self.threads * self.rows

    @property
    def groups(self) -> int:
        """Whole vectors of a row."""
        return self.columns // self.vector

    @property
    def elements(self) -> int:
        """The most elements that a thread has of a row."""
        return -(-self.columns // self.threads)

    @property
    def full_steps(self) -> int:
        """Accesses in which every thread has a whole vector."""
        return self.groups // self.threads

    @property
    def last_steps(self) -> list[Step]:
        """The accesses in which some threads have nothing to move."""
        steps = []
        if self.groups % self.threads:
            steps.append(Step(self.vector, self.full_steps * self.threads, 0, self.groups))
        if self.columns % self.vector:
            whole = self.groups * self.vector
            steps.append(Step(1, 0, whole, self.columns - whole))
        return steps

    @property
    def tiles(self) -> list[Step]:
        """A row that is held: the accesses of whole vectors by all threads together, and what is left of the row."""
        return [*self.run(0, self.full_steps), *self.last_steps]

    @property
    def passes(self) -> list[tuple[Step, int]]:
        """The tile of each access of `tiles`, and which of its passes that is."""
        return [(tile, index) for tile in self.tiles for index in range(tile.passes)]

    def run(self, first: object, count: int) -> list[Step]:
        """The accesses of whole vectors by all threads, `count` of them from group `first` on, as one tile."""
        if not count:
            return []
        return [Step(self.vector, first, passes=count, apart=self.step_groups, stretch=self.stretch)]

    @property
    def steps(self) -> list[Step]:
        """All accesses to a row, one by one."""
        return [Step(self.vector, step * self.step_groups) for step in range(self.full_steps)] + self.last_steps


def aligned_vector(columns: int, bits: int) -> int:
    """Elements of the longest access, of 16 bytes at most, that fits rows of `columns` elements on the target.

    NVIDIA's GPUs have no unaligned access mode: there it divides the row, so that all rows begin at a multiple of it.

    Raises RuntimeError for a target that the library is not written for.
    """
    vector = VECTOR_BYTES * 8 // bits
    while architecture().nvidia and columns % vector:
        vector //= 2
    return vector


def plan_rows(columns: int, bits: int, config: RowConfig = RowConfig(), wave: int | None = None) -> RowPlan:
    """The plan for rows of `columns` elements of `bits` each, on waves of `wave` lanes (None: those of the target).

    Raises ValueError unless `columns` is a positive int, of 2^30 or less; RuntimeError for a target that the library is
    not written for.
    """
    positive_integer("N", columns)
    # Where N is no multiple of the vector, rows begin anywhere: the hardware's unaligned access mode, which ROCm sets
    # and LLVM counts on, takes any address that is a multiple of the element's size.
    vector = VECTOR_BYTES * 8 // bits
    if wave is None:
        wave = architecture().wave
        vector = aligned_vector(columns, bits)
    block, elements, held = config.block, config.elements, config.held
    wave_limit = elements if block is not None else max(elements, config.wave_limit or 0)
    threads, rows = wave if config.single else 16, 1
    while threads < wave and threads * (config.wave_aim or elements) < columns:
        threads *= 2
    if columns <= wave * wave_limit:
        held = wave_limit
        rows = 1 if config.single else (block or config.wave_block) // threads
    else:
        aim = config.threads_aim or MAX_THREADS
        if config.even_aim is not None and columns % (vector * config.even_aim) == 0:
            aim = config.even_aim
        while threads < MAX_THREADS and threads * (elements if threads < aim else held) < columns:
            threads *= 2
        threads = block or threads
        if threads == MAX_THREADS and config.threads_aim is not None:
            held //= 2
        if -(-columns // threads) > held:
            threads = MAX_THREADS
        if -(-columns // threads) > held:
            threads = config.streaming
    in_registers = -(-columns // threads) <= held
    even = threads > wave and columns // vector % threads == 0
    stretch = wave if even and in_registers and not config.single else None
    return RowPlan(columns, vector, threads, rows, in_registers, stretch, config.unroll, config.resident)
