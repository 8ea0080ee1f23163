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
from flydsl.emulator.predicting import prediction_model
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


def predict_one(record: dict[str, Any], objects: Path, constants: list[str]) -> dict[str, Any] | None:
    """A record's predicted microseconds and how they depend on these constants. None if it cannot be predicted."""
    emulator = Emulator()
    try:
        emulator.set_devices(record["arch"])
        begin = clock.process_time()
        with predicted_launches(emulator, record, objects) as found:
            launches = found.launches
            other = other_kernels(emulator, record) * 1e6
            floor = host_launch(record)
            time = max(floor, other + sum(one["time_us"] for _, one in launches))
            first = launches[0][1]
            longest = max((one for _, one in launches), key=lambda one: one["time_us"])
            bound = "launch" if time == floor else longest["bound"]
            kept = {name: longest[name] for name in ("busy", "bounds_us", "clock_ghz", "unit_cycles", "hbm_share")}
            result = {
                "record": record, "time": time, "bound": bound, "error": longest["error"], "terms": kept, "slopes": {},
            }  # fmt: skip
            if constants:
                whole, begin = clock.process_time() - begin, clock.process_time()
                for module, _ in launches:
                    emulator.predict_again(module)
                result["cost"] = {"whole": whole, "model": clock.process_time() - begin}
                result["constants"] = first["constants"]
                for name in constants:
                    value = first["constants"][name]
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


def predict_all(
    records: list[dict[str, Any]], objects: Path, constants: list[str], jobs: int, save: Path | None
) -> list[dict[str, Any]]:
    """Each record's prediction, and how that of the newest version of each kernel depends on the constants.

    What is there is saved after each, and what a file saved before by the same model has is not predicted again.
    """
    newest = {kernel_of(record["id"]): record["id"] for record in records}
    kept = load(save) if save is not None and save.exists() else []
    there = {one["record"]["id"] for one in kept}
    records = [record for record in records if record["id"] not in there]
    wanted = [constants if newest[kernel_of(record["id"])] == record["id"] else [] for record in records]
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for result in pool.map(predict_one, records, itertools.repeat(objects), wanted):
            kept += [] if result is None else [result]
            if save is not None:
                save.write_text(json.dumps({"model": prediction_model(), "results": kept}))
    return kept


def load(path: Path) -> list[dict[str, Any]]:
    """Results that were saved; `SystemExit` where another model made them."""
    saved: dict[str, Any] = json.loads(path.read_text())
    if saved["model"] != prediction_model():
        raise SystemExit(f"{path} is of the model {saved['model']}, and this is {prediction_model()}: predict again")
    results: list[dict[str, Any]] = saved["results"]
    return results


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


def _slopes_for(result: dict[str, Any], known: list[dict[str, Any]]) -> dict[str, float] | None:
    """Of those with slopes: the same kernel's, or the nearest in time of its family and architecture."""

    def distance(other: dict[str, Any]) -> float:
        same = kernel_of(other["record"]["id"]) == kernel_of(result["record"]["id"])
        return -1.0 if same else abs(float(np.log(other["time"] / result["time"])))

    family = (result["record"]["op"], result["record"]["arch"])
    of = [one for one in known if (one["record"]["op"], one["record"]["arch"]) == family]
    nearest = min(of, key=distance, default=None)
    return None if nearest is None else dict(nearest["slopes"])


class Fit:
    """A Gauss-Newton step of the constants by results with slopes; others have those of their kernel's newest version,
    or of the kernel of their family and architecture whose time is nearest. Without one they take no part."""

    def __init__(self, results: list[dict[str, Any]]) -> None:
        known = [one for one in results if one["slopes"]]
        self.constants = {one["record"]["arch"]: one["constants"] for one in known}
        found = [(one, _slopes_for(one, known)) for one in results]
        self.results = [one for one, slopes in found if slopes is not None]
        own = [slopes for _, slopes in found if slopes is not None]
        self.names = [name for name in PRIOR if all(name in one for one in own)]
        self.columns = [(name, arch) for arch in (None, *sorted(self.constants)) for name in self.names]
        self.kernels = [kernel_of(one["record"]["id"]) for one in self.results]
        versions = Counter(self.kernels)
        self.matrix = np.array(
            [
                [slopes[name] if arch in (None, one["record"]["arch"]) else 0.0 for name, arch in self.columns]
                for slopes, one in zip(own, self.results, strict=True)
            ]
        )
        self.wanted = -np.log(ratios(self.results))
        self.weight = np.array([1 / versions[kernel] for kernel in self.kernels])
        # What a device has of its own is less than what all have in common.
        spread = [PRIOR[name] * (1.0 if arch is None else 0.5) for name, arch in self.columns]
        self.prior = np.diag([1 / one**2 for one in spread])

    def step(self, mask: np.ndarray) -> np.ndarray:
        """The change of each column (in logarithm) by the results that the mask is 1 for."""
        step = np.zeros(len(self.columns))
        for _ in range(60):
            left = self.wanted - self.matrix @ step
            own = mask * self.weight / np.maximum(1, np.abs(left) / ROBUST) / ROBUST**2
            step = np.linalg.solve(
                (self.matrix.T * own) @ self.matrix + self.prior, (self.matrix.T * own) @ self.wanted
            )
        return step

    def ratios(self, step: np.ndarray) -> np.ndarray:
        """Predicted over measured after a step."""
        return np.asarray(np.exp(self.matrix @ step - self.wanted))

    def left_out(self, part_of: list[Any]) -> np.ndarray:
        """Predicted over measured of each result, with constants fitted without the results of its part."""
        part, out = np.array(part_of), np.zeros(len(self.results))
        for name in set(part_of):
            own = part == name
            out[own] = self.ratios(self.step(np.where(own, 0.0, 1.0)))[own]
        return out


