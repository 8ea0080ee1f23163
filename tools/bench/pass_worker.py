#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run passes over the IR of one kernel, and print what each took as JSON; for tools/bench/pass_times.py.

    python tools/bench/pass_worker.py KERNEL.mlir PASSES.json

It needs the MLIR bindings `flydsl._mlir` of one compiler and nothing else of it. The text is parsed into a new context
each time; a first time is not counted. Parsing is not timed. Threads and the verifier between the passes are off. A
pass that the compiler does not have is left out and named.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager

TIMES = 3


def first_error(error: Exception) -> str:
    """The first line of an MLIR error that says something: without the heading of the Python bindings."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if "error:" in line), lines[0])


def run_once(text: str, passes: list[dict[str, str]]) -> dict[str, Any]:
    """Seconds of processor time by pass, the passes that are missing, and why it ended early, if it did."""
    seconds: dict[str, float] = {}
    missing: list[str] = []
    context = ir.Context()
    context.enable_multithreading(False)
    with context, ir.Location.unknown():
        context.load_all_available_dialects()
        try:
            module = ir.Module.parse(text)
        except Exception as error:  # the bindings of different versions raise different classes
            return {"seconds": seconds, "missing": missing, "failed": ["parser and verifier", first_error(error)]}
        for one in passes:
            try:
                manager = PassManager.parse(f"builtin.module({one['text']})")
            except ValueError as error:
                if "registered pass" not in str(error):
                    return {"seconds": seconds, "missing": missing, "failed": [one["name"], first_error(error)]}
                missing.append(one["name"])
                continue
            manager.enable_verifier(False)
            start = time.process_time()
            try:
                manager.run(module.operation)
            except Exception as error:
                return {"seconds": seconds, "missing": missing, "failed": [one["name"], first_error(error)]}
            seconds[one["name"]] = time.process_time() - start
        try:
            module.operation.verify()
        except Exception as error:
            return {"seconds": seconds, "missing": missing, "failed": ["verifier of the result", first_error(error)]}
    return {"seconds": seconds, "missing": missing, "failed": None}


def main() -> int:
    """Measure and print."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    passes = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(json.dumps([run_once(text, passes) for _ in range(TIMES + 1)][1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
