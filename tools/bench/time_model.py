# SPDX-License-Identifier: Apache-2.0
"""The time model against published timings: how far predictions are off, and the fit of its constants.

    tools/dev bench time_model --records records.json --objects folder             # compare, and draw
    tools/dev bench time_model --records records.json --objects folder --fit       # also fit: half an hour
    tools/dev bench time_model --load results.json --fit                           # once more, of what --save kept

Records and code objects are not part of the repository; what was learnt from them stands in
tools/fly-emulator/lib/predict/device_model.cpp and docs/emulator/prediction.md, which `--write` brings up to date.

The fit is one Gauss-Newton step in logarithms (of the constants, and of predicted over measured time), with robust
weights, a prior that keeps each constant near its value, and every version of a kernel counting as a part of one
kernel. Its validation leaves out one family of kernels at a time, then one half of the kernels, chosen by hash.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import multiprocessing
import os
import re
import time as clock
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from flydsl.emulator.device import Emulator, EmulatorError
from flydsl.emulator.records import host_launch, other_kernels, predicted_launches

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "emulator" / "prediction.md"
PLOT = ROOT / "docs" / "emulator" / "pictures" / "predicted-measured.svg"
STEP = 1.15  # by which a constant is changed to see what depends on it
ROBUST = 0.1  # residuals beyond this weigh less
# How far (in logarithm) one fit may move a constant: as well as it is known.
PRIOR = {
    "l1_latency": 0.15,
    "l2_latency": 0.2,
    "mall_latency_ns": 0.2,
    "hbm_latency_ns": 0.2,
    "lds_latency": 0.2,
    "scalar_latency": 0.2,
    "hbm_efficiency": 0.08,
    "l2_efficiency": 0.12,
    "atomic_cycles": 0.4,
    "launch_ns": 0.25,
    "code_cycles": 0.5,
    "group_cycles": 0.4,
    "throttle": 0.4,
    "loaded_latency": 0.5,
    "drift": 0.5,
}


def kernel_of(identity: str) -> str:
    """The kernel of a record's id, without its version."""
    return identity.rsplit("__", 1)[0]


def machine_of(record: dict[str, Any]) -> str:
    """Where a record was timed: the published machines, or the one that its notes tell of. Versions of a kernel are
    compared on one machine only."""
    elsewhere = [note for note in record.get("notes", []) if "machine" in note]
    return f"{record['arch']} {elsewhere[0] if elsewhere else ''}"


def predict_one(record: dict[str, Any], objects: Path, sensitive: bool) -> dict[str, Any] | None:
    """A record's predicted microseconds and, if asked for, what they depend on. None if it cannot be predicted."""
    emulator = Emulator()
    try:
        emulator.set_devices(record["arch"])
        begin = clock.process_time()
        with predicted_launches(emulator, record, objects) as found:
            launches = found.launches
            other = other_kernels(record) * 1e6
            floor = host_launch(record)
            time = max(floor, other + sum(one["time_us"] for _, one in launches))
            first = launches[0][1]
            bound = "launch" if time == floor else first["bound"]
            kept = {name: first[name] for name in ("busy", "bounds_us", "clock_ghz", "unit_cycles", "hbm_share")}
            result = {"record": record, "time": time, "bound": bound, "terms": kept, "slopes": {}}
            if sensitive:
                whole, begin = clock.process_time() - begin, clock.process_time()
                for module, _ in launches:
                    emulator.predict_again(module)
                result["cost"] = {"whole": whole, "model": clock.process_time() - begin}
                result["constants"] = first["constants"]
                for name, value in first["constants"].items():
                    emulator.set_prediction_parameter(name, value * STEP)
                    again = other + sum(emulator.predict_again(module)["time_us"] for module, _ in launches)
                    again = max(floor, again)
                    emulator.set_prediction_parameter(name, value)
                    result["slopes"][name] = float(np.log(again / time) / np.log(STEP))
    except EmulatorError as error:
        print(f"{record['id']}: not predicted: {str(error).splitlines()[0]}", flush=True)
        return None
    print(f"{record['id']:84} {record['time_us']:10.1f} {time:10.1f} {time / record['time_us']:5.2f}", flush=True)
    return result


def predict_all(records: list[dict[str, Any]], objects: Path, sensitive: bool, jobs: int) -> list[dict[str, Any]]:
    """Each record's prediction; what the newest version of each kernel depends on, too, where that is asked for."""
    newest = {kernel_of(record["id"]): record["id"] for record in records}
    wanted = [sensitive and newest[kernel_of(record["id"])] == record["id"] for record in records]
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = pool.map(predict_one, records, itertools.repeat(objects), wanted)
        return [result for result in results if result is not None]


