# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks/hopper.md, its figures as JSON and its plots, from the results of a run."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

PEERS = ("copy", "torch", "triton")

_HEAD = """\
# Hopper: time on hardware

Measured on one {gpu} ({multiprocessors} multiprocessors, driver {driver}) with torch {torch}, Triton {triton} and
Python {python}, by `tools/bench/cuda.py`. Times are those of CUDA graphs of launches over rotating buffers (256 MiB or
more in all), by events, the contenders taking turns in one run: medians of {rounds} rounds, with the least and most.
TB/s counts what is read and written once. Triton is one program a row with the best of 4, 8 and 16 warps at each point;
`copy` is torch's, of the same size; of 512 MiB and more it is a slower one than below, so that kernels beat it there.
Results of ours were compared with float64 in the same run.

## Rows: ours against each peer

Above 1 ours is faster. Geometric means over operations, types and columns, and the lowest point.

| MiB moved | points | copy | torch | Triton | lowest against the fastest of the three |
|---|---|---|---|---|---|"""

_POINTS = """
## All points

| operation | rows x columns | MiB | ours: µs (least, most) | TB/s | copy | torch | Triton (warps) | error / allowed |
|---|---|---|---|---|---|---|---|---|"""

_LAUNCH = """
## A launch from Python

Microseconds per call, four rows of 1024, three tensors; median (least, most) of 9 rounds of 2000 calls in turns.

| call | µs |
|---|---|"""


def _ratio(point: dict[str, Any], peers: tuple[str, ...]) -> float:
    """Ours against the fastest of some peers: above 1 ours is faster."""
    return float(min(point["us"][peer][0] for peer in peers) / point["us"]["ours"][0])


def _size_row(points: list[dict[str, Any]], mib: int) -> str:
    chosen = [point for point in points if point["mib"] == mib]
    means = (statistics.geometric_mean(_ratio(point, (peer,)) for point in chosen) for peer in PEERS)
    worst = min(chosen, key=lambda point: _ratio(point, PEERS))
    shown = " | ".join(f"{mean:.2f}" for mean in means)
    return f"| {mib} | {len(chosen)} | {shown} | {_ratio(worst, PEERS):.2f} ({worst['case']}) |"


def _point_row(point: dict[str, Any]) -> str:
    us, size = point["us"], point["bytes"] / 1e6
    rate = {name: f"{size / one[0]:.2f}" for name, one in us.items()}
    middle, least, most = us["ours"]
    return (
        f"| {point['operation']} {point['dtype']} | {point['rows']} x {point['columns']} | {point['mib']} "
        f"| {middle:.1f} ({least:.1f}, {most:.1f}) | {rate['ours']} | {rate['copy']} | {rate['torch']} "
        f"| {rate['triton']} ({point['triton_warps']}) | {point['worst_error']:.2f} |"
    )


def _plot(points: list[dict[str, Any]], operation: str, path: Path) -> None:
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
        for name in (*PEERS, "ours"):
            rates = [point["bytes"] / point["us"][name][0] / 1e6 for point in chosen]
            axis.plot([point["mib"] for point in chosen], rates, marker="o", label=name)
        axis.set_xscale("log", base=2)
        axis.set_title(f"{operation}, {count} columns, bf16", fontsize=9)
        axis.set_xlabel("MiB moved")
    axes[0][0].set_ylabel("TB/s")
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def page(results: Path, folder: Path) -> int:
    """Write hopper.md, hopper.json and the plots into a folder from the results of a run."""
    report = json.loads(results.read_text())
    points = report["points"]
    (folder / "hopper.json").write_text(json.dumps(report, indent=1) + "\n")
    driver = report["machine"]["nvidia_smi"].split(", ")[1]
    lines = [_HEAD.format(rounds=report["rounds"], driver=driver, **report["machine"])]
    lines += [_size_row(points, mib) for mib in sorted({point["mib"] for point in points})]
    for operation in dict.fromkeys(point["operation"] for point in points):
        _plot(points, operation, folder / f"hopper-{operation}.svg")
        lines += ["", f"![{operation}](hopper-{operation}.svg)"]
    lines += [_POINTS, *map(_point_row, points)]
    if report["left_out"]:
        lines += ["", f"Not reached in the time of the run: {len(report['left_out'])} points."]
    lines += [_LAUNCH]
    lines += [f"| {name} | {one[0]:.2f} ({one[1]:.2f}, {one[2]:.2f}) |" for name, one in report["launch_us"].items()]
    first = "; ".join(f"{name}: {one[0]:.1f}, {one[1]:.1f}" for name, one in report["first_call_ms"].items())
    lines += [
        "",
        "The first call of a row kernel in a new process, milliseconds for the artifact's file and for its load",
    ]
    lines += [f"on the device: {first}.", ""]
    (folder / "hopper.md").write_text("\n".join(lines))
    print(f"{len(points)} points: {folder / 'hopper.md'}")
    return 0
