#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The defaults of attention against all other configurations, by predicted time. Nothing is measured.

    tools/dev bench attention_defaults                               # both architectures, all classes of shapes
    tools/dev bench attention_defaults --arch gfx950 --head-dim 128 --causal
    tools/dev bench attention_defaults --times times.json            # keep times; what is there is not predicted again
    tools/dev bench attention_defaults --export                      # write the best to the defaults of fly-kernels

A class of shapes (`flydsl.kernels.attention.config.work_class`) is a head size, with or without the causal mask, much
or little work, short or long sequences; each is looked at by the shapes of `SHAPES`. Candidates are those of
`flydsl.kernels.tuning.attention_space`, all or the best by its estimate, and the present default. What counts is the
time over that of the best candidate for the shape: its geometric mean over the shapes of a class decides. The present
default stays where another one is less than 3 % better. A sample of the workgroups runs, on random numbers, with
tensors in the Infinity Cache as far as they fit. The exit status is 1 where a default is further off than that.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DEFAULTS = HERE.parents[1] / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels" / "defaults.json"
DEVICES = {"gfx942": "MI300X", "gfx950": "MI355X"}
HEAD_DIMS = (64, 128, 256)
SHAPES = {  # batch, heads, queries, keys
    ("rows", "short"): ((4, 8, 32, 512), (16, 8, 1, 1000)),
    ("rows", "long"): ((4, 8, 32, 4096), (8, 8, 1, 8192)),
    ("few", "short"): ((1, 8, 512, 512), (2, 8, 256, 1000)),
    ("few", "long"): ((1, 8, 1024, 2048), (2, 8, 256, 4096)),
    ("some", "short"): ((4, 8, 1024, 1024), (12, 8, 384, 384)),
    ("some", "long"): ((2, 8, 2048, 2048), (1, 8, 4096, 4096)),
    ("many", "short"): ((32, 8, 512, 512), (16, 8, 1024, 1024)),
    ("many", "long"): ((8, 8, 2048, 2048), (4, 32, 1500, 1500)),
}
WITHIN = 1.03

Times = dict[str, dict[str, float]]
"""By problem and configuration, predicted microseconds."""


def name_of(config: Any) -> str:
    """A `FlashConfig` as text: the fields that are not those of a plain one."""
    from flydsl.kernels.attention.config import FlashConfig

    plain = FlashConfig()
    fields = {"waves": config.waves, "query_blocks": config.query_blocks, "kv_tile": config.kv_tile}
    fields |= {"waves_per_eu": config.waves_per_eu}
    fields |= {
        one: getattr(config, one) for one in ("stages", "pipelined") if getattr(config, one) != getattr(plain, one)
    }
    return json.dumps(fields)


def predict_all(problem: tuple[Any, ...], arch: str, known: Times, most: int | None) -> tuple[str, dict[str, float]]:
    """The present default of a problem, and the microseconds of it and of so many candidates."""
    from flydsl.autotune.search.methods import by_estimate
    from flydsl.emulator import predict
    from flydsl.kernels.attention.config import shape_config
    from flydsl.kernels.attention.flash_attn_kernel import build_dense
    from flydsl.kernels.tuning.attention import attention_config, attention_problem

    batch, heads, queries, keys, head_dim, dtype, causal = problem
    tuned, arguments = attention_problem(*problem)
    found = tuned.describe(arguments)
    ranked = [attention_config(one.to_dict()) for one in by_estimate(found.candidates, found.estimates)]
    configs: list[Any] = []
    for config in ranked:  # of those that differ in occupancy only, the first
        if most is None or config not in [replace(one, waves_per_eu=config.waves_per_eu) for one in configs]:
            configs.append(config)
    configs = configs[:most]
    present = shape_config(arch, batch * heads, queries, keys, head_dim, causal)
    times = known.setdefault(f"{arch} {json.dumps(problem)}", {})
    q, k, v, out = arguments[:4]
    for config in [present, *configs]:
        if name_of(config) not in times:
            launch = build_dense(heads, heads, head_dim, dtype, causal, False, None, config)
            with predict(DEVICES[arch], sampled=True, warm=True) as session:
                launch(q, k, v, out, q, batch, queries, keys)
            times[name_of(config)] = round(session.last.seconds * 1e6, 3)
    return name_of(present), times


