#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What launches of the kernel library do, beside Triton's, and what its code holds, beside a peer's; no time.

    tools/dev bench kernels --triton-venv build/bench-triton --peer-isa peer-isa.json
    tools/dev bench kernels --only "attention" --arch gfx950 --no-page      # a part, printed only

Emulated: for each case our kernel and Triton's (plain sources in triton_kernels/; the best of a few block sizes) run on
the same emulator in the same run, on the same tensors, into poisoned outputs, and both results are checked. Counted
are issue cycles (all waves together, LLVM's scheduling model), bytes and transactions to memory, and bank conflicts of
LDS. Time is predicted by predicted.py and row_times.py, compile time measured by kernel_compile_time.py.

Static: what our kernels compile to, beside the peer's figures in the file of `--peer-isa` (without it that part is left
out). `--isa-stats` names another tool that prints such figures for a code object as JSON; its numbers and ours have to
agree on every code object of the run.

The Triton environment is made when it is not there (triton from the Python index). Results go to docs/benchmarks/:
kernels.md and kernels.json. The exit status is 1 when a result is wrong or the tools disagree;
a target that is missed is on the page, and printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ARCHITECTURES = ("gfx942", "gfx950")
TRITON = "triton==3.9.0"
_TIMEOUT = 3600


def make_triton(folder: Path) -> Path:
    """The Python of the environment with Triton, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", TRITON], check=True)
    return python


def run_architecture(arch: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All cases of one architecture, in a process of its own: the architecture is that of a process."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, str(HERE / "kernels.py"), "--worker", str(result), "--arch", arch]
        for name in ("only", "triton_venv", "isa_stats"):
            value = getattr(options, name)
            if value is not None:
                command += [f"--{name.replace('_', '-')}", str(value)]
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"}
        done = subprocess.run(command, env=variables, check=False, timeout=_TIMEOUT)
        if done.returncode:
            raise SystemExit(f"the measurements for {arch} failed")
        values: list[dict[str, Any]] = json.loads(result.read_text())
        return values


def work(options: argparse.Namespace) -> None:
    """Measure the cases of one architecture (in the process that `run_architecture` starts)."""
    from isa.check import differences
    from kernel_cases import all_cases, measure

    arch = options.arch[0]
    cases = [case for case in all_cases(arch) if re.search(options.only, case.name)]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        answers: list[dict[str, Any]] = []
        if options.triton_venv is not None:
            requests = [kernel.request(arch) for case in cases for kernel in case.triton]
            answers = measure.build_triton(options.triton_venv / "bin" / "python", requests, Path(folder))
        for case in cases:
            entry: dict[str, Any] = {
                "arch": arch,
                "operation": case.operation,
                "dtype": case.dtype,
                "shape": case.shape,
                "settings": case.settings,
                "least_bytes": case.least_bytes,
                "peer": None if case.peer is None else f"{case.peer}@{arch}",
                "ours": measure.ours(case),
            }
            if case.peer is not None:
                launch, arguments = case.peer_build() if case.peer_build else (case.build(), case.arguments)
                statistics, image = measure.static_of(launch, arguments)
                entry["peer_shape"] = {"static": [one.to_dict() for one in statistics]}
                if options.isa_stats is not None:
                    entry["differences"] = differences(image, options.isa_stats)
            if answers:
                mine, answers = answers[: len(case.triton)], answers[len(case.triton) :]
                entry["triton"] = measure.triton(case, mine)
            results.append(entry)
            print(_line(case.name, arch, entry), flush=True)
    Path(options.worker).write_text(json.dumps(results))


def _line(name: str, arch: str, entry: dict[str, Any]) -> str:
    """One line of progress."""
    mine, other = entry["ours"], entry.get("triton") or {}
    beside = f", Triton's {other['issue_cycles']:,}" if "issue_cycles" in other else ""
    return f"{arch} {name}: {mine['issue_cycles']:,} issue cycles{beside}, error {mine['error']:.2f} of the tolerance"


def main() -> int:
    """Measure, write, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES))
    parser.add_argument("--only", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--triton-venv", type=Path, metavar="DIR", help="environment with Triton; made if missing")
    parser.add_argument("--peer-isa", type=Path, metavar="PATH", help="the peer's static figures (JSON)")
    parser.add_argument(
        "--isa-stats", type=Path, metavar="PATH", help="another tool to compare the static figures with"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "benchmarks", metavar="DIR", help="where results go"
    )
    parser.add_argument("--no-page", action="store_true", help="print only, write nothing")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    if options.triton_venv is not None:
        options.triton_venv = options.triton_venv.resolve()
        make_triton(options.triton_venv)
    if options.isa_stats is not None:
        options.isa_stats = options.isa_stats.resolve()
    results = [entry for arch in options.arch for entry in run_architecture(arch, options)]
    peer = json.loads(options.peer_isa.read_text()) if options.peer_isa else {}

    from kernel_report import page, summary

    found = summary.summarise(results, peer)
    print("\n".join(found.lines))
    if not options.no_page:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "kernels.json").write_text(json.dumps(found.rows, indent=1) + "\n")
        (options.out / "kernels.md").write_text(page.render(found))
        print(f"written: {options.out}")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
