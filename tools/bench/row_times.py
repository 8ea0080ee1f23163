#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Row kernels in predicted time (docs/emulator/prediction.md), beside Triton's in the same run. Nothing is measured.

    tools/dev run python tools/bench/row_times.py --triton-venv build/bench-triton
    tools/dev run python tools/bench/row_times.py --only "rmsnorm bf16" --rows 64 4096 --arch gfx950

For softmax, LayerNorm, RMSNorm, quantisation and rope (the cases of kernel_cases) and for each number of rows: the
predicted microseconds of our kernel and of the fastest of Triton's candidates (tile, warps), their ratio, vector
registers and waves a SIMD of both. Predictions run a sample of the workgroups; that results are right is checked by
tools/bench/kernels.py, which runs the same kernels in full. The last line has the median and the worst ratio.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}


def predicted(arch: str, run: Callable[[], Any]) -> Any:
    """The last prediction of what `run` launches."""
    from flydsl.emulator import predict

    with predict(DEVICES[arch], sampled=True) as session:
        run()
    return session.last


def occupancy(prediction: Any) -> int:
    """Waves a SIMD."""
    waves: int = prediction.data["occupancy"]["waves_per_simd"]
    return waves


def triton_of(arch: str, case: Any, answers: list[dict[str, Any]]) -> tuple[Any, str, int] | None:
    """The fastest candidate's prediction, its choice and its registers."""
    from isa.statistics import of_image
    from kernel_cases import measure

    from flydsl.emulator.device import Emulator, EmulatorError

    best = None
    for candidate, answer in zip(case.triton, answers, strict=True):
        if "error" in answer:
            continue
        image = Path(answer["image"]).read_bytes()
        figures = of_image(image)
        module = Emulator().load(image)
        kernel = module.kernel(answer["name"])
        passed = [*candidate.passed(), *measure._scratch(len(figures), image, len(candidate.arguments))]
        try:
            one = predicted(
                arch,
                lambda: kernel(candidate.grid, 64 * answer["warps"], *passed, lds=answer["shared"]),  # noqa: B023
            )
        except EmulatorError:
            continue
        finally:
            module.unload()
        if best is None or one.seconds < best[0].seconds:
            best = one, candidate.text(), figures[0].vgpr
    return best


def work(options: argparse.Namespace) -> None:
    """All cases of one architecture (in a process of its own)."""
    from kernel_cases import measure, quant, rope, rows

    arch, ratios = options.arch[0], []
    for count in options.rows:
        rows.ROWS = quant.ROWS = rope.TOKENS = count
        cases = [case for family in (rows, quant, rope) for case in family.cases(arch)]
        for case in cases:
            if not re.search(options.only, case.name):
                continue
            figures, _ = measure.static_of(case.build(), case.arguments)
            launch = case.build()
            mine = predicted(arch, lambda: launch(*case.arguments))  # noqa: B023
            line = f"{arch} {case.name}: {mine.seconds * 1e6:.2f} us by {mine.bound}"
            line += f", {figures[0].vgpr} registers, {occupancy(mine)} waves a SIMD"
            if options.triton_venv is not None:
                with tempfile.TemporaryDirectory() as folder:
                    requests = [one.request(arch) for one in case.triton]
                    python = options.triton_venv / "bin" / "python"
                    best = triton_of(arch, case, measure.build_triton(python, requests, Path(folder)))
                if best is not None:
                    other, choice, registers = best
                    ratios.append(mine.seconds / other.seconds)
                    line += f" | Triton ({choice}) {other.seconds * 1e6:.2f} us"
                    line += f", {registers} registers, {occupancy(other)} waves | ratio {ratios[-1]:.2f}"
            print(line, flush=True)
    if ratios:
        print(f"{arch}: {len(ratios)} ratios, median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}")


def main() -> int:
    """Start a process for each architecture: it is that of a process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=sorted(DEVICES), default=sorted(DEVICES))
    parser.add_argument("--only", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--rows", nargs="+", type=int, default=[64, 4096], help="rows (of rope: tokens)")
    parser.add_argument("--triton-venv", type=Path, metavar="DIR", help="environment with Triton; made if missing")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    if options.triton_venv is not None:
        from kernels import make_triton

        make_triton(options.triton_venv)
    for arch in options.arch:
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"}
        command = [sys.executable, str(HERE / "row_times.py"), "--worker", "--arch", arch, "--only", options.only]
        command += ["--rows", *map(str, options.rows)]
        command += ["--triton-venv", str(options.triton_venv)] if options.triton_venv else []
        done = subprocess.run(command, env=variables, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