def mean(ratios: list[float]) -> float:
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def look(arch: str, head_dim: int, causal: bool, options: argparse.Namespace, known: Times) -> tuple[list[Any], int]:
    """Findings for the table of defaults, and how many defaults are too far off."""
    from flydsl.kernels.attention.config import work_class

    findings, missed = [], 0
    for kind, shapes in SHAPES.items():
        if options.only not in (None, kind[0]):
            continue
        ratios: dict[str, list[float]] = {}
        problems, presents = [], []
        for batch, heads, queries, keys in shapes[: options.shapes]:
            assert work_class(arch, batch * heads, queries, keys) == kind
            problem = (batch, heads, queries, keys, head_dim, options.dtype, causal)
            present, times = predict_all(problem, arch, known, options.candidates)
            best = min(times, key=lambda one: times[one])
            problems.append(problem)
            presents.append(present)
            missed += times[present] > WITHIN * times[best]
            for one, time in times.items():
                ratios.setdefault(one, []).append(time / times[best])
            print(
                f"| {arch} | {batch} x {heads} x {head_dim}{', causal' if causal else ''} | {queries} x {keys} | "
                f"{' '.join(kind)} | {len(times)} | {times[present]:.2f} | {times[best]:.2f} | "
                f"{times[present] / times[best]:.3f} | `{present}` | `{best}` |",
                flush=True,
            )
            if options.times:
                options.times.write_text(json.dumps(known, indent=1) + "\n")
        scores = {one: mean(of) for one, of in ratios.items() if len(of) == len(problems)}
        best = min(scores, key=lambda one: scores[one])
        usual = presents[0] if len(set(presents)) == 1 and presents[0] in scores else None
        keeps = usual is not None and scores[usual] < WITHIN * scores[best]
        chosen = usual if keeps else best
        findings.append(
            {
                "head_dim": head_dim,
                "causal": causal,
                "shapes": [list(one[:4]) for one in problems],
                "config": json.loads(chosen),
                "over_best": [round(one, 3) for one in ratios[chosen]],
            }
        )
    return findings, missed


def work(options: argparse.Namespace) -> int:
    """One architecture (in a process of its own: the architecture is that of a process)."""
    from flydsl.emulator.predicting import prediction_model
    from flydsl.kernels.attention.config import found_class
    from flydsl.kernels.common.defaults import dump, load

    def key(one: dict[str, Any]) -> tuple[int, bool, tuple[str, str]]:
        return one["head_dim"], one["causal"], found_class(arch, one)

    arch, missed = options.arch[0], 0
    known: Times = json.loads(options.times.read_text()) if options.times and options.times.exists() else {}
    for head_dim in options.head_dim:
        for causal in (False, True) if options.causal is None else (options.causal,):
            findings, of_these = look(arch, head_dim, causal, options, known)
            missed += of_these
            if options.export:
                table = load(DEFAULTS.read_text())
                fresh = {key(one) for one in findings}
                others = [one for one in table["attention_shapes"][arch] if key(one) not in fresh]
                findings = [{**one, "model": prediction_model()} for one in findings]
                table["attention_shapes"][arch] = sorted([*others, *findings], key=key)
                DEFAULTS.write_text(dump(table))
    return 1 if missed else 0


def main() -> int:
    """A process for each architecture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=sorted(DEVICES), default=sorted(DEVICES))
    parser.add_argument("--head-dim", nargs="+", type=int, choices=HEAD_DIMS, default=list(HEAD_DIMS))
    parser.add_argument("--causal", action=argparse.BooleanOptionalAction)
    parser.add_argument("--dtype", choices=("bf16", "f16"), default="bf16")
    parser.add_argument("--only", choices=("rows", "few", "some", "many"), help="only classes with so much work")
    parser.add_argument("--shapes", type=int, choices=(1, 2), default=2, help="of each class")
    parser.add_argument("--candidates", type=int, help="only so many, the best by the estimate")
    parser.add_argument("--times", type=Path, metavar="PATH", help="where times are kept, and taken from")
    parser.add_argument("--export", action="store_true", help="write what is better to defaults.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    print("| architecture | batch x heads x head size | queries x keys | class | configurations | default, us | "
          "best, us | default / best | default | best |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    status = 0
    for arch in options.arch:
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch}
        command = [sys.executable, str(HERE / "attention_defaults.py"), "--worker", *sys.argv[1:], "--arch", arch]
        status = max(status, subprocess.run(command, env=variables, check=False).returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())
