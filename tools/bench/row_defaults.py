#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The defaults of row kernels by class against other divisions of rows among threads, by predicted time. Nothing is
measured.

    tools/dev bench row_defaults                                  # both architectures, all kernels and classes
    tools/dev bench row_defaults --only softmax --arch gfx950 --columns 512
    tools/dev bench row_defaults --times times.json               # keep times; what is there is not predicted again
    tools/dev bench row_defaults --export                         # write the best to the defaults of fly-kernels
    tools/dev bench row_defaults --page                           # the table of docs/benchmarks/rows.md from defaults

A class is a kernel, elements of 16 or 32 bits, and a length of rows rounded up to a power of two ("row_shapes" in
`defaults.json`, `flydsl.kernels.common.row_config`). It is looked at by many rows and by few: how many there are is no
part of it, so that a row gives the same bits in any batch. Candidates are the present default, the kernel's one for all
lengths, and 4 to 64 elements a thread; where a row stays with a wave, also in workgroups of 64 and 128 threads.
What counts is the time over that of the best candidate for the shape: the geometric mean over the shapes of a class
decides. The default for all lengths stays where another one is less than 1 % better, which is less than predictions are
worth (docs/emulator/prediction.md). Candidates that divide a row alike are predicted once. A sample of the workgroups
runs, on zeros, with tensors in the Infinity Cache as far as they fit. The exit status is 1 where a present default is
more than 3 % behind the best of its class.
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
ROOT = HERE.parents[1]
DEFAULTS = ROOT / "packages" / "fly-kernels" / "src" / "flydsl" / "kernels" / "defaults.json"
PAGE = ROOT / "docs" / "benchmarks" / "rows.md"
DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}
KERNELS = (
    "softmax", "norm", "quantised_norm", "per_token_quant", "gated", "row_reduce", "argmax", "softmax_bwd", "norm_bwd",
)  # fmt: skip
COLUMNS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
ROWS = (4096, 64)  # many and few, of a class of rows
BITS = {"bf16": 16, "f32": 32}
ELEMENTS = (4, 8, 16, 32, 64)
BLOCKS = (None, 64, 128)  # of workgroups whose rows stay with a wave each
WAVE, VECTOR_BYTES = 64, 16
BETTER, WITHIN = 0.99, 1.03

Times = dict[str, dict[str, float]]
"""By shape and configuration, predicted microseconds."""


def candidates(columns: int, bits: int, usual: dict[str, Any]) -> list[dict[str, Any]]:
    """Configurations for rows of that length, `usual` first: what it holds and streams stays as it is."""
    kept = {name: value for name, value in usual.items() if name in ("held", "unroll", "single")}
    found = [usual]
    for elements in ELEMENTS:
        if elements * bits // 8 < VECTOR_BYTES or elements > kept.get("held", 64):
            continue
        shares = columns <= WAVE * elements and not kept.get("single")
        found += [
            {"elements": elements, **kept, **({"block": one} if one else {})} for one in BLOCKS if shares or not one
        ]
    return found


