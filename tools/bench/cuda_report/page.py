# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks/hopper.md, its figures as JSON and its plots, from the results of a run."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

PEERS = {"copy": "copy", "torch": "torch", "inductor": "inductor", "triton": "Triton", "quack": "QuACK"}
"""Contenders in the results, and their names. QuACK is there where it was installed."""

_HEAD = """\
# Hopper: time on hardware

Measured on one {gpu} ({multiprocessors} multiprocessors, driver {driver}) with torch {torch}, Triton {triton} and
Python {python}, by `tools/bench/cuda.py`. Times are those of CUDA graphs of launches over rotating buffers (256 MiB or
more in all), by events, the contenders taking turns in one run, in a drawn order: medians of {rounds} rounds, with the
least and most.
TB/s counts what is read and written once. Triton is one program a row with the best of 4, 8 and 16 warps at each point;
inductor compiled torch's function for each point, into a result that is there, as ours has one. torch makes its result
anew, which the graph puts into the same memory each time. `copy` is torch's, of the same size; of 512 MiB and more it
is a slower one than below, so that kernels beat it there.
{quack}Rows are of {types}. Results of ours were compared with float64 in the same run.

## Rows: ours against each peer

Above 1 ours is faster. Geometric means over operations, types and columns, and the lowest point.

| MiB moved | points | {names} | lowest against the fastest kernel | and against copy too |
|---|---|{dashes}---|---|"""

_QUACK = """\
QuACK is {version} with CuTe DSL {dsl}, as it configures its kernels itself.
"""

_POINTS = """
## All points

| operation | rows x columns | MiB | ours: µs (least, most) | TB/s | {names} | error / allowed |
|---|---|---|---|---|{dashes}---|"""

_LAUNCH = """
## A launch from Python

Microseconds per call, four rows of 1024, three tensors; median (least, most) of 9 rounds of 2000 calls in turns.

| call | µs |{more}
|---|---|{dashes}"""


_FIRST = """
## The first call of an operator, nothing cached

Milliseconds, by `tools/bench/cuda_first.py`: from the call to the end of its kernel, in a new process that has imported
torch and has a context, with an empty cache of ours and the driver's off; of 5 processes the middle one, with the least
and the most. *After another*: in a process in which another operator was called before. Of the first, the time of
importing the compiler, of tracing, and of our compiler, tracing included; the driver's compiler runs beside the import
of tvm-ffi. *Host* is the time of a loop of Python of a million turns in that process: hosts differ by 2.

| operator | first call (least, most) | after another | of it imports | tracing | our compiler | second call | host |
|---|---|---|---|---|---|---|---|"""


def _ratio(point: dict[str, Any], peers: list[str]) -> float:
    """Ours against the fastest of some peers: above 1 ours is faster."""
    return float(min(point["us"][peer][0] for peer in peers if peer in point["us"]) / point["us"]["ours"][0])


def _size_row(points: list[dict[str, Any]], mib: int, peers: list[str]) -> str:
    chosen = [point for point in points if point["mib"] == mib]
    means = [
        statistics.geometric_mean(_ratio(point, [peer]) for point in chosen if peer in point["us"]) for peer in peers
    ]

    def lowest(of: list[str]) -> str:
        worst = min(chosen, key=lambda point: _ratio(point, of))
        return f"{_ratio(worst, of):.2f} ({worst['case']})"

    shown = " | ".join(f"{mean:.2f}" for mean in means)
    kernels = [peer for peer in peers if peer != "copy"]
    return f"| {mib} | {len(chosen)} | {shown} | {lowest(kernels)} | {lowest(peers)} |"


def _point_row(point: dict[str, Any], peers: list[str]) -> str:
    us, size = point["us"], point["bytes"] / 1e6
    rate = {name: f"{size / one[0]:.2f}" for name, one in us.items()}
    rate["triton"] += f" ({point['triton_warps']})"
    middle, least, most = us["ours"]
    beside = " | ".join(rate.get(peer, "") for peer in peers)
    return (
        f"| {point['operation']} {point['dtype']} | {point['rows']} x {point['columns']} | {point['mib']} "
        f"| {middle:.1f} ({least:.1f}, {most:.1f}) | {rate['ours']} | {beside} | {point['worst_error']:.2f} |"
    )


