#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Import time, cold compile time per kernel and stage, and first calls from a warm disk cache, beside the peer's.

    python tools/bench/compile_time.py --peer build/bench-peer    # beside the peer, whose environment is made once
    python tools/bench/compile_time.py                            # ours alone, by stage
    python tools/bench/compile_time.py --before FOLDER            # beside another version (pip install --target)
    python tools/bench/compile_time.py --passes --peer build/bench-peer    # pass by pass, on the same IR

The kernels (`shared_kernels.py`) are the same source under both compilers. Every figure is of a process of its own that
has imported the compiler and torch and compiles one kernel, with an empty cache, for gfx942; nothing is launched. The
compilers take turns. Figures are processor time, that of started
linkers included, medians over the rounds, with the distance between the quartiles.
Processes of a first, uncounted round leave byte code behind. After each cold process another one does the same with
the disk cache that the first left: what a first call costs where the kernel is cached. The key of that cache is what
was traced, so such a call traces, with the rewritten functions that the cache keeps; the tables have the trace of
either process. With `--before` one says what tracing and such calls cost in both versions.
Targets: tracing twice as fast as before, and a first call from a warm cache no dearer than before and a trace.

With `--passes` nothing is traced by the peer: both run the passes of our pipeline, to the LLVM dialect, on the IR that
ours traces, of these kernels and of the library's (`pass_times.py`). The targets are the same, without the import.

Targets: no kernel slower than the peer, 1.5 x faster in the median over the kernels, and the import no slower. The exit
status is 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ARCH = "gfx942"
FASTER_IN_THE_MEDIAN = 1.5
_HERE = Path(__file__).resolve().parent