def launches(kernel: str, rows: int, columns: int, dtype: str) -> Callable[[Any], None]:
    """What launches the kernel on such a problem with a `RowConfig`."""
    import torch

    from flydsl.kernels.elementwise.argmax_kernel import build_argmax_module
    from flydsl.kernels.elementwise.gated_kernel import build_gated_module
    from flydsl.kernels.elementwise.row_reduce_kernel import build_row_reduce_module
    from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_two_stage_module
    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_dynamicquant_module, build_rmsnorm_module
    from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module
    from flydsl.kernels.norm.softmax_kernel import build_softmax_module
    from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

    kind = {"bf16": torch.bfloat16, "f32": torch.float32}[dtype]
    x, y, dy = (torch.zeros(rows, columns, dtype=kind) for _ in range(3))
    gamma, scale = torch.zeros(columns, dtype=kind), torch.zeros(rows)
    codes = torch.empty(rows, columns, dtype=torch.int8)
    if kernel == "softmax":
        return lambda config: build_softmax_module(columns, dtype, config)(x, y, rows)
    if kernel == "softmax_bwd":
        return lambda config: build_softmax_bwd_module(columns, dtype, config)(dy, x, y, rows)
    if kernel == "norm":
        return lambda config: build_rmsnorm_module(columns, dtype, config=config)(x, gamma, y, rows)
    if kernel == "quantised_norm":
        build = build_rmsnorm_dynamicquant_module
        return lambda config: build(columns, dtype, config=config)(x, gamma, codes, scale, rows)
    if kernel == "norm_bwd":
        programs = min(rows, 1024)
        sums, partial = torch.zeros(columns), torch.zeros(programs * columns)
        return lambda config: build_rmsnorm_bwd_two_stage_module(columns, dtype, programs, config=config)(
            x, gamma, dy, scale, y, sums, partial, rows
        )
    if kernel == "per_token_quant":
        return lambda config: build_per_token_quant_module(columns, dtype, "int8", config)(x, codes, scale, rows)
    if kernel == "gated":
        pairs = torch.zeros(rows, 2 * columns, dtype=kind)
        return lambda config: build_gated_module(columns, dtype, "silu", config)(pairs, y, rows)
    if kernel == "row_reduce":
        return lambda config: build_row_reduce_module(columns, dtype, "sum", "f32", config)(x, scale, rows)
    index = torch.empty(rows, dtype=torch.int32)
    return lambda config: build_argmax_module(columns, dtype, config)(x, index, rows)


def predict_all(
    arch: str, kernel: str, rows: int, columns: int, dtype: str, configs: list[dict[str, Any]], known: Times
) -> dict[str, float]:
    """The predicted microseconds of each configuration, by its JSON."""
    from flydsl.emulator import predict
    from flydsl.kernels.common.row_plan import RowConfig, plan_rows

    times = known.setdefault(f"{arch} {kernel} {rows}x{columns} {dtype}", {})
    run = None
    alike: dict[Any, float] = {}
    for candidate in configs:
        config, name = RowConfig(**candidate), json.dumps(candidate)
        plan = plan_rows(columns, BITS[dtype], config)
        if name not in times:
            if plan not in alike:
                run = run or launches(kernel, rows, columns, dtype)
                with predict(DEVICES[arch], sampled=True, warm=True) as session:
                    run(config)
                alike[plan] = round(session.seconds * 1e6, 4)
            times[name] = alike[plan]
        alike.setdefault(plan, times[name])
    return {json.dumps(one): times[json.dumps(one)] for one in configs}


def mean(ratios: list[float]) -> float:
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def look(arch: str, kernel: str, columns: int, dtype: str, known: Times) -> tuple[dict[str, Any], bool]:
    """The finding of a class, and whether its present default is too far off."""
    from flydsl.kernels.common.defaults import load
    from flydsl.kernels.common.row_plan import RowConfig

    table = load(DEFAULTS.read_text())
    usual, bits = table["rows"][arch][kernel], BITS[dtype]
    present = usual
    for one in table["row_shapes"][arch]:
        if (one["kernel"], one["bits"], one["columns"]) == (kernel, bits, columns):
            present = {**usual, **one.get("config", {})}
    configs = []
    for one in [usual, present, *candidates(columns, bits, usual)]:
        if RowConfig(**one) not in [RowConfig(**other) for other in configs]:
            configs.append(one)
    ratios: dict[str, list[float]] = {}
    cells = []
    for rows in ROWS:
        times = predict_all(arch, kernel, rows, columns, dtype, configs, known)
        best = min(times.values())
        cells.append(f"{times[json.dumps(usual)]:.2f} | {times[json.dumps(present)]:.2f} | {best:.2f}")
        for name, time in times.items():
            ratios.setdefault(name, []).append(time / best)
    scores = {name: mean(of) for name, of in ratios.items()}
    best_name = min(scores, key=lambda name: scores[name])
    chosen = best_name if scores[best_name] < BETTER * scores[json.dumps(usual)] else json.dumps(usual)
    behind = scores[json.dumps(present)] / scores[best_name]
    print(f"| {arch} | {kernel} | {columns} {dtype} | {len(configs)} | {' | '.join(cells)} | {behind:.3f} | "
          f"`{json.dumps(present)}` | `{best_name}` |", flush=True)  # fmt: skip
    rounded = {name: [round(one, 3) for one in of] for name, of in ratios.items()}
    differs = {name: value for name, value in json.loads(chosen).items() if usual.get(name) != value}
    assert {**usual, **differs} == json.loads(chosen), "a row says what is added to the kernel's own, or changed"
    finding: dict[str, Any] = {"kernel": kernel, "bits": bits, "columns": columns}
    if differs:
        finding |= {"config": differs, "over_best": rounded[chosen], "rows_over_best": rounded[json.dumps(usual)]}
    else:
        finding["over_best"] = rounded[chosen]
    return finding, behind > WITHIN