def _plot(points: list[dict[str, Any]], operation: str, peers: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "flydsl"
    import matplotlib.pyplot as plt

    columns = sorted({point["columns"] for point in points})
    figure, axes = plt.subplots(1, len(columns), figsize=(3.4 * len(columns), 3), sharey=True, squeeze=False)
    for axis, count in zip(axes[0], columns, strict=True):
        chosen = [
            point
            for point in points
            if (point["columns"], point["dtype"], point["operation"]) == (count, "bf16", operation)
        ]
        for name in (*peers, "ours"):
            there = [point for point in chosen if name in point["us"]]
            rates = [point["bytes"] / point["us"][name][0] / 1e6 for point in there]
            axis.plot([point["mib"] for point in there], rates, marker="o", label=PEERS.get(name, name))
        axis.set_xscale("log", base=2)
        axis.set_title(f"{operation}, {count} columns, bf16", fontsize=9)
        axis.set_xlabel("MiB moved")
    axes[0][0].set_ylabel("TB/s")
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _launches(report: dict[str, Any], another: dict[str, Any] | None) -> list[str]:
    """What a launch from Python took in this run, and in another one."""
    runs = [report["launch_us"], *([another["launch_us"]] if another else [])]
    lines = [_LAUNCH.format(more=" in another run, on another host |" * bool(another), dashes="---|" * bool(another))]
    for name in runs[0]:
        cells = (f"{one[name][0]:.2f} ({one[name][1]:.2f}, {one[name][2]:.2f})" for one in runs)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _first_calls(first: Path | None) -> list[str]:
    """What the first calls of operators took, with nothing cached."""
    if first is None:
        return []
    lines = [_FIRST]
    for name, times in json.loads(first.read_text()).items():
        whole, least, most = (f"{times[key] * 1e3:.0f}" for key in ("first", "least", "most"))
        parts = ("after another", "imports", "trace", "compiler")
        shown = " | ".join(f"{times[key] * 1e3:.0f}" for key in parts)
        last = f"{times['second'] * 1e3:.2f} | {times['loop'] * 1e3:.0f}"
        lines.append(f"| {name} | {whole} ({least}, {most}) | {shown} | {last} |")
    return lines


def page(results: Path, folder: Path, another: Path | None = None, first: Path | None = None) -> int:
    """Write hopper.md, hopper.json and the plots into a folder from the results of a run.

    Of another run the page has what a launch from Python took, and of `cuda_first.py` what first calls take.
    """
    report = json.loads(results.read_text())
    points = report["points"]
    peers = [peer for peer in PEERS if any(peer in point["us"] for point in points)]
    (folder / "hopper.json").write_text(json.dumps(report, indent=1) + "\n")
    machine, names = report["machine"], [PEERS[peer] for peer in peers]
    versions, dashes = machine.get("peers", {}), "---|" * len(peers)
    quack = _QUACK.format(version=versions["QuACK"], dsl=versions["CuTe DSL"]) if "quack" in peers else ""
    driver = machine["nvidia_smi"].split(", ")[1]
    lines = [
        _HEAD.format(
            rounds=report["rounds"], driver=driver, quack=quack,
            types=" and ".join(dict.fromkeys(point["dtype"] for point in points)), names=" | ".join(names),
            dashes=dashes,
            **{key: machine[key] for key in ("gpu", "multiprocessors", "torch", "triton", "python")},
        )
    ]  # fmt: skip
    lines += [_size_row(points, mib, peers) for mib in sorted({point["mib"] for point in points})]
    for operation in dict.fromkeys(point["operation"] for point in points):
        _plot(points, operation, peers, folder / f"hopper-{operation}.svg")
        lines += ["", f"![{operation}](hopper-{operation}.svg)"]
    headings = " | ".join(f"{name} (warps)" if name == "Triton" else name for name in names)
    lines.append(_POINTS.format(names=headings, dashes=dashes))
    lines += [_point_row(point, peers) for point in points]
    if report["left_out"]:
        lines += ["", f"Not reached in the time of the run: {len(report['left_out'])} points."]
    lines += _launches(report, json.loads(another.read_text()) if another else None)
    lines += [
        "",
        "The first load of an artifact in a new process, milliseconds for its file and for the driver. It is what a",
        "first call takes beside our compiler, whose share is not in it.",
        "",
        "| artifact | driver compiles | driver's cache |",
        "|---|---|---|",
    ]
    for name, found in report["first_call_ms"].items():
        cells = " | ".join(f"{one[0]:.0f}, {one[1]:.1f}" for one in found.values())
        lines.append(f"| {name} | {cells} |")
    lines += _first_calls(first)
    (folder / "hopper.md").write_text("\n".join([*lines, ""]))
    print(f"{len(points)} points: {folder / 'hopper.md'}")
    return 0