# -- in the measured process -----------------------------------------------------------------------------------------
def processor_time() -> float:
    """Return the seconds that this process and those that it started (a linker) have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure_import() -> dict[str, Any]:
    """Import the compiler and the language, and say how long that took and what came along."""
    wall, processor = time.perf_counter(), processor_time()
    import flydsl.compiler
    import flydsl.expr  # noqa: F401

    return {
        "seconds": processor_time() - processor,
        "wall": time.perf_counter() - wall,
        "brings": [name for name in ("torch", "numpy") if name in sys.modules],
    }


def measure_kernel(name: str) -> dict[str, Any]:
    """Compile one kernel, and say how long that took; with the stages where the compiler tells them."""
    import shared_kernels

    import flydsl.compiler as flyc

    launch, arguments = shared_kernels.KERNELS[name]()
    if "processor_seconds" not in getattr(getattr(flyc, "CompilationReport", None), "__dataclass_fields__", {}):
        time.perf_counter = time.process_time  # older versions time their stages by the clock
    wall, processor = time.perf_counter(), processor_time()
    getattr(flyc.compile, "only", flyc.compile)(launch, *arguments)  # older versions have no other
    found: dict[str, Any] = {"seconds": processor_time() - processor, "wall": time.perf_counter() - wall}
    reports = getattr(flyc, "compilation_reports", None)
    if reports is not None:
        report = reports()[-1]
        found["stages"] = dict(getattr(report, "processor_seconds", report.seconds))  # older versions: by the clock
    return found


# -- in the measuring one --------------------------------------------------------------------------------------------
def main() -> int:
    """Measure, print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, help="folder of the peer's environment; it is made if it is not there")
    parser.add_argument(
        "--before", type=Path, help="folder with the packages of another version, put first on the path"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", nargs="*", help="only these")
    parser.add_argument("--json", type=Path, help="write the results there too")
    parser.add_argument("--passes", action="store_true", help="compare the passes on the same IR instead")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        result = measure_import() if arguments.measure == "import" else measure_kernel(arguments.measure)
        print(json.dumps(result))
        return 0

    if arguments.passes:
        from pass_times import compare

        of_passes = compare(arguments.peer, arguments.rounds, arguments.kernels, arguments.json)
        return _verdict(of_passes, list(of_passes)) if of_passes else 0

    from peer_environment import make_peer, make_rocm, peer_variables, run_json

    names = arguments.kernels or _kernel_names()
    with tempfile.TemporaryDirectory() as scratch:
        common = {
            "ARCH": ARCH,
            "FLYDSL_GPU_ARCH": ARCH,
            "COMPILE_ONLY": "1",
            "PYTHONPYCACHEPREFIX": f"{scratch}/bytecode",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        runs: dict[str, Any] = {"ours": (sys.executable, {**os.environ, **common})}
        if arguments.before:
            runs["before"] = (sys.executable, {**os.environ, **common, "PYTHONPATH": str(arguments.before.resolve())})
        if arguments.peer:
            variables = {**peer_variables(make_rocm(Path(scratch) / "rocm")), **common}
            runs["peer"] = (make_peer(arguments.peer), variables)
        found: dict[str, dict[str, list[Any]]] = {
            one: {name: [] for name in ("import", *names, *map(_warm, names))} for one in runs
        }
        for number in range(arguments.rounds + 1):
            for what in ("import", *names):
                for one, (python, variables) in runs.items():
                    cache = {"FLYDSL_RUNTIME_CACHE_DIR": f"{scratch}/{one}-{what}-{number}"}
                    result = run_json(python, Path(__file__), ["--measure", what], {**variables, **cache})
                    if number > 0:
                        found[one][what].append(result)
                    if what != "import":
                        result = run_json(python, Path(__file__), ["--measure", what], {**variables, **cache})
                        if number > 0:
                            found[one][_warm(what)].append(result)
    return report(found, names, arguments.json)


def _warm(name: str) -> str:
    return f"{name}, cached"


def _kernel_names() -> list[str]:
    """Return the kernels' names without importing what they need."""
    text = (_HERE / "shared_kernels.py").read_text(encoding="utf-8")
    listed = text[text.rindex("for one in (") + len("for one in (") :].partition(")")[0]
    return [one.strip() for one in listed.split(",")]


def report(found: dict[str, dict[str, list[Any]]], names: list[str], path: Path | None) -> int:
    """Print medians, ratios and stages, and say whether the targets are met."""
    results = {
        one: {
            what: {
                "median_ms": statistics.median(row["seconds"] for row in rows) * 1e3,
                "spread_ms": _spread([row["seconds"] for row in rows]) * 1e3,
                "stages_ms": _stages(rows),
            }
            for what, rows in figures.items()
        }
        for one, figures in found.items()
    }
    print(f"{'processor time (ms)':<22}" + "".join(f"{one:>20}" for one in results) + f"{'peer / ours':>14}")
    ratios = {}
    for what in ("import", *names, *map(_warm, names)):
        cells = [f"{one[what]['median_ms']:.1f} +- {one[what]['spread_ms']:.1f}" for one in results.values()]
        if "peer" in results and not what.endswith(_warm("")):
            ratios[what] = results["peer"][what]["median_ms"] / results["ours"][what]["median_ms"]
        ratio = f"{ratios[what]:.2f}" if what in ratios else ""
        print(f"{what:<22}" + "".join(f"{cell:>20}" for cell in cells) + f"{ratio:>14}")
    _print_stages(results["ours"], names)
    _print_stages(results["ours"], [_warm(name) for name in names])
    if "before" in results:
        _print_before(results["ours"], results["before"], names)
    print(f"the import of ours brings: {', '.join(found['ours']['import'][0]['brings']) or 'neither torch nor numpy'}")
    if path:
        path.write_text(json.dumps({"results": results, "ratios": ratios}, indent=1) + "\n")
    return _verdict(ratios, names) if ratios else 0


def _print_stages(ours: dict[str, Any], names: list[str]) -> None:
    stages = list(dict.fromkeys(stage for name in names for stage in ours[name]["stages_ms"]))
    if not stages:
        return
    print("\nstages of ours (processor time, ms)")
    width = max(len(stage) for stage in stages) + 2
    print(" " * width + "".join(f"{name[-18:]:>20}" for name in names))
    for stage in stages:
        print(f"{stage:<{width}}" + "".join(f"{ours[name]['stages_ms'].get(stage, 0.0):>20.2f}" for name in names))


def _print_before(ours: dict[str, Any], before: dict[str, Any], names: list[str]) -> None:
    """Print what tracing costs, and a first call whose artifact is on disk, beside the version before."""
    heads = ("trace before", "trace, empty", "trace, cached", "ratio", "cached before", "cached", "before + trace")
    print("\n" + " " * 22 + "".join(f"{one:>15}" for one in heads))
    ratios = []
    for name in names:
        once = before[name]["stages_ms"].get("trace", 0.0)  # it did not trace what is cached
        traces = [ours[one]["stages_ms"].get("trace", 0.0) for one in (name, _warm(name))]
        first = [one[_warm(name)]["median_ms"] for one in (before, ours)]
        ratios.append(once / traces[1])
        cells = (once, *traces, ratios[-1], *first, first[0] + traces[1])
        print(f"{name:<22}" + "".join(f"{cell:>15.2f}" for cell in cells))
    print(f"tracing what is cached: {statistics.median(ratios):.2f} x faster than before, in the median (target 2)")


def _verdict(ratios: dict[str, float], names: list[str]) -> int:
    median = statistics.median(ratios[name] for name in names)
    slower = [what for what, ratio in ratios.items() if ratio < 1]
    print(f"median over the kernels: {median:.2f} x faster (target {FASTER_IN_THE_MEDIAN})")
    if slower:
        print(f"slower than the peer: {', '.join(slower)}")
    return 1 if slower or median < FASTER_IN_THE_MEDIAN else 0


def _stages(rows: list[Any]) -> dict[str, float]:
    names = list(dict.fromkeys(stage for row in rows for stage in row.get("stages", {})))
    return {stage: statistics.median(row["stages"].get(stage, 0.0) for row in rows) * 1e3 for stage in names}


def _spread(values: list[float]) -> float:
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return high - low


if __name__ == "__main__":
    sys.exit(main())
