# SPDX-License-Identifier: Apache-2.0
"""Runs the PTX of products for Hopper on the CPU, for tests: what is wrong with their waits shows without a GPU.

A machine runs clusters of workgroups of warps of 32 lanes. Lanes part at branches and come together where both ways
meet. It has what such kernels synchronise with: mbarriers that count arrivals and bytes, named barriers, barriers of a
cluster, copies by tensor maps from and to swizzled shared memory, products of a warpgroup by descriptors, loads from
shared memory of the cluster, and products of a warp with the copies of their fragments.

Who goes next is drawn by a seed, with workgroups, warps and copies of very different speed. What is asynchronous
happens at a time that the PTX ISA allows: copies come late and in any order; products read their tiles and write their
sums when they are waited for, or when the last warp of the warpgroup has committed them (`late`); stores read shared
memory when they are waited for, or at some time before. Shared memory begins as random bytes.

A `Fault` is raised for a deadlock; a barrier that is used before it is made, or with too many arrivals; accesses out of
shared memory or that are not aligned; accesses to, and copies into, a workgroup that is gone; copies, products or
threads at a barrier that nobody waits for at the end; and what all lanes or one lane must do and others did.
`TensorMap.written` counts how often each byte was stored. An instruction that is not known raises `UnknownPtx`.

What is assumed or not modelled: time; fences, and what the proxies see of each other's writes (so a fence that is left
out is not found); registers that are given up or taken; hints to caches; launches before and behind this one; the 14
bits or so with which the tensor cores add products of 8-bit floats. Warps of a warpgroup multiply together, and
clusters run one behind the other.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from ptx_arithmetic import E4M3, OPERATIONS, Array, bits_of, seen_as
from ptx_fragments import pair_held_by, places, row_named_by
from ptx_program import TRY_WAIT, Instruction, Program, UnknownPtx

LANES = 32
WARPGROUP = 4  # warps
_BASE = 1024  # where shared memory begins
_TURN = 40  # instructions of a warp, after which others may come first
# Of an element of A and B of products of a warp.
_FRAGMENT_BITS = {"bf16": 16, "f16": 16, "tf32": 32, "s8": 8, "e4m3": 8, "e5m2": 8, "f64": 64}
_TENSOR = "cp.async.bulk.tensor.2d"
_LOAD = f"{_TENSOR}.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_STORE = f"{_TENSOR}.global.shared::cta.tile.bulk_group"
# What changes nothing that is modelled.
_NOTHING = (
    "fence.mbarrier_init.release.cluster", "fence.proxy.async.shared::cta", "griddepcontrol.launch_dependents",
    "griddepcontrol.wait", "setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32",
    "wgmma.fence.sync.aligned",
)  # fmt: skip

Ready = Callable[[], bool]
Steps = Iterator[Ready | None]  # what to wait for, or None where others may come first


class Fault(Exception):
    """The program does what it must not."""


@dataclass
class TensorMap:
    """A matrix in global memory and the boxes that copies move.

    Attributes:
        data: uint8, (rows, bytes of a row).
        box: rows and bytes of a row.
        swizzle: bytes of a row of swizzled shared memory: 32, 64 or 128.
        element: bytes of an element, in which coordinates count.
        written: how often each byte was stored, of the shape of `data`.
    """

    data: Array
    box: tuple[int, int]
    swizzle: int
    element: int
    written: Array = field(init=False)

    def __post_init__(self) -> None:
        self.written = np.zeros(self.data.shape, np.int64)

    def part(self, row: int, byte: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Where a box at a place lies in the matrix, and where that part lies in the box; both may be empty."""
        there, here = [], []
        for first, size, end in zip((row, byte), self.box, self.data.shape, strict=True):
            start, stop = min(max(first, 0), end), max(min(first + size, end), 0)
            there.append(slice(start, max(start, stop)))
            here.append(slice(start - first, max(start, stop) - first))
        return (there[0], there[1]), (here[0], here[1])