def ratios(results: list[dict[str, Any]]) -> np.ndarray:
    """Predicted over measured."""
    return np.array([one["time"] / one["record"]["time_us"] for one in results])


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's; equal values share the mean of their ranks."""

    def ranks(values: np.ndarray) -> np.ndarray:
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])

    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def directions(results: list[dict[str, Any]]) -> tuple[int, int]:
    """Of pairs of versions of one kernel, timed on one machine, whose time differs by 3 % or more: how many the model
    orders rightly."""
    right = pairs = 0
    for a, b in itertools.combinations(results, 2):
        if kernel_of(a["record"]["id"]) != kernel_of(b["record"]["id"]):
            continue
        if machine_of(a["record"]) != machine_of(b["record"]):
            continue
        measured = b["record"]["time_us"] / a["record"]["time_us"]
        if max(measured, 1 / measured) < 1.03:
            continue
        pairs += 1
        right += (b["time"] - a["time"]) * (measured - 1) > 0
    return right, pairs


def largest_machine(results: list[dict[str, Any]], of: list[int]) -> list[int]:
    """Of these results, those of the machine that has most of them."""
    machines = [machine_of(results[i]["record"]) for i in of]
    most = Counter(machines).most_common(1)[0][0]
    return [i for i, machine in zip(of, machines, strict=True) if machine == most]


def summary(results: list[dict[str, Any]]) -> list[str]:
    """The lines of the page: all, by family, by bound."""
    ratio = ratios(results)
    off = np.abs(ratio - 1)
    measured = np.array([one["record"]["time_us"] for one in results])
    right, pairs = directions(results)
    lines = [
        f"{len(results)} timings: median error {np.median(off):.1%}, nine of ten within {np.quantile(off, 0.9):.1%}, "
        f"rank correlation {rank_correlation(measured, ratio * measured):.3f}; of {pairs} pairs of versions of one "
        f"kernel whose time on one machine differs by 3 % or more, {right} are ordered rightly.",
        "",
        "| family | timings | predicted over measured: median | least | most | rank correlation |",
        "|---|---|---|---|---|---|",
    ]
    for family in sorted({(one["record"]["op"], one["record"]["arch"]) for one in results}):
        of = [i for i, one in enumerate(results) if (one["record"]["op"], one["record"]["arch"]) == family]
        ranked = largest_machine(results, of)
        rank = f"{rank_correlation(measured[ranked], (ratio * measured)[ranked]):.2f}" if len(ranked) > 5 else ""
        lines.append(
            f"| {family[0]}, {family[1]} | {len(of)} | {np.median(ratio[of]):.2f} | {ratio[of].min():.2f} "
            f"| {ratio[of].max():.2f} | {rank} |"
        )
    lines += ["", "| bound | timings | nine of ten within |", "|---|---|---|"]
    for bound, count in Counter(one["bound"] for one in results).most_common():
        of = [i for i, one in enumerate(results) if one["bound"] == bound]
        lines.append(f"| {bound} | {count} | {np.quantile(off[of], 0.9):.0%} |")
    return lines


def costs(results: list[dict[str, Any]]) -> str:
    """Processor time of predictions beside that of emulating what they sample."""
    pairs = [(one["cost"]["whole"], one["cost"]["model"], one["record"]["id"]) for one in results if "cost" in one]
    ratio, name = max((whole / max(whole - model, 1e-3), name) for whole, model, name in pairs)
    longest, slowest = max((whole, name) for whole, _, name in pairs)
    usual = np.median([whole / max(whole - model, 1e-3) for whole, model, _ in pairs])
    return (
        f"processor time of a prediction over that of the emulation of its sample: median {usual:.1f}, "
        f"most {ratio:.1f} ({name}); the longest prediction took {longest:.1f} s ({slowest})"
    )


