#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile time of every kernel of the library, by stage, with what its code uses.

    python tools/bench/kernel_compile_time.py                       # all, one process each, in three rounds
    python tools/bench/kernel_compile_time.py --only 'flash|fp8/f32.*128x256' --rounds 5
    python tools/bench/kernel_compile_time.py --before FOLDER       # beside another version (pip install --target)
    python tools/bench/kernel_compile_time.py --list                # only the names

The kernels are those of all operators at their default configurations (`compile_cases`): elementwise, reductions, norms
with their backward passes, quantisers, rope, attention, and each GEMM that the defaults can choose. Each is compiled in
a process of its own that has imported the compiler, without a cache; nothing is launched. Times are processor time,
which other processes of the machine change less than the clock, the least of the rounds: tracing, passes of MLIR, code
generation with linking, and all of the call. A process of an uncounted round leaves byte code behind. The code is
summed up by a hash, so that two versions are seen to make the same. Spilled registers are those for which LLVM found
another place; scratch says whether that is memory, in bytes a lane, or registers of another kind (accumulation
registers, and lanes of vector registers for scalar ones).

The exit status is 1 when a kernel takes more than a second, or has registers in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MOST_SECONDS = 1.0
_ARCHES = ("gfx942", "gfx950")
_CODE_GENERATION = ("gpu-module-to-binary", "emit")


# -- in the measured process ------------------------------------------------------------------------------------------
def measure(arch: str, name: str) -> dict[str, Any]:
    """Compile one case; by each host function that it compiles, its times and what its code uses."""
    from compile_cases import all_cases

    import flydsl.compiler as flyc

    run = dict(all_cases(arch))[name]
    run()
    reports = flyc.compilation_reports()
    if not reports:
        raise SystemExit(f"{arch} {name}: nothing was compiled")
    return {report.function: _figures(report) for report in reports}


def _figures(report: Any) -> dict[str, Any]:
    from isa.code_object import images_in, kernels_of
    from isa.statistics import of_image

    stages = dict(report.processor_seconds)
    found: dict[str, Any] = {"all": sum(stages.values()), "trace": stages["trace"], "stages": stages}
    found["code generation"] = sum(stages[one] for one in _CODE_GENERATION)
    kernels, text = [], []
    for image in images_in(report.path):
        kernels += of_image(image)
        text += [f"{one.mnemonic} {one.operands}" for kernel in kernels_of(image) for one in kernel.instructions]
    loops = [one.main_loop.instructions for one in kernels if one.main_loop]
    return found | {
        "registers": max(one.vgpr_total for one in kernels), "spills": sum(one.spills for one in kernels),
        "scratch": max(one.scratch_bytes for one in kernels), "loop": max(loops, default=0),
        "bytes": sum(one.code_bytes for one in kernels), "instructions": sum(one.whole.instructions for one in kernels),
        "code": hashlib.sha256("\n".join(text).encode()).hexdigest()[:8],
    }  # fmt: skip


# -- in the measuring one ---------------------------------------------------------------------------------------------
def main() -> int:
    """Measure, print a line for each kernel, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", nargs="+", choices=_ARCHES, default=_ARCHES)
    parser.add_argument("--only", default="", help="pattern that the target and name, `gfx950 fp8 128x256`, have")
    parser.add_argument("--before", type=Path, help="folder with packages of another version, first on the path")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results there too")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return 0
    names = [
        (arch, name) for arch in options.arch for name in _names(arch) if re.search(options.only, f"{arch} {name}")
    ]
    if options.list:
        print("\n".join(" ".join(one) for one in names))
        return 0
    heads = ("target", "kernel", "trace, s", "passes", "code", "all", "loop", "registers", "spilled", "scratch", "code")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    versions = {"": None, **({", before": options.before} if options.before else {})}
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as byte_code:
        for number, (arch, name) in enumerate(names):
            for which, folder in versions.items():
                if number == 0:
                    _round(arch, name, folder, byte_code)
                rounds = [_round(arch, name, folder, byte_code) for _ in range(options.rounds)]
                for function in rounds[0]:
                    least = min((one[function] for one in rounds), key=lambda one: one["all"])
                    full = f"{arch} {name}" + f", {function}" * (len(rounds[0]) > 1) + which
                    results[full] = least
                    print(f"| {arch} | {full.removeprefix(arch).strip()} | {_line(least)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    now = {name: one for name, one in results.items() if not name.endswith(", before")}
    slow = [name for name, one in now.items() if one["all"] > MOST_SECONDS or one["scratch"]]
    print(f"{len(now)} kernels; more than {MOST_SECONDS} s, or registers in memory: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


def _names(arch: str) -> list[str]:
    from compile_cases import all_cases

    return [name for name, _ in all_cases(arch)]


def _round(arch: str, name: str, folder: Path | None, byte_code: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        variables = os.environ | {"FLYDSL_GPU_ARCH": arch, "ARCH": arch, "FLYDSL_RUNTIME_CACHE_DIR": cache}
        variables |= {"COMPILE_ONLY": "1", "PYTHONPYCACHEPREFIX": byte_code, "PYTHONDONTWRITEBYTECODE": ""}
        if folder:
            variables["PYTHONPATH"] = str(folder.resolve())
        command = [sys.executable, __file__, "--measure", arch, name]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{arch} {name}:\n{done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def _line(one: dict[str, Any]) -> str:
    others = one["all"] - one["trace"] - one["code generation"]
    cells = [f"{each:.2f}" for each in (one["trace"], others, one["code generation"], one["all"])]
    return " | ".join([*cells, *(str(one[name]) for name in ("loop", "registers", "spills", "scratch", "code"))])


if __name__ == "__main__":
    sys.exit(main())
