# SPDX-License-Identifier: Apache-2.0
"""The passes of two compilers, on the same IR: `compile_time.py --passes`.

Both take the IR that ours traces (`pass_kernels.py`), and run the passes of our pipeline from there to the LLVM
dialect, each compiler in processes of its own (`pass_worker.py`), by turns. Figures are processor time of the runs of
the passes, medians; passes that a compiler lacks take no time there. IR that the peer's parser refuses is given to
it once more in the spelling of newer MLIR (`newer_rocdl.py`), and the refusal is listed with the figures. A kernel that
a compiler refuses for good is listed with the reason and does not count.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from newer_rocdl import respelled
from pass_kernels import ARCH, PASSES
from peer_environment import make_peer, make_rocm, peer_variables, run_json

_HERE = Path(__file__).resolve().parent
_LAST_OF_FLY = "convert-fly-to-rocdl"
_PARSER = "parser and verifier"  # as pass_worker.py calls that step
_TIMEOUT = 600
Sides = dict[str, tuple[str | Path, dict[str, str]]]


def compare(peer: Path | None, rounds: int, only: list[str] | None, path: Path | None) -> dict[str, float]:
    """Measure and print.

    Returns:
        Peer's time over ours by kernel, to the LLVM dialect, of the kernels that both compile.

    Raises:
        SystemExit: ours does not compile a kernel, or the peer none.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ours = {**os.environ, "ARCH": ARCH, "FLYDSL_GPU_ARCH": ARCH, "FLYDSL_RUNTIME_CACHE_DIR": f"{scratch}/cache"}
        sides: Sides = {"ours": (sys.executable, ours)}
        if peer is not None:
            sides["peer"] = (make_peer(peer.absolute()), peer_variables(make_rocm(folder / "rocm")))
        names = run_json(sys.executable, _HERE / "pass_kernels.py", [scratch, *(only or [])], ours)
        passes = [one["name"] for one in json.loads((folder / PASSES).read_text(encoding="utf-8"))]
        runs: dict[str, dict[str, list[Any]]] = {name: {side: [] for side in sides} for name in names}
        for _ in range(rounds):
            for name in names:
                for side, (python, variables) in sides.items():
                    runs[name][side] += _measure(python, variables, folder, name)
    results = {name: {side: _summary(found) for side, found in one.items()} for name, one in runs.items()}
    ratios = {name: ratio for name in names if (ratio := _print_kernel(name, results[name], passes)) is not None}
    _print_totals(results, passes)
    if path is not None:
        path.write_text(json.dumps({"passes": results, "ratios": ratios}, indent=1) + "\n", encoding="utf-8")
    broken = [name for name in names if results[name]["ours"]["failed"]]
    if broken:
        raise SystemExit(f"ours fails on {', '.join(broken)}")
    if peer is not None and not ratios:
        raise SystemExit("there is no kernel that the peer compiles too")
    return ratios


def _measure(python: str | Path, variables: dict[str, str], folder: Path, name: str) -> list[dict[str, Any]]:
    """Run the worker; on the text for newer MLIR too, where the parser refuses that of ours."""
    text = (folder / f"{name}.mlir").read_text(encoding="utf-8")
    found = _run_worker(python, variables, folder / f"{name}.mlir", folder / PASSES)
    newer = respelled(text)
    if found[0]["failed"] and found[0]["failed"][0] == _PARSER and newer != text:
        path = folder / f"{name}.newer.mlir"
        path.write_text(newer, encoding="utf-8")
        again = _run_worker(python, variables, path, folder / PASSES)
        return [{**one, "respelled": found[0]["failed"][1]} for one in again]
    return found


def _run_worker(python: str | Path, variables: dict[str, str], kernel: Path, passes: Path) -> list[dict[str, Any]]:
    """Return the worker's runs; a crash is a reason like another."""
    command = [str(python), str(_HERE / "pass_worker.py"), str(kernel), str(passes)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1 if done.returncode > 0 else 0]
        return [{"seconds": {}, "missing": [], "failed": [f"process ended with {done.returncode}", said]}]
    found: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    failed = next((run["failed"] for run in runs if run["failed"]), None)
    names = dict.fromkeys(name for run in runs for name in run["seconds"])
    times = {name: [run["seconds"][name] for run in runs if name in run["seconds"]] for name in names}
    return {
        "ms": {name: statistics.median(found) * 1e3 for name, found in times.items()},
        "missing": runs[0]["missing"],
        "failed": failed,
        "respelled": runs[0].get("respelled"),
    }


def _total(side: dict[str, Any], passes: list[str], last: str) -> float | None:
    """Milliseconds to the end of a pass; None where the side did not come that far."""
    wanted = passes[: passes.index(last) + 1]
    if any(name not in side["ms"] and name not in side["missing"] for name in wanted) or not side["ms"]:
        return None
    return float(sum(side["ms"].get(name, 0.0) for name in wanted))


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _row(label: str, values: list[float | None], lacking: list[bool]) -> str:
    cells = "".join(f"{'lacks it' if lacks else _cell(one):>12}" for one, lacks in zip(values, lacking, strict=True))
    ratio = _ratio(values)
    return f"  {label:<44}{cells}" + (f"{ratio:>13.2f}" if ratio is not None else "")


def _ratio(values: list[float | None]) -> float | None:
    if len(values) < 2 or values[0] is None or values[1] is None or not values[0]:
        return None
    return values[1] / values[0]


def _print_kernel(name: str, sides: dict[str, Any], passes: list[str]) -> float | None:
    """Print the table of a kernel; return the ratio if both sides reached the end without an error."""
    found = list(sides.values())
    heading = "".join(f"{side:>12}" for side in sides) + (f"{'peer / ours':>13}" if len(found) > 1 else "")
    print(f"\n{name + ' (ms)':<46}{heading}")
    for one in passes:
        print(_row(one, [side["ms"].get(one) for side in found], [one in side["missing"] for side in found]))
    no = [False] * len(found)
    whole = [_total(side, passes, passes[-1]) for side in found]
    print(_row(f"total to {_LAST_OF_FLY}", [_total(side, passes, _LAST_OF_FLY) for side in found], no))
    print(_row("total to the LLVM dialect", whole, no))
    for label, side in sides.items():
        if side["respelled"]:
            print(f"  {label} refuses the text, and took it respelled for newer MLIR: {side['respelled']}")
        if side["failed"]:
            print(f"  {label} refuses it: {side['failed'][0]}: {side['failed'][1]}")
    return None if any(side["failed"] for side in found) else _ratio(whole)


def _print_totals(results: dict[str, Any], passes: list[str]) -> None:
    """Print a line a kernel: both totals."""
    for title, last in ((f"to {_LAST_OF_FLY}", _LAST_OF_FLY), ("to the LLVM dialect", passes[-1])):
        print(f"\n{title} (ms)")
        ratios = []
        for name, sides in results.items():
            values = [_total(side, passes, last) for side in sides.values()]
            refused = [f"{label}: {one['failed'][0]}: {one['failed'][1]}" for label, one in sides.items()
                       if one["failed"] and _total(one, passes, last) is None]  # fmt: skip
            refused += [f"{label}: respelled" for label, one in sides.items() if one["respelled"]]
            print(_row(name, values, [False] * len(values)) + "".join(f"  ({one})" for one in refused))
            ratio = _ratio(values)
            ratios += [] if ratio is None else [ratio]
        if ratios:
            print(f"  {'median of ' + str(len(ratios)):<44}{'':>24}{statistics.median(ratios):>13.2f}")
