#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compiling straight code costs as it gets longer: processor time by kind and number of unrolled operations.

    python tools/bench/unrolled.py                                 # up to 20,000 operations: two minutes
    python tools/bench/unrolled.py --operations 5000 100000        # these
    python tools/bench/unrolled.py --kinds memory --stages         # with the dearest stages

Kinds: a chain of arithmetic; 64 independent chains; elements scaled in place at uniform addresses; loads, a product and
stores per lane; copies of 16 bytes; LDS; branches that choose a value; branches around stores.

Every figure is of a process of its own, with an empty cache, for gfx942; nothing is launched. `per step` is the time
for an operation beside that of the row before: about 1 where the time is linear. Linkers that were started count. What
takes longer than `--limit` seconds is ended, and said to be so; longer code of that kind is not tried.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KINDS = ("arithmetic", "wide", "memory", "streams", "copies", "lds", "branches", "stores")
ARCH = "gfx942"


def measure(kind: str, operations: int) -> dict[str, Any]:
    """Compile one kernel of `kind`."""
    import torch
    from compile_time import processor_time

    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.kernel
    def arithmetic(x: fx.Tensor, y: fx.Tensor):
        value = x[fx.thread_idx.x]
        for i in fx.range_constexpr(operations // 2):
            value = value * value + fx.Float32(1.0 + i)
        y[fx.thread_idx.x] = value

    @flyc.kernel
    def memory(x: fx.Tensor, y: fx.Tensor):
        for i in fx.range_constexpr(operations // 2):
            x[i] = x[i] * 2.0

    @flyc.kernel
    def copies(x: fx.Tensor, y: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        source, target = (fx.logical_divide(one, fx.make_layout(4, 1)) for one in (x, y))
        for i in fx.range_constexpr(operations // 2):
            registers = fx.make_rmem_tensor(4, fx.Float32)
            fx.copy(atom, fx.slice(source, (None, fx.thread_idx.x + 64 * i)), registers)
            fx.copy(atom, registers, fx.slice(target, (None, fx.thread_idx.x + 64 * i)))

    @flyc.kernel
    def wide(x: fx.Tensor, y: fx.Tensor):
        values = [x[fx.thread_idx.x + 64 * i] for i in range(64)]
        for i in fx.range_constexpr(operations // 2):
            values[i % 64] = values[i % 64] * values[(i + 1) % 64] + fx.Float32(1.0 + i)
        for i in fx.range_constexpr(64):
            y[fx.thread_idx.x + 64 * i] = values[i]

    @flyc.kernel
    def streams(x: fx.Tensor, y: fx.Tensor):
        lane = fx.thread_idx.x
        for i in fx.range_constexpr(operations // 2):
            y[lane + 64 * i] = x[lane + 64 * i] * 2.0

    @flyc.kernel
    def lds(x: fx.Tensor, y: fx.Tensor):
        lane = fx.thread_idx.x
        values = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4096]).peek()
        values[lane] = x[lane]
        total = fx.Float32(0.0)
        for i in fx.range_constexpr(operations // 4):
            if i % 16 == 0:
                fx.barrier()
            total = total + values[lane ^ (i % 64)]
            values[lane + 64 * (1 + i % 63)] = total
        y[lane] = total

    @flyc.kernel
    def branches(x: fx.Tensor, y: fx.Tensor):
        value = x[fx.thread_idx.x]
        for i in fx.range_constexpr(operations // 2):
            if value > fx.Float32(1.0 + i):
                value = value * 0.5
        y[fx.thread_idx.x] = value

    @flyc.kernel
    def stores(x: fx.Tensor, y: fx.Tensor):
        value = x[fx.thread_idx.x]
        for i in fx.range_constexpr(operations // 2):
            if value > fx.Float32(1.0 + i):
                y[fx.thread_idx.x + 64 * i] = value

    kernels = (arithmetic, wide, memory, streams, copies, lds, branches, stores)
    kernel = dict(zip(KINDS, kernels, strict=True))[kind]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1, 1, 1), block=(64, 1, 1))

    start = processor_time()
    flyc.compile.only(launch, torch.zeros(1 << 20), torch.zeros(1 << 20))
    return {"seconds": processor_time() - start, "stages": dict(flyc.compilation_reports()[-1].processor_seconds)}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, nargs="+", default=[1000, 5000, 20000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--stages", action="store_true", help="print the three dearest stages too")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that one compilation may take (default: 60)")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], int(options.measure[1]))))
        return 0
    from peer_environment import run_json

    print(f"{'kind':<12}{'operations':>12}{'seconds':>10}{'us / op':>10}{'per step':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in options.kinds:
            before = None
            for operations in options.operations:
                cache = {"COMPILE_ONLY": "1", "FLYDSL_RUNTIME_CACHE_DIR": f"{scratch}/{kind}-{operations}"}
                variables = {**os.environ, **cache, "ARCH": ARCH, "FLYDSL_GPU_ARCH": ARCH}
                arguments = ["--measure", kind, str(operations)]
                try:
                    found = run_json(sys.executable, Path(__file__), arguments, variables, timeout=options.limit)
                except subprocess.TimeoutExpired:
                    print(f"{kind:<12}{operations:>12,}  more than {options.limit:g} s by the clock", flush=True)
                    break
                each = found["seconds"] / operations
                step = f"{each / before:.2f}" if before else ""
                print(f"{kind:<12}{operations:>12,}{found['seconds']:>10.2f}{each * 1e6:>10.1f}{step:>10}", flush=True)
                if options.stages:
                    dearest = sorted(found["stages"].items(), key=lambda one: -one[1])[:3]
                    print(" " * 12 + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in dearest))
                before = each
    return 0


if __name__ == "__main__":
    sys.exit(main())
