#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a search of a fifth of the configurations finds beside the best of all, by predicted time. Nothing is measured.

    tools/dev bench tuning                                   # GEMM, attention and softmax, three shapes each
    tools/dev bench tuning --only softmax --method bayesian
    tools/dev bench tuning --only gemm --shapes 48x6144x2048 --dtype fp8      # others than these, to check the estimate
    tools/dev bench tuning --save times.json; tools/dev bench tuning --load times.json --method evolution
    tools/dev bench tuning --only gemm --export              # and write what was found to the defaults of fly-kernels
    tools/dev bench tuning --gemm 16x4096x4096 64x8192x8192 --dtype fp8 --export    # defaults of other GEMMs, by search
    tools/dev bench tuning --from tuned.json                  # defaults of GEMMs by `python -m flydsl.autotune export`

Each configuration of a space (`flydsl.kernels.tuning`) is compiled and predicted once, for the emulated device of
FLYDSL_GPU_ARCH: that is the exhaustive search, some 20 minutes on two cores. The search then goes its way and is told
the time of each configuration that it asks for, which is what it would get: predictions do not vary. The exit status is
1 where it misses the best by more than 3 %, or asks for more than a fifth.

With --gemm there is no exhaustive search: of each shape the default and what the search asks for, a fifth but at least
eight, are predicted. The default stays where nothing is better by more than 3 %; what is goes to the table with
--export, else the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
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
LEAST = 8  # of --gemm, whose spaces for few rows are small: as autotune's searches have
DEFAULTS = Path(__file__).parents[2] / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels" / "defaults.json"


class Times:
    """The predicted milliseconds of configurations of a problem, None for one that failed; each is predicted once."""

    def __init__(self, tuned: Any, arguments: tuple[Any, ...], known: dict[str, float | None]) -> None:
        self._tuned, self._arguments, self.known = tuned, arguments, known

    def of(self, config: Any) -> float | None:
        """That of one."""
        from flydsl.autotune.search.space import identity

        name = identity(config)
        if name not in self.known:
            outcome = self._tuned.evaluate(config, self._arguments)
            if outcome.milliseconds is None:
                print(f"  {config!r} failed: {outcome.error[:200]}", flush=True)
            self.known[name] = outcome.milliseconds
        return self.known[name]


def search(tuned: Any, arguments: tuple[Any, ...], times: Times, least: int = 1) -> tuple[Any, Any, float, int]:
    """What is searched, and what a search of a fifth finds, of `least` at least: a configuration, its time, and how
    many it asked for."""
    from flydsl.autotune.search.progress import Progress
    from flydsl.autotune.search.run import Outcome, run

    found = tuned.describe(arguments)
    candidates = list(found.candidates)
    budget = min(len(candidates), max(least, int(PART * len(candidates))))
    asked, _ = run(
        found.search.start(candidates, found.estimates, budget),
        lambda config: Outcome(times.of(config)),
        Progress(budget, "", running=False, say=lambda text: None),
        budget=budget,
    )
    return found, *min(asked, key=lambda one: one[1]), budget


