#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The defaults of row kernels against other divisions of rows among threads, by predicted time. Nothing is measured.

    tools/dev bench row_defaults                                  # both architectures
    tools/dev bench row_defaults --only softmax --arch gfx950
    tools/dev bench row_defaults --export                         # write the best to the defaults of fly-kernels

A default is one `RowConfig` for all lengths and types of a kernel, whose fields speak of short rows (`wave_aim`), of
longer ones (`elements`) and of the longest (`held`). So each candidate is predicted for each shape, and what counts is
its time over that of the best candidate for the shape: the geometric mean over shapes decides, the mean of each class
of shapes (short or long rows, few or many) and the worst shape are told. Candidates that divide a shape alike are
predicted once. The present default stays where another one is less than 1 % better in the mean, which is less than
predictions are worth (docs/emulator/prediction.md), and less than 3 % in each class.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DEFAULTS = HERE.parents[1] / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels" / "defaults.json"
DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}
KERNELS = ("softmax", "norm", "per_token_quant")
CLASSES = {  # rows, columns
    "short, few": ((64, 256), (128, 512), (100, 1000)),
    "short, many": ((16384, 128), (4096, 512), (4096, 1024)),
    "long, few": ((64, 16384), (32, 4096)),
    "long, many": ((4096, 2000), (4096, 4096), (1024, 8192)),
}
DTYPES = ("bf16", "f32")
BITS = {"bf16": 16, "f32": 32}
CANDIDATES = tuple(
    {
        "elements": elements, "held": held,
        **({} if limit is None else {"wave_limit": limit}), **({} if aim is None else {"wave_aim": aim}),
    }
    for elements in (8, 16, 32)
    for held in (32, 64)
    for limit in (None, 32, 64)
    for aim in (None, 4, 8)
    if held >= elements and (limit is None or limit > elements) and (aim is None or aim < elements)
)  # fmt: skip
BETTER, BETTER_IN_A_CLASS = 0.99, 0.97


Score = tuple[float, list[float], float, str]
"""Of a configuration, over the best for each shape: the mean, that of each class, the worst, and its shape."""


def launches(kernel: str, rows: int, columns: int, dtype: str) -> Callable[[Any], None]:
    """What launches the kernel on such a problem with a `RowConfig` (None: the default)."""
    import torch

    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
    from flydsl.kernels.norm.softmax_kernel import build_softmax_module
    from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

    kind = {"bf16": torch.bfloat16, "f32": torch.float32}[dtype]
    x, y, weight = torch.zeros(rows, columns, dtype=kind), torch.empty(rows, columns, dtype=kind), torch.zeros(columns)
    if kernel == "softmax":
        return lambda config: build_softmax_module(columns, dtype, config)(x, y, rows)
    if kernel == "norm":
        gamma = weight.to(kind)
        return lambda config: build_rmsnorm_module(columns, dtype, config=config)(x, gamma, y, rows)
    quantised, scale = torch.empty(rows, columns, dtype=torch.int8), torch.empty(rows)
    return lambda config: build_per_token_quant_module(columns, dtype, "int8", config)(x, quantised, scale, rows)


def times(arch: str, kernel: str) -> tuple[list[dict[str, Any]], dict[str, list[float]]]:
    """The candidates, the present default first, and by shape the predicted microseconds of each."""
    from flydsl.emulator import predict
    from flydsl.kernels.common.row_plan import RowConfig, plan_rows

    present = json.loads(DEFAULTS.read_text())["rows"][arch][kernel]
    candidates = [present, *(one for one in CANDIDATES if RowConfig(**one) != RowConfig(**present))]
    found: dict[str, list[float]] = {}
    for rows, columns in (shape for shapes in CLASSES.values() for shape in shapes):
        for dtype in DTYPES:
            run = launches(kernel, rows, columns, dtype)
            known: dict[Any, float] = {}
            row = found[f"{rows}x{columns} {dtype}"] = []
            for candidate in candidates:
                config = RowConfig(**candidate)
                plan = plan_rows(columns, BITS[dtype], config)
                if plan not in known:
                    with predict(DEVICES[arch], sampled=True, warm=True) as session:
                        run(config)
                    known[plan] = session.last.seconds * 1e6
                row.append(known[plan])
    return candidates, found


def choose(candidates: list[dict[str, Any]], found: dict[str, list[float]]) -> dict[str, Any]:
    """The best candidate, or the present default where none is clearly better; means and worst shapes of both."""

    def mean(ratios: list[float]) -> float:
        return math.exp(sum(map(math.log, ratios)) / len(ratios))

    def over_best(number: int) -> Score:
        ratios = {shape: row[number] / min(row) for shape, row in found.items()}
        worst = max(ratios, key=lambda shape: ratios[shape])
        classes = [
            mean([ratios[f"{rows}x{columns} {dtype}"] for rows, columns in shapes for dtype in DTYPES])
            for shapes in CLASSES.values()
        ]
        return mean(list(ratios.values())), classes, ratios[worst], worst

    scores = [over_best(number) for number in range(len(candidates))]
    best = min(range(len(candidates)), key=lambda number: scores[number][0])
    by_class = zip(scores[best][1], scores[0][1], strict=True)
    better = scores[best][0] < BETTER * scores[0][0] or any(new < BETTER_IN_A_CLASS * old for new, old in by_class)
    chosen = best if better else 0
    return {
        "present": (candidates[0], scores[0]),
        "best": (candidates[best], scores[best]),
        "config": candidates[chosen],
    }


def work(options: argparse.Namespace) -> None:
    """All kernels of one architecture (in a process of its own: the architecture is that of a process)."""
    arch = options.arch[0]
    for kernel in KERNELS:
        if options.only in (None, kernel):
            candidates, found = times(arch, kernel)
            chosen = choose(candidates, found)
            for title in ("present", "best"):
                config, (mean, classes, most, shape) = chosen[title]
                cells = [arch, kernel, title, str(config), f"{mean:.3f}", *(f"{one:.3f}" for one in classes)]
                print(f"| {' | '.join(cells)} | {most:.3f} ({shape}) |", flush=True)
            if options.export:
                table = json.loads(DEFAULTS.read_text())
                table["rows"][arch][kernel] = chosen["config"]
                DEFAULTS.write_text(json.dumps(table, indent=1) + "\n")


def main() -> int:
    """A process for each architecture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=sorted(DEVICES), default=sorted(DEVICES))
    parser.add_argument("--only", choices=KERNELS)
    parser.add_argument("--export", action="store_true", help="write what is better to defaults.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    print(f"| architecture | kernel | | configuration | over the best: mean | {' | '.join(CLASSES)} | worst |")
    print(f"|---|---|---|---|---|{'---|' * len(CLASSES)}---|", flush=True)
    for arch in options.arch:
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch}
        command = [sys.executable, str(HERE / "row_defaults.py"), "--worker", "--arch", arch]
        command += ["--only", options.only] if options.only else []
        command += ["--export"] if options.export else []
        done = subprocess.run(command, env=variables, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
