#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What importing each layer costs: milliseconds of a fresh process, beside one that imports nothing.

    tools/dev bench imports [--repeat N]

Each figure is the median over N processes of the time that the import takes inside of them, with the distance between
its quartiles; the modules are imported in turn, so that a busy machine meets all of them alike. The files are in the
page cache after a first round that does not count.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

MODULES = (
    "json", "numpy", "flydsl.layout", "flydsl.runtime", "flydsl.emulator", "flydsl._mlir.ir", "flydsl.compiler",
    "flydsl.expr", "flydsl.autotune", "flydsl.kernels",
)  # fmt: skip
_CODE = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def milliseconds(module: str) -> float:
    """The time of one import, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _CODE.format(module)], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1e3


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=11, help="processes for each module (11)")
    repeat = parser.parse_args().repeat
    if repeat < 2:
        parser.error("--repeat: at least 2, for a spread")
    figures: dict[str, list[float]] = {module: [] for module in MODULES}
    for number in range(repeat + 1):
        for module in MODULES:
            figure = milliseconds(module)
            if number:
                figures[module].append(figure)
    print(f"{'import':<20} {'ms':>8} {'spread':>8}")
    for module, found in figures.items():
        low, middle, high = statistics.quantiles(found, n=4)
        print(f"{module:<20} {middle:>8.1f} {high - low:>8.1f}")


if __name__ == "__main__":
    main()