def families(results: list[dict[str, Any]]) -> list[str]:
    """The family of each result, of all devices: what a validation leaves out at once."""
    return [one["record"]["op"] for one in results]


def constants_of(fit: Fit) -> list[str]:
    """Each constant, and what the fit would make of it."""
    step, lines = fit.step(np.ones(len(fit.results))), []
    for arch, present in fit.constants.items():
        lines.append(f"{arch}:")
        for name in fit.names:
            own = [v for (n, a), v in zip(fit.columns, step, strict=True) if n == name and a in (None, arch)]
            lines.append(f"  {name:18} {present[name]:10.4g} -> {present[name] * np.exp(sum(own)):10.4g}")
    return lines


def validation(fit: Fit) -> list[str]:
    """The lines of the page: errors as the constants stand, with all results, with each family and with halves left
    out; the same by family; and how many lie within the error bars that predictions have."""
    halves = [zlib.crc32(kernel.encode()) % 2 for kernel in fit.kernels]
    found = {
        "the constants as they stand": ratios(fit.results),
        "fitted to all": fit.ratios(fit.step(np.ones(len(fit.results)))),
        "each family left out in turn": fit.left_out(families(fit.results)),
        "halves of the kernels, by hash": fit.left_out(halves),
    }
    bars = np.array([one["error"] for one in fit.results])
    lines = [
        f"| constants, of {len(fit.results)} timings | median error | nine of ten within | within the error bar |",
        "|---|---|---|---|",
    ]
    for title, ratio in found.items():
        off = np.abs(ratio - 1)
        # A bar is a share of the prediction, so that the measured time is compared with it.
        covered = np.mean(np.abs(1 / ratio - 1) <= bars)
        lines.append(f"| {title} | {np.median(off):.1%} | {np.quantile(off, 0.9):.1%} | {covered:.0%} |")
    lines += [
        "",
        "| family left out | timings | predicted over measured: median | least | most |",
        "|---|---|---|---|---|",
    ]
    left = found["each family left out in turn"]
    for family in sorted(set(families(fit.results))):
        of = [i for i, name in enumerate(families(fit.results)) if name == family]
        lines.append(
            f"| {family} | {len(of)} | {np.median(left[of]):.2f} | {left[of].min():.2f} | {left[of].max():.2f} |"
        )
    return lines


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


def write_page(mark: str, lines: list[str]) -> None:
    """Put the lines between the marks of that name in the page."""
    text = PAGE.read_text()
    marked = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert marked.search(text), f"{PAGE} has lost its marks"
    PAGE.write_text(marked.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], text))


def main() -> None:
    """Predict, compare, and fit or draw where asked for."""
    parser = argparse.ArgumentParser(description="The time model against published timings.")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--objects", type=Path)
    parser.add_argument(
        "--save", type=Path, metavar="PATH", help="keep the predictions there, and go on from those that are"
    )
    parser.add_argument("--load", type=Path, metavar="PATH", help="take them from there, instead of --records")
    parser.add_argument("--match", default="", help="only records whose id has this text in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that predict")
    parser.add_argument(
        "--fit", nargs="*", choices=list(PRIOR), metavar="CONSTANT", help="fit the constants, too (default: all)"
    )
    parser.add_argument("--write", action="store_true", help="write the table and the plot of the page")
    options = parser.parse_args()
    if options.load:
        results = [one for one in load(options.load) if options.match in one["record"]["id"]]
    elif options.records and options.objects:
        records = [one for one in json.loads(options.records.read_text())["records"] if options.match in one["id"]]
        constants = [] if options.fit is None else options.fit or list(PRIOR)
        results = predict_all(records, options.objects, constants, options.jobs, options.save)
    else:
        parser.error("--records and --objects, or --load")
    lines = summary(results)
    print("\n".join(lines))
    if options.write:
        write_page("calibration", lines)
        draw(results, PLOT)
    if options.fit is not None:
        if any("cost" in one for one in results):
            print(costs(results))
        fit = Fit(results)
        validated = validation(fit)
        print("\n".join([*constants_of(fit), *validated]))
        if options.write:
            write_page("validation", validated)


if __name__ == "__main__":
    main()
