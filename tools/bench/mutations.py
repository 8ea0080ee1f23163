#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many dropped waits and barriers the sanitizers report: saved launches, one instruction left out at a time.

    FLYDSL_EMU_SAVE=saved python my_program.py                  # any program that launches kernels on the emulator
    python tools/bench/mutations.py saved/*.flylaunch           # a table; the exit status is 1 below 95 %
    python tools/bench/mutations.py --seeds 0-6 --list saved/*  # more orders of waves, and what was silent

Every s_waitcnt (whole, and with one counter left), s_barrier, write-back and invalidation of the kernel is replaced by
s_nop, and the launch is run again under each order of waves. Dropped ones that the launch does not reach are left out.
A drop is needed if it is reported in some order, or changes a result in one (of a launch whose results are the same in
all orders: floating-point atomics are not); it counts as reported if it is in every order. What is neither is silent:
a wait for what has been waited for, a barrier that nobody needs, or a hole in the sanitizers. `--list` names them, for
a person to judge: the emulator executes an access at once, so that a missing wait changes no result.

Needs fly-emulator alone, so that it also takes launches of other compilers' kernels.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

from flydsl.emulator import Report, SavedLaunch, sanitize
from flydsl.emulator.device import Emulator
from flydsl.emulator.mutation import Drop, drops

TARGET = 0.95


@dataclass
class Counts:
    """Of one launch, or of all."""

    reached: int = 0
    reported: int = 0
    needed: int = 0
    silent: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Add up."""
        self.reached += other.reached
        self.reported += other.reported
        self.needed += other.needed
        self.silent += other.silent

    @property
    def share(self) -> float:
        """Of the needed ones, those that every order reports."""
        return self.reported / self.needed if self.needed else 1.0

    def row(self, name: str) -> str:
        """A line of the table."""
        return f"{name:<58} {self.reached:>8} {self.needed:>8} {self.reported:>9} {100 * self.share:>6.1f} %"


def replay(launch: SavedLaunch, seed: int, sanitizers: str) -> tuple[dict[str, bytes] | None, list[Report]]:
    """The memory after a launch (None where it failed), and what was found."""
    out = None
    with sanitize(sanitizers, raises=False) as found, contextlib.suppress(RuntimeError):
        out = launch.replay(seed=seed)
    return out, found.reports


def is_reached(launch: SavedLaunch, drop: Drop) -> bool:
    """Whether the launch comes to the instruction: it fails with a trap in its place."""
    return replay(launch.with_code(drop.halt(launch.code)), 0, "none")[0] is None


def measure(launch: SavedLaunch, seeds: range) -> Counts:
    """Leave each instruction out in turn."""
    right, reports = replay(launch, seeds[0], "all")
    if reports or right is None:
        raise SystemExit(f"{launch.kernel} has findings as it is:\n" + "\n".join(str(one) for one in reports[:3]))
    steady = all(replay(launch, seed, "none")[0] == right for seed in seeds[1:])
    counts = Counts()
    for drop in drops(launch.code, launch.arch, launch.kernel):
        if not is_reached(launch, drop):
            continue
        counts.reached += 1
        runs = [replay(launch.with_code(drop.apply(launch.code)), seed, "all") for seed in seeds]
        told = [bool(found) or out is None for out, found in runs]
        changed = steady and any(out != right for out, _ in runs)
        counts.needed += any(told) or changed
        counts.reported += all(told)
        if not all(told):
            missed = ", ".join(str(seed) for seed, one in zip(seeds, told, strict=True) if not one)
            what = "CHANGES A RESULT" if changed else "reported in other orders" if any(told) else "changes no result"
            counts.silent.append(f"{launch.arch} {launch.kernel}: {drop}: silent in order {missed}; {what}")
    return counts


def parse_seeds(text: str) -> range:
    """ "0-6" or "3"."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("launches", nargs="+", type=Path, help="files of FLYDSL_EMU_SAVE or save_launches")
    parser.add_argument("--seeds", type=parse_seeds, default=range(3), help="orders of waves, as 0-2 (the default)")
    parser.add_argument("--list", action="store_true", help="name what was silent")
    arguments = parser.parse_args()
    Emulator().set_code_check(False)  # it would refuse what this tool breaks
    total = Counts()
    print(f"{'launch':<58} {'reached':>8} {'needed':>8} {'reported':>9} {'share':>8}")
    for path in arguments.launches:
        launch = SavedLaunch.load(path)
        counts = measure(launch, arguments.seeds)
        print(counts.row(f"{launch.arch} {launch.kernel}"), flush=True)
        total.add(counts)
    print(total.row("all"))
    if arguments.list:
        print("\n".join(total.silent))
    return 0 if total.share >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
