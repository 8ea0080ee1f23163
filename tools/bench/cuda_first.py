#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first call of operators on an NVIDIA GPU with nothing cached: our compiler and the driver's, each in a process.

    python3 cuda_first.py first.json     # on the GPU, with our wheels; tools/dev bench cuda page … --first first.json

A process imports torch and `flydsl.kernels`, makes its tensors and a context, and then calls one operator once: from
the call to the end of its kernel. Each has a disk cache of its own, which is empty, and CUDA_CACHE_DISABLE=1, so that
the driver compiles too. Of `ROUNDS` such processes the middle one stands, with the least and the most, behind one that
is not counted. A second figure is that of the first call of an operator in a process that has called another one. The
host's speed stands beside them, as the time of a loop of Python: hosts differ by 2, and one from itself too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5
TURNS = 1_000_000  # of the loop that tells how fast the host is
OPERATORS = ("softmax", "gemm bf16", "attention, causal")


def _call(name: str) -> Callable[[], Any]:
    """A call of an operator with tensors that are there."""
    import torch

    import flydsl.kernels as fk

    def some(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda").to(torch.bfloat16)

    if name == "softmax":
        x = some(1024, 4096)
        return lambda: fk.softmax(x)
    if name == "gemm bf16":
        a, b = some(4096, 4096), some(4096, 4096)
        return lambda: fk.gemm(a, b)
    q, k, v = (some(2, 2048, 16, 128) for _ in range(3))
    return lambda: fk.flash_attention(q, k, v, causal=True)


def _seconds(call: Callable[[], Any]) -> float:
    import torch

    torch.cuda.synchronize()
    started = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def _loop() -> float:
    """Seconds of a loop of Python."""
    started = time.perf_counter()
    total = 0
    for turn in range(TURNS):
        total += turn
    return time.perf_counter() - started


def one(name: str, before: str | None) -> dict[str, float]:
    """Seconds of the first call and of the second one in this process, and of parts of the first.

    The call begins with importing the compiler, which is done here to be timed.
    """
    import torch

    import flydsl.kernels

    torch.zeros(1, device="cuda")
    assert flydsl.kernels.__name__
    if before is not None:
        _call(before)()
    call = _call(name)
    loop = _loop()
    torch.cuda.synchronize()
    started = time.perf_counter()
    from flydsl.kernels.common.language import flyc

    reports = flyc.compilation_reports
    imported = time.perf_counter() - started
    first = imported + _seconds(call)
    report = reports()[-1]
    return {
        "first": first, "second": _seconds(call), "imports": imported, "trace": report.seconds["trace"],
        "compiler": report.total, "loop": loop, "dynamo": float("torch._dynamo" in sys.modules),
    }  # fmt: skip


def _apart(*arguments: str) -> dict[str, Any]:
    """`one` in a new process without caches."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {**os.environ, "CUDA_CACHE_DISABLE": "1", "FLYDSL_RUNTIME_CACHE_DIR": cache}
        command = [sys.executable, __file__, "--one", *arguments]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(results: Path) -> int:
    """Measure all, and write them."""
    found: dict[str, Any] = {}
    _apart(OPERATORS[0])
    for name in OPERATORS:
        before = OPERATORS[1] if name == OPERATORS[0] else OPERATORS[0]
        some = sorted((_apart(name) for _ in range(ROUNDS)), key=lambda times: times["first"])
        least, most = some[0]["first"], some[-1]["first"]
        after = _apart(name, before)["first"]
        found[name] = {**some[ROUNDS // 2], "least": least, "most": most, "after another": after}
        print(name, {key: round(value, 3) for key, value in found[name].items()}, flush=True)
    results.write_text(json.dumps(found, indent=1))
    return 0


def main() -> int:
    """All operators, or one of them in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--one", nargs="+", metavar="OPERATOR", help="in this process, and one that is called before")
    options = parser.parse_args()
    if options.one:
        name, *before = options.one
        print(json.dumps(one(name, before[0] if before else None)))
        return 0
    if options.results is None:
        parser.error("where do the results go?")
    return run(options.results)


if __name__ == "__main__":
    sys.exit(main())