def export(arch: str, finding: dict[str, Any]) -> None:
    """Put the configuration of a class into the defaults of fly-kernels, for review."""
    from flydsl.emulator.predicting import prediction_model
    from flydsl.kernels.common.defaults import dump, load

    def key(one: dict[str, Any]) -> tuple[str, int, int]:
        return one["kernel"], one["bits"], one["columns"]

    table = load(DEFAULTS.read_text())
    others = [one for one in table["row_shapes"][arch] if key(one) != key(finding)]
    entry = {**finding, "model": prediction_model()}
    table["row_shapes"][arch] = sorted([*others, entry], key=key)
    DEFAULTS.write_text(dump(table))


def work(options: argparse.Namespace) -> int:
    """One architecture (in a process of its own: the architecture is that of a process)."""
    arch, missed = options.arch[0], 0
    known: Times = json.loads(options.times.read_text()) if options.times and options.times.exists() else {}
    for kernel in options.only:
        for columns in options.columns:
            for dtype in BITS:
                finding, off = look(arch, kernel, columns, dtype, known)
                missed += off
                if options.times:
                    options.times.write_text(json.dumps(known, indent=1) + "\n")
                if options.export:
                    export(arch, finding)
    return 1 if missed else 0


def page() -> None:
    """Write the table of the page, of what the defaults say."""
    from flydsl.kernels.common.defaults import load

    table = load(DEFAULTS.read_text())
    lines = [
        "| architecture | kernel | bits | columns | configuration | over the best, 4096 rows | 64 rows "
        "| all lengths' default, 4096 rows | 64 rows |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for arch, found in table["row_shapes"].items():
        for one in found:
            if "config" not in one:
                continue
            cells = [arch, one["kernel"], one["bits"], one["columns"]]
            config = {**table["rows"][arch][one["kernel"]], **one["config"]}
            cells.append(", ".join(f"{name} {value}" for name, value in config.items()))
            cells += [f"{ratio:.3f}" for ratio in (*one["over_best"], *one["rows_over_best"])]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    for arch, found in table["row_shapes"].items():
        if found:
            now = [ratio for one in found for ratio in one["over_best"]]
            before = [ratio for one in found for ratio in one.get("rows_over_best", one["over_best"])]
            changed = sum("config" in one for one in found)
            lines += [
                "",
                f"{arch}: {len(found)} classes, {changed} with a default of their own. Over the best of the candidates "
                f"for {len(now)} shapes: mean {mean(now):.3f}, worst {max(now):.3f}; with one default for all lengths "
                f"{mean(before):.3f} and {max(before):.3f}.",
            ]
    text = PAGE.read_text()
    begin, end = "<!-- defaults -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    PAGE.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1])


def main() -> int:
    """A process for each architecture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=sorted(DEVICES), default=sorted(DEVICES))
    parser.add_argument("--only", nargs="+", choices=KERNELS, default=list(KERNELS), metavar="KERNEL")
    parser.add_argument("--columns", nargs="+", type=int, choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--times", type=Path, metavar="PATH", help="where times are kept, and taken from")
    parser.add_argument("--export", action="store_true", help="write what is better to defaults.json")
    parser.add_argument("--page", action="store_true", help="predict nothing: write the page of what the defaults say")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    if options.page:
        page()
        return 0
    print("| architecture | kernel | columns | configurations | 4096 rows: all lengths' default, us | present | best "
          "| 64 rows | present | best | present / best | present | best |")  # fmt: skip
    print(f"|{'---|' * 13}", flush=True)
    status = 0
    for arch in options.arch:
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch}
        command = [sys.executable, str(HERE / "row_defaults.py"), "--worker", *sys.argv[1:], "--arch", arch]
        status = max(status, subprocess.run(command, env=variables, check=False).returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())
