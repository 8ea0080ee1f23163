#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The emulator against another version of itself: the same kernels in both, by turns, and the same bits.

    python tools/bench/emulator_before.py FOLDER            # FOLDER: a wheel of fly-emulator, unpacked
    python tools/bench/emulator_before.py FOLDER --rounds 8 --only valu

A process has one of the two libraries. They take turns, and what counts is the least CPU time of all runs of a kernel:
other work on the machine makes runs longer, never shorter. The exit status is 1 where results differ, or where the
geometric mean over the classes of instructions is more than 3 % slower than before.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 256  # of the product, and rows of the softmax
MOST = 1.03
WHOLE = ("product", "softmax")


def images(folder: Path, arch: str, only: str) -> None:
    """The code objects: a class of instructions each, and two whole kernels."""
    import emulator as bench
    from assembly import kernel_f

    for name in bench.CLASSES:
        code = bench.class_code(name)
        text = kernel_f(code, arch, lds=16384, vgprs=64)
        (folder / f"{name}.hsaco").write_bytes(bench.compile_object(text, arch, ".s"))
    device = (bench.DATA / "device.h").read_text()
    kernels = (device + (bench.DATA / "kernels.c").read_text(), device + bench.SOFTMAX)
    for name, source in zip(WHOLE, kernels, strict=True):
        (folder / f"{name}.hsaco").write_bytes(bench.compile_object(source, arch, ".c", "-O2"))
    for path in folder.glob("*.hsaco"):
        if only not in path.stem:
            path.unlink()


def launch_of(name: str, module: Any) -> tuple[Any, Any]:
    """A function that runs the kernel, and its result."""
    rng = np.random.default_rng(0)
    if name == "product":
        a, b = (rng.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
        out = np.zeros((SIZE, SIZE), np.float32)
        sizes = [ctypes.c_int32(SIZE)] * 3
        kernel = module.kernel("gemm_f16")
        return lambda: kernel((SIZE // 64, SIZE // 64), 256, a, b, out, *sizes), out
    if name == "softmax":
        x = (rng.standard_normal((SIZE, 8192)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        y = np.zeros_like(x)
        kernel = module.kernel("softmax_bf16")
        return lambda: kernel(SIZE, 256, x, y), y
    x, y = np.zeros((2, 1 << 16), np.uint32)
    kernel = module.kernel("f")
    return lambda: kernel(16, 256, x, y), y


def measure(folder: Path, arch: str, times: int) -> None:
    """In a process of one of the versions: seconds, and a hash of the result, of each kernel."""
    from flydsl.emulator.device import Emulator

    emulator = Emulator()
    emulator.set_devices(arch)
    found = {}
    for path in sorted(folder.glob("*.hsaco")):
        module = emulator.load(path.read_bytes())
        run, result = launch_of(path.stem, module)
        run()
        digest, least = hashlib.sha256(result.tobytes()).hexdigest(), float("inf")
        for _ in range(times):
            begin = time.process_time()
            run()
            least = min(least, time.process_time() - begin)
        found[path.stem] = (least, digest)
        module.unload()
    print(json.dumps(found))


def main() -> int:
    """Measure both by turns, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="folder with the other version's flydsl/emulator")
    parser.add_argument("--arch", default="gfx942", choices=("gfx942", "gfx950"))
    parser.add_argument("--rounds", type=int, default=6, help="processes of each version")
    parser.add_argument("--times", type=int, default=5, help="runs of a kernel in a process")
    parser.add_argument("--only", default="", help="kernels whose name has this in it")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        measure(options.child, options.arch, options.times)
        return 0
    if not (options.before / "flydsl/emulator").is_dir():
        parser.error(f"{options.before} has no flydsl/emulator: unpack a wheel of fly-emulator there")
    old = {key: value for key, value in os.environ.items() if key != "FLYDSL_EMULATOR_LIBRARY"}
    versions = {"before": {**old, "PYTHONPATH": str(options.before)}, "now": dict(os.environ)}
    seconds: dict[str, dict[str, float]] = {one: {} for one in versions}
    digests: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        images(Path(scratch), options.arch, options.only)
        command = [sys.executable, __file__, str(options.before), "--arch", options.arch, "--child", scratch,
                   "--times", str(options.times)]  # fmt: skip
        for turn in range(options.rounds):
            for one in versions if turn % 2 == 0 else reversed(versions):
                done = subprocess.run(command, env=versions[one], check=True, capture_output=True, text=True)
                for name, (least, digest) in json.loads(done.stdout).items():
                    seconds[one][name] = min(least, seconds[one].get(name, least))
                    digests.setdefault(name, set()).add(digest)
    ratios = {name: seconds["now"][name] / seconds["before"][name] for name in digests}
    print(f"emulated {options.arch}: least CPU time of {options.rounds * options.times} runs, in ms")
    for name, ratio in ratios.items():
        other = "" if len(digests[name]) == 1 else "  OTHER BITS"
        print(f"{name:20} before {1e3 * seconds['before'][name]:8.2f}  now {1e3 * seconds['now'][name]:8.2f}"
              f"  of the time before {ratio:.3f}{other}")  # fmt: skip
    classes = [ratio for name, ratio in ratios.items() if name not in WHOLE]
    mean = float(np.exp(np.mean(np.log(classes)))) if classes else 1.0
    print(f"classes of instructions, geometric mean: {mean:.3f} of the time before (at most {MOST})")
    return 1 if mean > MOST or any(len(one) > 1 for one in digests.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