def compare(family: str, shape: tuple[int, ...], options: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    """One row of the table."""
    from flydsl.autotune.facts import facts_of
    from flydsl.kernels import tuning

    kind = {"in_dtype": options.dtype} if family == "gemm" and options.dtype != "bf16" else {}
    tuned, arguments = getattr(tuning, f"{family}_problem")(*shape, **kind, method=options.method, seed=options.seed)
    name = " ".join([family, *kind.values(), "x".join(map(str, shape))])
    times = Times(tuned, arguments, known.setdefault(name, {}))
    for config in tuned.describe(arguments).candidates:
        times.of(config)
    found, choice, reached, budget = search(tuned, arguments, times)
    best = min(value for value in times.known.values() if value is not None)
    return {
        "name": name, "candidates": len(found.candidates), "best": best, "evaluations": budget, "found": reached,
        "ratio": reached / best, "choice": choice, "model": facts_of(found.key).model,
    }  # fmt: skip


def look(arch: str, shape: tuple[int, ...], options: argparse.Namespace, known: dict[str, Any]) -> bool:
    """A GEMM's default beside what a search finds: prints a row, and says whether the default is too far off."""
    from flydsl.autotune import Config
    from flydsl.autotune.facts import facts_of
    from flydsl.kernels.gemm.config import default_config
    from flydsl.kernels.tuning import gemm_problem

    tuned, arguments = gemm_problem(*shape, in_dtype=options.dtype, method=options.method, seed=options.seed)
    name = f"gemm {options.dtype} {'x'.join(map(str, shape))}"
    times = Times(tuned, arguments, known.setdefault(name, {}))
    config = default_config(arch, options.dtype, *shape)
    waves = None if config.waves is None else list(config.waves)
    default = Config(tile_m=config.tile_m, tile_n=config.tile_n, split_k=config.split_k, waves=waves)
    present = times.of(default)
    assert present is not None, f"{name}: its default cannot be predicted"
    found, choice, reached, budget = search(tuned, arguments, times, LEAST)
    without = ", without its order of workgroups, which no candidate has" if config.xcd_swizzle else ""
    off = present > WITHIN * reached
    print(
        f"{arch} {name} | {len(found.candidates)} | {budget} | {present * 1e3:.2f} | {reached * 1e3:.2f} | "
        f"{present / reached:.3f} | {default!r}{without} | {choice!r}",
        flush=True,
    )
    if off and options.export:
        export(arch, options.dtype, shape, choice.to_dict(), reached, facts_of(found.key).model)
    return off and not options.export


def export(
    arch: str, in_dtype: str, shape: tuple[int, ...], config: dict[str, Any], milliseconds: float, model: str
) -> None:
    """Put the configuration of a GEMM's class of shapes into the defaults of fly-kernels, for review. What was measured
    has no model."""
    from flydsl.kernels.common.defaults import dump, load, shape_class

    table = load(DEFAULTS.read_text())
    entry = {
        "in_dtype": in_dtype, "shape": list(shape), "config": config, "milliseconds": round(milliseconds, 7),
        **({"model": model} if model else {}),
    }  # fmt: skip

    def key(one: dict[str, Any]) -> tuple[str, list[int]]:
        return one["in_dtype"], shape_class(*one["shape"])

    others = [one for one in table["gemm_shapes"][arch] if key(one) != key(entry)]
    table["gemm_shapes"][arch] = sorted([*others, entry], key=key)
    DEFAULTS.write_text(dump(table))


def take(path: Path) -> None:
    """Put the best of each GEMM that an export of the database of results has into the defaults: what the searches of
    one machine found, or of many, whose databases were merged."""
    for one in json.loads(path.read_text()):
        if one["function"] == "gemm" and one["role"] == "best":
            in_dtype, *shape = one["shape"].split()
            config = {name: one["config"][name] for name in ("tile_m", "tile_n", "split_k", "waves")}
            export(
                one["architecture"], in_dtype, tuple(map(int, shape)), config, one["milliseconds"], one["model"]
            )  # fmt: skip
            print(f"{one['architecture']} gemm {in_dtype} {'x'.join(shape)}: {config} ({one['measure']})")


def shape_of(text: str) -> tuple[int, ...]:
    """ "16x4096x4096" as numbers."""
    return tuple(int(one) for one in text.split("x"))


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
    parser.add_argument("--gemm", nargs="+", type=shape_of, metavar="MxNxK", help="look at the defaults of these")
    parser.add_argument("--shapes", nargs="+", type=shape_of, metavar="AxBxC", help="of --only, in place of its three")
    parser.add_argument("--dtype", choices=("bf16", "fp16", "fp8", "int8"), default="bf16", help="of GEMMs")
    parser.add_argument("--from", dest="take", type=Path, metavar="PATH", help="an export, whose GEMMs become defaults")
    options = parser.parse_args()
    if options.take:
        take(options.take)
        return 0
    if options.shapes and options.only is None:
        parser.error("--shapes needs --only: which family are they of?")
    device = current_device()
    if not device.emulated:
        raise SystemExit("this compares predictions: set FLYDSL_DEVICE=emulator")
    kept: dict[str, Any] = json.loads(options.load.read_text()) if options.load else {}
    known: dict[str, Any] = kept.setdefault(device.arch, {})
    print(f"{device.name}: predicted by the emulator, not measured; search: {options.method}\n")
    if options.gemm:
        print("GEMM | configs | evaluations | default, us | found, us | default / found | default | found", flush=True)
        status = 0
        for shape in options.gemm:
            status |= look(device.arch, shape, options, known)
            if options.save:
                options.save.write_text(json.dumps(kept, indent=1) + "\n")
        return status
    heads = ("problem", "configs", "best of all, us", "evaluations", "found, us", "found / best", "configuration")
    print(" | ".join(heads), flush=True)
    missed = 0
    for family, shapes in PROBLEMS.items():
        if options.only in (None, family):
            for shape in options.shapes or shapes:
                row = compare(family, shape, options, known)
                missed += row["ratio"] > WITHIN
                print(
                    f"{row['name']} | {row['candidates']} | {row['best'] * 1e3:.2f} | {row['evaluations']} | "
                    f"{row['found'] * 1e3:.2f} | {row['ratio']:.3f} | {row['choice']!r}",
                    flush=True,
                )
                if options.export and family == "gemm":
                    export(device.arch, options.dtype, shape, row["choice"].to_dict(), row["found"], row["model"])
                if options.save:
                    options.save.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"\n{missed} searches missed the best by more than {WITHIN - 1:.0%}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
