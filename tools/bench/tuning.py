#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a search of a fifth of the configurations finds beside the best of all, by predicted time. Nothing is measured.

    tools/dev bench tuning                                   # GEMM, attention and softmax, three shapes each
    tools/dev bench tuning --only softmax --method bayesian
    tools/dev bench tuning --save times.json; tools/dev bench tuning --load times.json --method evolution
    tools/dev bench tuning --only gemm --export              # and write what was found to the defaults of fly-kernels

Each configuration of a space (`flydsl.kernels.tuning`) is compiled and predicted once, for the emulated device of
FLYDSL_GPU_ARCH: that is the exhaustive search, some 20 minutes on two cores. The search then goes its way and is told
the time of each configuration that it asks for, which is what it would get: predictions do not vary. The exit status is
1 where it misses the best by more than 3 %, or asks for more than a fifth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

PROBLEMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "gemm": ((32, 4096, 4096), (256, 2048, 2048), (2048, 2048, 2048)),  # M, N, K
    "attention": (  # batch, heads, queries, keys, head size
        (1, 16, 1024, 1024, 128),
        (4, 32, 512, 512, 64),
        (1, 8, 256, 4096, 128),
    ),
    "softmax": ((4096, 1024), (512, 8192), (64, 16384)),  # rows, columns
}
WITHIN, PART = 1.03, 0.2
DEFAULTS = Path(__file__).parents[2] / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels" / "defaults.json"


def times_of(tuned: Any, arguments: tuple[Any, ...], candidates: list[Any]) -> dict[str, float | None]:
    """The predicted milliseconds of each configuration; None for one that failed."""
    from flydsl.autotune.search.space import identity

    found: dict[str, float | None] = {}
    for config in candidates:
        outcome = tuned.evaluate(config, arguments)
        if outcome.milliseconds is None:
            print(f"  {config!r} failed: {outcome.error[:200]}", flush=True)
        found[identity(config)] = outcome.milliseconds
    return found


def compare(family: str, shape: tuple[int, ...], options: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    """One row of the table."""
    from flydsl.autotune.facts import facts_of
    from flydsl.autotune.search.progress import Progress
    from flydsl.autotune.search.run import Outcome, run
    from flydsl.autotune.search.space import identity
    from flydsl.kernels import tuning

    problem = getattr(tuning, f"{family}_problem")
    tuned, arguments = problem(*shape, method=options.method, seed=options.seed)
    found = tuned.describe(arguments)
    candidates = list(found.candidates)
    name = f"{family} {'x'.join(map(str, shape))}"
    started = time.monotonic()
    table = known.get(name) or times_of(tuned, arguments, candidates)
    known[name] = table
    seconds = time.monotonic() - started
    budget = max(1, int(PART * len(candidates)))
    asked, _ = run(
        found.search.start(candidates, found.estimates, budget),
        lambda config: Outcome(table[identity(config)]),
        Progress(budget, "", running=False, say=lambda text: None),
        budget=budget,
    )
    best = min(value for value in table.values() if value is not None)
    choice, reached = min(asked, key=lambda one: one[1])
    return {
        "name": name, "candidates": len(candidates), "best": best, "evaluations": budget, "found": reached,
        "ratio": reached / best, "choice": choice, "seconds": seconds, "model": facts_of(found.key).model,
    }  # fmt: skip


def export(arch: str, shape: tuple[int, ...], config: Any, milliseconds: float, model: str) -> None:
    """Put the configuration of a GEMM's class of shapes into the defaults of fly-kernels, for review."""
    from flydsl.kernels.common.defaults import shape_class

    table = json.loads(DEFAULTS.read_text())
    entry = {
        "in_dtype": "bf16", "class": shape_class(*shape), "config": config.to_dict(),
        "milliseconds": milliseconds, "measure": "predicted", "model": model, "shape": list(shape),
    }  # fmt: skip
    others = [one for one in table["gemm_shapes"][arch] if (one["in_dtype"], one["class"]) != ("bf16", entry["class"])]
    table["gemm_shapes"][arch] = sorted([*others, entry], key=lambda one: (one["in_dtype"], one["class"]))
    DEFAULTS.write_text(json.dumps(table, indent=1) + "\n")


def main() -> int:
    """Compare, and print the table."""
    from flydsl.autotune.search.spec import METHODS
    from flydsl.runtime import current_device

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", choices=sorted(PROBLEMS))
    parser.add_argument("--method", choices=[one for one in METHODS if one != "exhaustive"], default="halving")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, metavar="PATH", help="keep the times of all configurations")
    parser.add_argument("--load", type=Path, metavar="PATH", help="take them from there")
    parser.add_argument("--export", action="store_true", help="write what was found for GEMM to defaults.json")
    options = parser.parse_args()
    device = current_device()
    if not device.emulated:
        raise SystemExit("this compares predictions: set FLYDSL_DEVICE=emulator")
    kept: dict[str, Any] = json.loads(options.load.read_text()) if options.load else {}
    known: dict[str, Any] = kept.setdefault(device.arch, {})
    print(f"{device.name}: predicted by the emulator, not measured; search: {options.method}\n")
    heads = ("problem", "configs", "best of all, us", "evaluations", "found, us", "found / best", "configuration")
    print(" | ".join(heads), flush=True)
    missed = 0
    for family, shapes in PROBLEMS.items():
        if options.only in (None, family):
            for shape in shapes:
                row = compare(family, shape, options, known)
                missed += row["ratio"] > WITHIN
                print(
                    f"{row['name']} | {row['candidates']} | {row['best'] * 1e3:.2f} | {row['evaluations']} | "
                    f"{row['found'] * 1e3:.2f} | {row['ratio']:.3f} | {row['choice']!r}",
                    flush=True,
                )
                if options.export and family == "gemm":
                    export(device.arch, shape, row["choice"], row["found"], row["model"])
                if options.save:
                    options.save.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"\n{missed} searches missed the best by more than {WITHIN - 1:.0%}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
