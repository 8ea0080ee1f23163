#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call costs that is compiled already: three tensors and two integers, device time excluded.

    python tools/bench/launch_overhead.py --peer build/bench-peer    # beside the peer, whose environment is made once
    python tools/bench/launch_overhead.py                            # without it
    python tools/bench/launch_overhead.py --before FOLDER            # beside another version (pip install --target)

Both compilers run the same source on a HIP library that does nothing (`null_hip.c`), so that what is measured is the
way from Python to the launch: binding, specialisation, checks, packing. The compilers take turns; a round's figure is
the least processor time per call of several runs of many calls, a result the median over the rounds, its spread the
distance between the quartiles. Tensors are torch's.

Targets: 5 us through the `@flyc.jit` object, 1 us through what `flyc.compile` returns. The exit status is 1 when one
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

TARGETS = {"jit": 5.0, "compiled": 1.0}
CALLS, REPEATS = 10_000, 15
_ARCH = "gfx942"


# -- in the measured process -----------------------------------------------------------------------------------------
def measure(library: str) -> dict[str, float]:
    """Return microseconds per call, by way of calling. Runs under either compiler."""
    import ctypes

    import torch

    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.kernel
    def add_kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
        i = fx.block_idx.x * 256 + fx.thread_idx.x
        if i < n:
            c[i] = a[i] + b[i]

    @flyc.jit
    def add(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32, blocks: fx.Int32):
        add_kernel(a, b, c, n).launch(grid=(blocks, 1, 1), block=(256, 1, 1))

    a, b, c = (torch.zeros(256) for _ in range(3))
    add(a, b, c, 256, 1)
    compiled = getattr(flyc.compile, "only", flyc.compile)(add, a, b, c, 256, 1)  # older versions have no other
    counter = ctypes.CDLL(library).null_hip_launches
    counter.restype = ctypes.c_long
    found = {}
    for name, call in {"jit": lambda: add(a, b, c, 256, 1), "compiled": lambda: compiled(a, b, c, 256, 1)}.items():
        before = counter()
        found[name] = min(timeit.repeat(call, time.process_time, number=CALLS, repeat=REPEATS)) / CALLS * 1e6
        if counter() - before != CALLS * REPEATS:
            raise SystemExit(f"{counter() - before} launches for {CALLS * REPEATS} calls")
    return found


# -- in the measuring one --------------------------------------------------------------------------------------------
def null_library(folder: Path) -> Path:
    """Build the HIP library that does nothing."""
    library = folder / "libamdhip64.so.7"
    versions = folder / "versions.map"
    versions.write_text("hip_4.2 { global: *; };\n")
    source = Path(__file__).with_name("null_hip.c")
    link = [f"-Wl,--version-script={versions}", "-Wl,-soname,libamdhip64.so.7"]
    subprocess.run(
        [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", str(library), str(source), *link], check=True
    )
    return library


def main() -> int:
    """Measure, print a table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, help="folder of the peer's environment; it is made if it is not there")
    parser.add_argument(
        "--before", type=Path, help="folder with the packages of another version, put first on the path"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the results there too")
    parser.add_argument("--measure", metavar="LIBRARY", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return 0

    from peer_environment import make_peer, make_rocm, peer_variables, run_json

    with tempfile.TemporaryDirectory() as scratch:
        library = null_library(Path(scratch))
        common = {"ARCH": _ARCH, "FLYDSL_GPU_ARCH": _ARCH}
        runs: dict[str, Any] = {
            "ours": (sys.executable, {**os.environ, **common, "FLYDSL_HIP_LIBRARY": str(library)}),
        }
        if arguments.before:
            path = {"PYTHONPATH": str(arguments.before.resolve())}
            runs["before"] = (runs["ours"][0], {**runs["ours"][1], **path})
        if arguments.peer:
            variables = {**peer_variables(make_rocm(Path(scratch) / "rocm")), **common, "LD_LIBRARY_PATH": scratch}
            runs["peer"] = (make_peer(arguments.peer), variables)
        found: dict[str, dict[str, list[float]]] = {one: {name: [] for name in TARGETS} for one in runs}
        for number in range(arguments.rounds):
            for one, (python, variables) in runs.items():
                variables = {**variables, "FLYDSL_RUNTIME_CACHE_DIR": f"{scratch}/cache-{one}-{number}"}
                for name, value in run_json(python, Path(__file__), ["--measure", str(library)], variables).items():
                    found[one][name].append(value)
    return report(found, arguments.json)


def report(found: dict[str, dict[str, list[float]]], path: Path | None) -> int:
    """Print medians and spreads, and say whether the targets are met."""
    results = {
        one: {
            name: {"median_us": statistics.median(values), "spread_us": _spread(values)}
            for name, values in figures.items()
        }
        for one, figures in found.items()
    }
    print(f"{'call':<10}{'target':>10}" + "".join(f"{one + ' (us)':>22}" for one in results))
    for name, target in TARGETS.items():
        cells = [f"{one[name]['median_us']:.2f} +- {one[name]['spread_us']:.2f}" for one in results.values()]
        print(f"{name:<10}{target:>10.1f}" + "".join(f"{cell:>22}" for cell in cells))
    missed = [name for name, target in TARGETS.items() if results["ours"][name]["median_us"] > target]
    if missed:
        print(f"missed: {', '.join(missed)}")
    if path:
        path.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if missed else 0


def _spread(values: list[float]) -> float:
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return high - low


if __name__ == "__main__":
    sys.exit(main())