def _swizzled(addresses: Array, width: int) -> Array:
    """16-byte units of rows of `width` bytes, exchanged by the bits of the address above the 128-byte line."""
    swizzled: Array = addresses ^ (((addresses >> 7) & (width // 16 - 1)) << 4)
    return swizzled


@functools.cache
def _elements_of(shape: str, bits: int, operand: str) -> tuple[Array, Array]:
    """Rows and columns of the elements of a fragment, (lanes, elements)."""
    rows, columns = np.array([places(shape, bits, operand, lane) for lane in range(LANES)]).transpose(2, 0, 1)
    return rows, columns


class _Mbarrier:
    """Counts arrivals and bytes; a phase ends when none of either is missing."""

    def __init__(self, count: int) -> None:
        self.count, self.missing, self.bytes, self.phase = count, count, 0, 0

    def arrive(self, expected: int = 0) -> None:
        self.bytes += expected
        self.missing -= 1
        if self.missing < 0:
            raise Fault("too many arrivals at an mbarrier")
        self._end()

    def complete(self, count: int) -> None:
        self.bytes -= count
        self._end()

    def _end(self) -> None:
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.count


@dataclass
class _Barrier:
    """A barrier of some threads: of a workgroup, by number, or of a cluster."""

    threads: int
    arrived: int = 0
    generation: int = 0

    def arrive(self, count: int) -> Ready:
        """Returns what tells that all have come."""
        generation = self.generation
        self.arrived += count
        if self.arrived > self.threads:
            raise Fault("too many threads at a barrier")
        if self.arrived == self.threads:
            self.arrived, self.generation = 0, generation + 1
        return lambda: self.generation > generation


class _Workgroup:
    def __init__(self, machine: Machine, rank: int, number: int) -> None:
        self.machine, self.rank, self.number = machine, rank, number
        poison = np.random.default_rng(number).integers(0, 256, _BASE + machine.shared_bytes)
        self.memory = poison.astype(np.uint8)
        self.mbarriers: dict[int, _Mbarrier] = {}
        self.barriers: dict[int, _Barrier] = {}
        self.warps = [_Warp(self, index) for index in range(machine.program.threads // LANES)]
        self.running = len(self.warps)
        # Groups of products of each warpgroup that were made.
        self.made = [0] * (len(self.warps) // WARPGROUP)

    def mbarrier(self, address: int) -> _Mbarrier:
        self.expect_here("an mbarrier")
        if address not in self.mbarriers:
            raise Fault(f"no mbarrier at {address}")
        return self.mbarriers[address]

    def expect_here(self, what: str) -> None:
        if not self.running:
            raise Fault(f"{what} of a workgroup that is gone")

    def expect(self, what: str, first: Array, count: int, aligned: int) -> None:
        """Check accesses of so many bytes."""
        self.expect_here(what)
        if (first < _BASE).any() or (first + count > len(self.memory)).any():
            raise Fault(f"{what} out of shared memory")
        if (first % aligned).any():
            raise Fault(f"{what} that is not aligned")


class Machine:
    """Runs a kernel once.

    Args:
        program: the kernel.
        arguments: a `TensorMap` or an int for each parameter.
        grid: workgroups.
        cluster: workgroups of a cluster.
        shared_bytes: of a workgroup.
        seed: of all that is drawn.
        late: whether products and stores read no sooner than they must.
    """

    def __init__(
        self,
        program: Program,
        arguments: Sequence[TensorMap | int],
        *,
        grid: int,
        cluster: int = 1,
        shared_bytes: int,
        seed: int,
        late: bool,
    ) -> None:
        if len(arguments) != len(program.parameters):
            raise ValueError(f"{len(program.parameters)} parameters, got {len(arguments)} arguments")
        if grid % cluster:
            raise ValueError(f"a grid of {grid} in clusters of {cluster}")
        self.program, self.arguments, self.grid, self.cluster = program, arguments, grid, cluster
        self.shared_bytes, self.late, self.random = shared_bytes, late, random.Random(seed)
        self.workgroups: list[_Workgroup] = []
        self.loads: list[Callable[[], None]] = []  # on their way
        self.stores: list[_Group] = []  # committed ones that have not read what they store
        self.together = _Barrier(0)

    def run(self) -> None:
        """Run all clusters. Raises Fault and UnknownPtx."""
        for first in range(0, self.grid, self.cluster):
            self.workgroups = [_Workgroup(self, rank, first + rank) for rank in range(self.cluster)]
            self.together = _Barrier(self.program.threads * self.cluster)
            self._run_cluster()

    def _run_cluster(self) -> None:
        def speed() -> float:
            return 10 ** self.random.uniform(-2, 0)

        warps = {warp: warp.run() for workgroup in self.workgroups for warp in workgroup.warps}
        of_workgroup = [speed() for _ in self.workgroups]
        speeds: dict[_Warp | None, float] = {warp: speed() * of_workgroup[warp.workgroup.rank] for warp in warps}
        speeds[None] = speed()  # of copies
        waits: dict[_Warp, Ready] = {}
        while warps:
            ready: list[_Warp | None] = [warp for warp in warps if warp not in waits or waits[warp]()]
            if not ready and not self.loads:
                places = sorted((warp.workgroup.rank, warp.index) for warp in warps)
                raise Fault(f"deadlock of the warps {places}")
            copies = self.loads or (self.stores and not self.late)
            names = [*ready, None] if copies else ready
            (next_one,) = self.random.choices(names, [speeds[one] for one in names])
            if next_one is None:
                self._copy()
                continue
            waits.pop(next_one, None)
            try:
                wait = next(warps[next_one])
            except StopIteration:
                del warps[next_one]
                next_one.workgroup.running -= 1
                continue
            if wait is not None:
                waits[next_one] = wait
        if self.loads:
            raise Fault("copies at the end")
        if any(barrier.arrived for workgroup in self.workgroups for barrier in workgroup.barriers.values()):
            raise Fault("threads at a named barrier at the end")
        if self.together.arrived:
            raise Fault("threads at the cluster's barrier at the end")

    def _copy(self) -> None:
        number = self.random.randrange(len(self.loads) + (0 if self.late else len(self.stores)))
        if number < len(self.loads):
            self.loads.pop(number)()
        else:
            self.stores[number - len(self.loads)].read()


class _Group:
    """Stores that were committed together."""

    def __init__(self, machine: Machine, stores: list[Callable[[], None]]) -> None:
        self.machine, self.stores = machine, stores
        machine.stores.append(self)

    def read(self) -> None:
        """Have them read shared memory, once."""
        if self in self.machine.stores:
            self.machine.stores.remove(self)
            for store in self.stores:
                store()


@dataclass(frozen=True)
class _Product:
    """A wgmma: sums (64, n) (+)= A (64, 32 bytes of K) B^T, of descriptors."""

    sums: tuple[str, ...]
    n: int
    element: str
    a: int
    b: int
    accumulate: bool


class _Warp:
    def __init__(self, workgroup: _Workgroup, index: int) -> None:
        self.workgroup, self.index = workgroup, index
        self.machine = workgroup.machine
        self.lanes = np.arange(LANES, dtype=np.uint32)
        self.elected = self.machine.random.randrange(LANES)
        self.registers: dict[str, Array] = {}
        self.constants: dict[str, Array] = {}  # numbers, and what the hardware sets, by their operands
        self.products: list[_Product] = []  # not committed
        self.groups: list[list[_Product]] = []  # committed; empty where they were made
        self.stores: list[Callable[[], None]] = []  # not committed
        self.store_groups: list[_Group] = []  # not waited for
        self.all_in_cluster: Ready | None = None

    def run(self) -> Steps:
        """All that the warp does."""
        program = self.machine.program
        end, turn = len(program.instructions), 0
        # Where each part of the lanes is, and where it meets the part below it.
        parts = [(0, end, np.ones(LANES, bool))]
        while parts:
            number, meets, active = parts.pop()
            if number in (meets, end):
                continue
            one = program.instructions[number]
            if one.operation == "ret":
                continue
            if one.operation in ("bra", "bra.uni"):
                parts += self._branch(number, one, meets, active)
                continue
            parts.append((number + 1, meets, active))
            yield from self._do(one, active)
            turn += 1
            if turn % _TURN == 0:
                yield None
        self._expect_nothing_left()

    def _branch(self, number: int, one: Instruction, meets: int, active: Array) -> list[tuple[int, int, Array]]:
        target = self.machine.program.labels[one.operands[0]]
        if one.predicate is None:
            return [(target, meets, active)]
        condition = self._bits(one.predicate).astype(bool) ^ one.negated
        taken, other = active & condition, active & ~condition
        if not other.any():
            return [(target, meets, active)]
        if not taken.any():
            return [(number + 1, meets, active)]
        where = self.machine.program.meets[number]
        ways = [(number + 1, where, other), (target, where, taken)]
        self.machine.random.shuffle(ways)
        return [(where, meets, active), *ways]

    def _expect_nothing_left(self) -> None:
        if self.products or any(self.groups):
            raise Fault("products at the end")
        if self.stores:
            raise Fault("stores that were not committed at the end")
        if self.store_groups:
            raise Fault("stores at the end that were not waited for")

    # Operands.

    def _bits(self, operand: str) -> Array:
        """What an operand is in each lane."""
        if operand in self.registers:
            return self.registers[operand]
        if operand in self.constants:
            return self.constants[operand]
        special = {
            "%tid.x": self.lanes + np.uint32(LANES * self.index), "%ctaid.x": self.workgroup.number,
            "%nctaid.x": self.machine.grid, "%cluster_ctarank": self.workgroup.rank, "__dynamic_shared_0": _BASE,
        }  # fmt: skip
        parameters = self.machine.program.parameters
        if operand in special:
            value = special[operand]
        elif operand in parameters:
            value = parameters.index(operand)  # which stands for its address
        elif re.fullmatch(r"-?\d+", operand):
            value = int(operand) & 0xFFFFFFFFFFFFFFFF
        elif re.fullmatch(r"0f[0-9A-Fa-f]{8}", operand):
            value = int(operand[2:], 16)
        elif operand.startswith("%"):
            raise Fault(f"{operand} is read and was never written")
        else:
            raise UnknownPtx(operand)
        self.constants[operand] = np.broadcast_to(np.asarray(value, np.uint64), LANES)
        return self.constants[operand]

    def _write(self, register: str, bits: Array, active: Array) -> None:
        before = self.registers.get(register)
        if before is None or active.all():
            self.registers[register] = bits
        else:
            self.registers[register] = np.where(active, bits, before)

    def _addresses(self, operand: str) -> Array:
        """Of `[%rd1+8]`, s64. In the upper half those of another workgroup of the cluster have its rank plus 1."""
        name, _, offset = operand[1:-1].partition("+")
        return seen_as(self._bits(name), "s64") + int(offset or 0)

    def _one(self, one: Instruction, active: Array) -> int:
        """The lane that is alone."""
        (lanes,) = np.nonzero(active)
        if len(lanes) != 1:
            raise Fault(f"{one} by {len(lanes)} lanes")
        return int(lanes[0])

    def _same(self, operand: str) -> int:
        """A number that all lanes have."""
        bits = self._bits(operand)
        if (bits != bits[0]).any():
            raise Fault(f"{operand} differs between lanes")
        return int(bits[0])

    # Instructions.

    def _do(self, one: Instruction, active: Array) -> Steps:
        """Do an instruction for some lanes."""
        if one.operation == "mov.b32" and "{" in "".join(one.operands):
            return self._move_halves(one, active)
        operation = OPERATIONS.get(one.operation)
        if operation is not None:
            to, *operands = one.operands
            values = [self._bits(operand) for operand in operands]
            if one.operation == "div.u32" and not seen_as(values[1], "u32")[active].all():
                raise Fault(f"{one}: a division by 0")
            self._write(to, operation(*values), active)
            return iter(())
        if one.operation in _NOTHING:
            return iter(())
        kind = one.operation
        whole = ".aligned" in kind or kind in ("bar.sync", "bar.arrive", "elect.sync", "shfl.sync.idx.b32")
        if whole and not active.all():
            raise Fault(f"{one} by some lanes")
        if kind.startswith("wgmma."):
            return self._multiply(one)
        if kind.startswith("mma.sync."):
            return self._multiply_fragments(one)
        if kind.startswith(("ldmatrix.", "stmatrix.")):
            return self._copy_matrices(one)
        if kind.startswith(("cp.async.bulk", _TENSOR)):
            return self._move(one, active)
        if kind.startswith(("mbarrier.", "bar.", "barrier.")):
            return self._synchronise(one, active)
        return self._exchange(one, active)

    def _move_halves(self, one: Instruction, active: Array) -> Steps:
        """32 bits and two registers of 16, the low half first."""
        to, of = one.operands
        halves = re.findall(r"[^{},\s]+", to if to.startswith("{") else of)
        if to.startswith("{"):
            bits = seen_as(self._bits(of), "b32")
            for register, half in zip(halves, (bits & 0xFFFF, bits >> 16), strict=True):
                self._write(register, half.astype(np.uint16), active)
        else:
            low, high = (seen_as(self._bits(half), "b16").astype(np.uint32) for half in halves)
            self._write(to, high << np.uint32(16) | low, active)
        return iter(())

    def _exchange(self, one: Instruction, active: Array) -> Steps:
        """Between lanes, and with memory."""
        operands, memory = one.operands, self.workgroup.memory
        match one.operation:
            case "ld.param.b32":
                number = self.machine.program.parameters.index(operands[1][1:-1])
                argument = self.machine.arguments[number]
                if isinstance(argument, TensorMap):
                    raise Fault(f"{one}: a tensor map")
                self._write(operands[0], bits_of(np.full(LANES, argument), "s32"), active)
            case "shfl.sync.idx.b32":
                value = self._bits(operands[1])
                self._write(operands[0].split("|")[0], np.full(LANES, value[int(operands[2])]), active)
            case "elect.sync":
                self._write(operands[0].split("|")[1], self.lanes == self.elected, active)
            case "st.shared.b32" | "st.shared.v4.b32":
                registers = re.findall(r"[^{},\s]+", operands[1])
                first = self._addresses(operands[0])[active]
                self.workgroup.expect("a store", first, 4 * len(registers), 4 * len(registers))
                for number, register in enumerate(registers):
                    value = seen_as(self._bits(register), "b32")[active]
                    places = first[:, None] + (4 * number + np.arange(4))
                    memory[places] = value.view(np.uint8).reshape(-1, 4)
            case "mapa.shared::cluster.u64":
                ranks = seen_as(self._bits(operands[2]), "u64") + np.uint64(1)
                self._write(operands[0], seen_as(self._bits(operands[1]), "u64") | ranks << np.uint64(32), active)
            case "ld.shared::cluster.v4.b32":
                registers = re.findall(r"[^{},\s]+", operands[0])
                values = np.zeros((LANES, len(registers)), np.uint32)
                addresses = self._addresses(operands[1])
                for lane in np.flatnonzero(active):
                    rank, address = divmod(int(addresses[lane]), 1 << 32)
                    of = self.machine.workgroups[rank - 1]
                    of.expect("a load", np.asarray(address), 16, 16)
                    values[lane] = of.memory[address : address + 16].view(np.uint32)
                for number, register in enumerate(registers):
                    self._write(register, values[:, number], active)
            case _:
                raise UnknownPtx(str(one))
        return iter(())

    def _synchronise(self, one: Instruction, active: Array) -> Steps:
        operands, workgroup, machine = one.operands, self.workgroup, self.machine
        match one.operation:
            case "mbarrier.init.shared.b64":
                lane = self._one(one, active)
                count = int(self._bits(operands[1])[lane])
                workgroup.mbarriers[int(self._addresses(operands[0])[lane])] = _Mbarrier(count)
            case "mbarrier.arrive.expect_tx.shared.b64":
                lane = self._one(one, active)
                expected = int(self._bits(operands[2])[lane])
                workgroup.mbarrier(int(self._addresses(operands[1])[lane])).arrive(expected)
            case "mbarrier.arrive.shared.b64":
                for address in self._addresses(operands[1])[active]:
                    workgroup.mbarrier(int(address)).arrive()
            case _ if one.operation == TRY_WAIT:
                lane = int(np.flatnonzero(active)[0])  # the others wait for the same
                barrier = workgroup.mbarrier(int(self._addresses(operands[0])[lane]))
                parity = int(self._bits(operands[1])[lane]) & 1
                # The phase of that parity has ended and the one behind it has not.
                yield lambda: (barrier.phase - 1) % 2 == parity
            case "bar.sync" | "bar.arrive":
                threads = self._same(operands[1]) if len(operands) > 1 else machine.program.threads
                named = workgroup.barriers.setdefault(self._same(operands[0]), _Barrier(threads))
                if named.arrived and named.threads != threads:
                    raise Fault("a barrier of two counts")
                named.threads = threads
                all_there = named.arrive(LANES)
                if one.operation == "bar.sync":
                    yield all_there
            case "barrier.cluster.arrive":
                self.all_in_cluster = machine.together.arrive(int(active.sum()))
            case "barrier.cluster.wait":
                if self.all_in_cluster is None:
                    raise Fault("a wait at the cluster's barrier without an arrival")
                yield self.all_in_cluster
            case _:
                raise UnknownPtx(str(one))

    def _move(self, one: Instruction, active: Array) -> Steps:
        """Copies by tensor maps."""
        match one.operation:
            case _ if one.operation in (_LOAD, f"{_LOAD}.L2::cache_hint"):
                to, tensor, barrier = one.operands[0], one.operands[1], one.operands[2]
                lane = self._one(one, active)
                box = self._box(tensor, lane)
                address = int(self._addresses(to)[lane])
                signal = int(self._addresses(barrier)[lane])
                self.machine.loads.append(lambda: self._load(*box, address, signal))
            case _ if one.operation == _STORE:
                lane = self._one(one, active)
                box = self._box(one.operands[0], lane)
                address = int(self._addresses(one.operands[1])[lane])
                self.stores.append(lambda: self._store(*box, address))
            case "cp.async.bulk.commit_group":
                self.store_groups.append(_Group(self.machine, self.stores))
                self.stores = []
            case "cp.async.bulk.wait_group.read":
                while len(self.store_groups) > int(one.operands[0]):
                    self.store_groups.pop(0).read()
                yield None
            case _:
                raise UnknownPtx(str(one))

    def _box(self, operand: str, lane: int) -> tuple[TensorMap, int, int]:
        """The map, row and byte of `[%rd1, {%r1, %r2}]`."""
        found = re.fullmatch(r"\[(%rd\d+), \{([^,]+), ([^}]+)\}\]", operand)
        if not found:
            raise UnknownPtx(operand)
        tensor = self.machine.arguments[int(self._bits(found[1])[lane])]
        if not isinstance(tensor, TensorMap):
            raise Fault(f"{operand}: no tensor map")
        column, row = (int(seen_as(self._bits(one), "s32")[lane]) for one in found.groups()[1:])
        return tensor, row, column * tensor.element

    def _load(self, tensor: TensorMap, row: int, byte: int, address: int, signal: int) -> None:
        box = np.zeros(tensor.box, np.uint8)
        there, here = tensor.part(row, byte)
        box[here] = tensor.data[there]
        self.workgroup.expect("a copy", np.asarray(address), box.size, 1024)
        places = _swizzled(address + np.arange(box.size), tensor.swizzle)
        self.workgroup.memory[places] = box.reshape(-1)
        self.workgroup.mbarrier(signal).complete(box.size)

    def _store(self, tensor: TensorMap, row: int, byte: int, address: int) -> None:
        size = tensor.box[0] * tensor.box[1]
        self.workgroup.expect("a stored box", np.asarray(address), size, 128)
        places = _swizzled(address + np.arange(size), tensor.swizzle)
        there, here = tensor.part(row, byte)
        tensor.data[there] = self.workgroup.memory[places].reshape(tensor.box)[here]
        tensor.written[there] += 1

    # Products.

    def _multiply(self, one: Instruction) -> Steps:
        workgroup, group = self.workgroup, self.index // WARPGROUP
        form = re.fullmatch(
            r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(?:16|32)\.f32\.(bf16|f16|e4m3)\.\2", one.operation
        )
        if form:
            sums, a, b, accumulate, scales = one.operands
            # Neither is negated; of 16-bit types neither is transposed.
            if scales not in ("1, 1", "1, 1, 0, 0"):
                raise UnknownPtx(str(one))
            registers = tuple(re.findall(r"%r\d+", sums))
            keeps = bool(self._same(accumulate))
            self.products.append(_Product(registers, int(form[1]), form[2], self._same(a), self._same(b), keeps))
        elif one.operation == "wgmma.commit_group.sync.aligned":
            self.groups.append(self.products)
            self.products = []
            if not self.machine.late:
                self._make_oldest()
        elif one.operation == "wgmma.wait_group.sync.aligned":
            wanted = len(self.groups) - int(one.operands[0])
            while (made := workgroup.made[group]) < wanted:
                yield self._until_more_than(made)
                if workgroup.made[group] == made:
                    self._make_oldest()
                yield None
        else:
            raise UnknownPtx(str(one))

    def _warpgroup(self) -> list[_Warp]:
        first = self.index - self.index % WARPGROUP
        return self.workgroup.warps[first : first + WARPGROUP]

    def _until_more_than(self, made: int) -> Ready:
        group, warps = self.index // WARPGROUP, self._warpgroup()
        return lambda: self.workgroup.made[group] > made or all(len(warp.groups) > made for warp in warps)

    def _make_oldest(self) -> None:
        """Make the oldest group of products, if all four warps have committed it."""
        warps, oldest = self._warpgroup(), self.workgroup.made[self.index // WARPGROUP]
        if any(len(warp.groups) <= oldest for warp in warps):
            return
        for warp in warps:
            for product in warp.groups[oldest]:
                warp._make(product)
            warp.groups[oldest] = []
        self.workgroup.made[self.index // WARPGROUP] += 1

    def _make(self, product: _Product) -> None:
        a = self._operand(product.a, LANES // 2 * (self.index % WARPGROUP), LANES // 2, product.element)
        b = self._operand(product.b, 0, product.n, product.element)
        with np.errstate(all="ignore"):  # what is not brought of a tile is poison
            made = (a @ b.T).astype(np.float32)  # the warp's 16 rows
            # Pairs of columns, of two rows eight apart, of each 8 columns.
            number, lane = np.arange(len(product.sums)), self.lanes.astype(np.int64)[:, None]
            rows = lane // 4 + 8 * (number // 2 % 2)
            columns = 2 * (lane % 4) + number % 2 + 8 * (number // 4)
            for values, register in zip(made[rows, columns].T, product.sums, strict=True):
                before = seen_as(self._bits(register), "f32") if product.accumulate else np.float32(0)
                self.registers[register] = bits_of(values + before, "f32")

    def _operand(self, descriptor: int, first: int, count: int, element: str) -> Array:
        """32 bytes of K of some rows, as f32: swizzled rows of 128 bytes, in groups of 8."""
        start, apart = (descriptor & 0x3FFF) << 4, ((descriptor >> 32) & 0x3FFF) << 4
        if descriptor >> 62 != 1:
            raise UnknownPtx(f"a descriptor with another swizzle: {descriptor:#x}")
        row = first + np.arange(count)[:, None]
        places = start + row // 8 * apart + row % 8 * 128 + np.arange(32)
        self.workgroup.expect("a product", places, 1, 1)
        raw = np.ascontiguousarray(self.workgroup.memory[_swizzled(places, 128)])
        if element == "e4m3":
            return E4M3[raw]
        if element == "f16":
            return raw.view(np.float16).astype(np.float32)
        return (raw.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)

    # Products of a warp.

    def _copy_matrices(self, one: Instruction) -> Steps:
        form = re.fullmatch(r"(ld|st)matrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?\.shared\.b16", one.operation)
        if form is None:
            raise UnknownPtx(str(one))
        loads, matrices, transposed = form[1] == "ld", int(form[2]), form[3] is not None
        address, listed = one.operands[::-1] if loads else one.operands
        registers = re.findall(r"%r\d+", listed)
        if len(registers) != matrices:
            raise UnknownPtx(str(one))
        named = [row_named_by(lane, matrices) for lane in range(LANES)]
        rows = self._addresses(address)[[at is not None for at in named]].reshape(matrices, 8)
        self.workgroup.expect("a row of a matrix", rows, 16, 16)
        where = rows[..., None] + np.arange(16)
        elements = self.workgroup.memory[where].view(np.uint16)  # (matrices, 8, 8)
        pairs = [pair_held_by(lane, transposed=transposed) for lane in range(LANES)]
        (low_rows, low_columns), (high_rows, high_columns) = np.array(pairs).transpose(1, 2, 0)
        for matrix, register in zip(elements, registers, strict=True):
            if loads:
                low, high = matrix[low_rows, low_columns], matrix[high_rows, high_columns]
                self.registers[register] = high.astype(np.uint32) << np.uint32(16) | low
            else:
                held = seen_as(self._bits(register), "b32")
                matrix[low_rows, low_columns], matrix[high_rows, high_columns] = held & 0xFFFF, held >> 16
        if not loads:
            self.workgroup.memory[where] = elements.view(np.uint8)
        return iter(())

    def _multiply_fragments(self, one: Instruction) -> Steps:
        form = re.fullmatch(r"mma\.sync\.aligned\.(m\d+n\d+k\d+)\.row\.col\.(\w+)\.(\w+)\.(\w+)\.\2", one.operation)
        if form is None:
            raise UnknownPtx(str(one))
        shape, acc, of_a, of_b = form.groups()
        to, *operands = (re.findall(r"[^{},\s]+", listed) for listed in one.operands)
        kinds = dict(zip("ABC", (of_a, of_b, acc), strict=True))
        m, n, k = map(int, re.findall(r"\d+", shape))
        matrices = {name: np.zeros(extents) for name, extents in (("A", (m, k)), ("B", (k, n)), ("C", (m, n)))}
        at: dict[str, tuple[Array, Array]] = {}
        for (name, kind), registers in zip(kinds.items(), operands, strict=True):
            at[name] = _elements_of(shape, _FRAGMENT_BITS[of_a], name)
            matrices[name][at[name]] = self._held_elements(registers, kind)
        sums = matrices["A"] @ matrices["B"] + matrices["C"]
        made = sums[at["C"]]  # (lanes, elements)
        if acc == "f16":
            words = made.astype(np.float16).view(np.uint32)
        elif acc == "f64":
            words = made.view(np.uint64)
        else:
            words = made.astype(np.int64).astype(np.int32).view(np.uint32) if acc == "s32" else bits_of(made, "f32")
        for register, word in zip(to, words.T, strict=True):
            self.registers[register] = np.ascontiguousarray(word)
        return iter(())

    def _held_elements(self, registers: list[str], kind: str) -> Array:
        """The numbers in registers, (lanes, elements)."""
        word = np.uint64 if kind == "f64" else np.uint32
        bits = np.stack([self._bits(register).astype(word) for register in registers], axis=1)
        if kind == "e4m3":
            return E4M3[bits.view(np.uint8)]
        if kind == "bf16":
            return (bits.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
        if kind == "e5m2":  # the upper halves of f16
            return (bits.view(np.uint8).astype(np.uint16) << np.uint16(8)).view(np.float16)
        if kind == "tf32":  # 19 of the 32 bits
            return (bits & np.uint32(0xFFFFE000)).view(np.float32)
        types = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s8": np.int8, "s32": np.int32}
        if kind not in types:
            raise UnknownPtx(kind)
        return bits.view(types[kind])