def fit(results: list[dict[str, Any]]) -> None:
    """Print the constants that fit best, and the errors with each family left out."""
    if any("cost" in one for one in results):
        print(costs(results))
    slopes = {kernel_of(one["record"]["id"]): one["slopes"] for one in results if one["slopes"]}
    constants = {one["record"]["arch"]: one["constants"] for one in results if one["slopes"]}
    results = [one for one in results if kernel_of(one["record"]["id"]) in slopes]
    names = [name for name in PRIOR if all(name in one for one in slopes.values())]
    columns = [(name, arch) for arch in (None, *sorted(constants)) for name in names]
    kernels = [kernel_of(one["record"]["id"]) for one in results]
    versions = Counter(kernels)
    matrix = np.array(
        [
            [slopes[kernel][name] if arch in (None, one["record"]["arch"]) else 0.0 for name, arch in columns]
            for kernel, one in zip(kernels, results, strict=True)
        ]
    )
    wanted = -np.log(ratios(results))
    weight = np.array([1 / versions[kernel] for kernel in kernels])
    # What a device has of its own is less than what all have in common.
    prior = np.diag([1 / (PRIOR[name] * (1.0 if arch is None else 0.5)) ** 2 for name, arch in columns])

    def solve(mask: np.ndarray) -> np.ndarray:
        step = np.zeros(len(columns))
        for _ in range(60):
            left = wanted - matrix @ step
            own = mask * weight / np.maximum(1, np.abs(left) / ROBUST) / ROBUST**2
            step = np.linalg.solve((matrix.T * own) @ matrix + prior, (matrix.T * own) @ wanted)
        return step

    step = solve(np.ones(len(results)))
    for arch, present in constants.items():
        print(f"{arch}:")
        for name in names:
            factor = np.exp(sum(v for (n, a), v in zip(columns, step, strict=True) if n == name and a in (None, arch)))
            print(f"  {name:18} {present[name]:10.4g} -> {present[name] * factor:10.4g}")
    errors = {"fitted": np.exp(-(wanted - matrix @ step)) - 1}
    parts = {
        "families left out": [one["record"]["op"] for one in results],
        "halves left out, by hash": [zlib.crc32(kernel.encode()) % 2 for kernel in kernels],
    }
    for title, part_of in parts.items():
        part = np.array(part_of)
        errors[title] = np.zeros(len(results))
        for name in set(part_of):
            own = part == name
            errors[title][own] = np.exp(-(wanted - matrix @ solve(np.where(own, 0.0, 1.0))))[own] - 1
    for title, error in errors.items():
        print(f"{title}: median {np.median(np.abs(error)):.1%}, nine of ten {np.quantile(np.abs(error), 0.9):.1%}")


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Predicted against measured, by family."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "flydsl"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 6))
    families = sorted({one["record"]["op"] for one in results})
    for number, family in enumerate(families):
        of = [one for one in results if one["record"]["op"] == family]
        axes.loglog(
            [one["record"]["time_us"] for one in of],
            [one["time"] for one in of],
            "osv^D"[number % 5],
            markersize=4,
            label=family,
        )
    ends = np.array([5.0, 1e5])
    axes.loglog(ends, ends, "k-", linewidth=0.8)
    for factor in (1 / 1.35, 1.35):
        axes.loglog(ends, ends * factor, "k:", linewidth=0.6)
    axes.set_xlabel("measured on hardware by others, µs")
    axes.set_ylabel("predicted, µs")
    axes.legend(fontsize=7)
    axes.set_title("Predicted against measured; dotted: 35 % off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def write_page(lines: list[str]) -> None:
    """Put the summary between the marks of the page."""
    text = PAGE.read_text()
    marked = re.compile(r"(<!-- calibration -->\n).*?(<!-- end -->)", re.DOTALL)
    assert marked.search(text), f"{PAGE} has lost its marks"
    PAGE.write_text(marked.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], text))


def main() -> None:
    """Predict, compare, and fit or draw where asked for."""
    parser = argparse.ArgumentParser(description="The time model against published timings.")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--objects", type=Path)
    parser.add_argument("--save", type=Path, metavar="PATH", help="keep the predictions, and what they depend on")
    parser.add_argument("--load", type=Path, metavar="PATH", help="take them from there, instead of --records")
    parser.add_argument("--match", default="", help="only records whose id has this text in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that predict")
    parser.add_argument("--fit", action="store_true", help="fit the constants, too")
    parser.add_argument("--write", action="store_true", help="write the table and the plot of the page")
    options = parser.parse_args()
    if options.load:
        results = [one for one in json.loads(options.load.read_text()) if options.match in one["record"]["id"]]
    elif options.records and options.objects:
        records = [one for one in json.loads(options.records.read_text())["records"] if options.match in one["id"]]
        results = predict_all(records, options.objects, options.fit, options.jobs)
    else:
        parser.error("--records and --objects, or --load")
    if options.save:
        options.save.write_text(json.dumps(results))
    lines = summary(results)
    print("\n".join(lines))
    if options.write:
        write_page(lines)
        draw(results, PLOT)
    if options.fit:
        fit(results)


if __name__ == "__main__":
    main()
