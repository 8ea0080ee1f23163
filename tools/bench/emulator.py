#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the emulator is: wave instructions per second by class, whole kernels, and the start of a process.

    python tools/bench/emulator.py                  # tables; the exit status is 1 when a target is missed
    python tools/bench/emulator.py --json figures.json
    python tools/bench/emulator_before.py FOLDER    # against another version of itself

Needs fly-emulator, numpy and clang-22. Targets, on two cores: a 1024^3 f16 GEMM with matrix instructions in under 2 s,
a bf16 softmax over 1024 x 8192 in under 0.5 s, the start of a process that runs a kernel on the emulator under 50 ms
more than that of the same process without it.

There is no other emulator of gfx942 or gfx950 to measure against that can be had from a package index. What can be had
is numpy, which computes the same on the same CPU in the same run: its time stands beside the two kernels to show the
scale, as the price of emulation. A figure is the median over the repetitions, the spread the distance between its
quartiles.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flydsl.emulator import library_path, profile
from flydsl.emulator.device import Emulator, Module

DATA = Path(__file__).resolve().parents[1] / "fly-emulator" / "tests" / "data"
sys.path.insert(0, str(DATA.parent))

CLASSES = {
    "salu": "s_add_u32 s{a}, s{a}, s{b}",
    "valu f32": "v_fma_f32 v{a}, v{b}, v{a}, v{a}",
    "valu i32": "v_add_u32 v{a}, v{b}, v{a}",
    "valu f64": "v_fma_f64 v[{d}:{e}], v[{d}:{e}], v[{d}:{e}], v[{d}:{e}]",
    "valu packed f16": "v_pk_fma_f16 v{a}, v{b}, v{a}, v{a}",
    "valu dpp": "v_add_f32_dpp v{a}, v{b}, v{a} row_shr:1 row_mask:0xf bank_mask:0xf",
    "transcendental": "v_exp_f32 v{a}, v{b}",
    "lds read b128": "ds_read_b128 v[16:19], v1",
    "lds write b64": "ds_write_b64 v1, v[16:17]",
    "global load x4": "global_load_dwordx4 v[16:19], v1, s[4:5]",
    "global store x4": "global_store_dwordx4 v1, v[16:19], s[6:7]",
    "mfma 32x32x8 f16": "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[18:19], v[32:47]",
    "mfma 16x16x32 fp8": "v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[16:17], v[18:19], v[32:35]",
    "mfma 16x16x32 i8": "v_mfma_i32_16x16x32_i8 v[32:35], v[16:17], v[18:19], v[32:35]",
}
LOOP = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, 1.0
  s_mov_b32 s20, {count}
  s_waitcnt lgkmcnt(0)
.Lloop:
{body}
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 .Lloop
  s_waitcnt vmcnt(0) lgkmcnt(0)
"""
UNROLLED = 32
SOFTMAX = """
typedef unsigned short u16x8 __attribute__((ext_vector_type(8)));
static SHARED float most[4], sums[4];
static float shuffle(float v, int mask) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((TID & 63) ^ mask) * 4, __builtin_bit_cast(int, v)));
}
static float widen(unsigned short v) { return __builtin_bit_cast(float, (unsigned)v << 16); }
static unsigned short narrow(float v) {
  unsigned u = __builtin_bit_cast(unsigned, v);
  return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}
KERNEL void softmax_bf16(const GLOBAL u16x8 *in, GLOBAL u16x8 *out) {
  u16x8 held[4];
  float top = -3e38f, sum = 0;
  for (int i = 0; i < 4; ++i) {
    held[i] = in[BID * 1024 + i * 256 + TID];
    for (int j = 0; j < 8; ++j)
      top = __builtin_fmaxf(top, widen(held[i][j]));
  }
  for (int mask = 32; mask > 0; mask >>= 1)
    top = __builtin_fmaxf(top, shuffle(top, mask));
  if (TID % 64 == 0)
    most[TID / 64] = top;
  barrier();
  top = __builtin_fmaxf(__builtin_fmaxf(most[0], most[1]), __builtin_fmaxf(most[2], most[3]));
  float e[32];
  for (int i = 0; i < 32; ++i) {
    e[i] = __builtin_amdgcn_exp2f((widen(held[i / 8][i % 8]) - top) * 1.44269504f);
    sum += e[i];
  }
  for (int mask = 32; mask > 0; mask >>= 1)
    sum += shuffle(sum, mask);
  if (TID % 64 == 0)
    sums[TID / 64] = sum;
  barrier();
  float scale = 1.0f / (sums[0] + sums[1] + sums[2] + sums[3]);
  for (int i = 0; i < 4; ++i) {
    u16x8 result;
    for (int j = 0; j < 8; ++j)
      result[j] = narrow(e[i * 8 + j] * scale);
    out[BID * 1024 + i * 256 + TID] = result;
  }
}
"""
START = """
import ctypes, sys
def main(library, image):
    lib = ctypes.CDLL(library)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert lib.hipModuleLoadData(ctypes.byref(module), image) == 0
    assert lib.hipModuleGetFunction(ctypes.byref(function), module, b"vector_add") == 0
    data = (ctypes.c_float * 192)()
    assert lib.flyemu_register_memory(data, ctypes.c_size_t(768), 0, b"data") == 0
    values = [ctypes.c_void_p(ctypes.addressof(data))] * 3 + [ctypes.c_int(64)]
    pointers = (ctypes.c_void_p * 4)(*[ctypes.addressof(value) for value in values])
    assert lib.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, pointers, None) == 0
image = open(sys.argv[2], "rb").read()
if sys.argv[3] == "with":
    main(sys.argv[1], image)
"""


@dataclass(frozen=True)
class Figure:
    """One measurement: the median and the spread of its repetitions."""

    name: str
    unit: str
    value: float
    spread: float
    target: float | None = None
    numpy: float | None = None

    @property
    def missed(self) -> bool:
        """Is the figure above its target?"""
        return self.target is not None and self.value > self.target


def compile_object(source: str, arch: str, suffix: str, *flags: str) -> bytes:
    """A code object from C or assembly."""
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / f"kernel{suffix}", Path(folder) / "kernel.hsaco"
        path.write_text(source)
        target = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *(("-nogpulib",) if suffix == ".c" else ()))
        subprocess.run(["clang-22", *target, *flags, str(path), "-o", str(output)], check=True)
        return output.read_bytes()


def repeated(run: Callable[[], Any], times: int) -> list[float]:
    """Seconds of each of some runs, after one that doesn't count."""
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def summary(values: list[float]) -> tuple[float, float]:
    """Median and distance between the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, high - low


def class_code(name: str) -> str:
    """A loop of instructions of a class."""
    pattern = CLASSES[name]
    lines = [
        "  " + pattern.format(a=24 + i % 4 if "s{" not in pattern else 21 + i % 4, b=2 if "v{" in pattern else 25,
                              d=16 + 2 * (i % 4), e=17 + 2 * (i % 4))
        for i in range(UNROLLED)
    ]  # fmt: skip
    return LOOP.format(count=60 if "mfma" in name else 600, body="\n".join(lines))


def class_rates(emulator: Emulator, arch: str, times: int) -> list[Figure]:
    """Million wave instructions per second, each class by itself in a loop of 32."""
    kernel_f = importlib.import_module("assembly").kernel_f  # from the emulator's tests
    figures = []
    for name in CLASSES:
        image = compile_object(kernel_f(class_code(name), arch, lds=16384, vgprs=64), arch, ".s")
        module = emulator.load(image)
        x, y = np.zeros((2, 1 << 16), np.uint32)
        kernel, groups = module.kernel("f"), 16

        def run(kernel: Any = kernel, groups: int = groups, x: Any = x, y: Any = y) -> None:
            kernel(groups, 256, x, y)

        with profile() as session:
            run()
        executed = session.last.total.instructions
        rates = [executed / seconds / 1e6 for seconds in repeated(run, times)]
        figures.append(Figure(name, "M wave instructions/s", *summary(rates)))
        module.unload()
    return figures


def gemm(emulator: Emulator, arch: str, times: int) -> Figure:
    """1024^3, f16 in, f32 out, matrix instructions."""
    source = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()
    module = emulator.load(compile_object(source, arch, ".c", "-O2"))
    n = 1024
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    kernel = module.kernel("gemm_f16")
    seconds = repeated(lambda: kernel((n // 64, n // 64), 256, a, b, c, n, n, n), times)
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
    check(np.abs(c - wide_a @ wide_b.T).max() < 0.05, "the GEMM is wrong")
    peer, _ = summary(repeated(lambda: wide_a @ wide_b.T, times))
    module.unload()
    return Figure("GEMM f16 1024^3", "s", *summary(seconds), target=2.0, numpy=peer)


def softmax(emulator: Emulator, arch: str, times: int) -> Figure:
    """Rows of bf16, held in registers, two reductions."""
    module: Module = emulator.load(compile_object((DATA / "device.h").read_text() + SOFTMAX, arch, ".c", "-O3"))
    rows, columns = 1024, 8192
    values = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    x = (values.view(np.uint32) >> 16).astype(np.uint16)
    y = np.zeros_like(x)
    kernel = module.kernel("softmax_bf16")
    seconds = repeated(lambda: kernel(rows, 256, x, y), times)
    wide = (x.astype(np.uint32) << 16).view(np.float32)

    def numpy_softmax() -> Any:
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    got = (y.astype(np.uint32) << 16).view(np.float32)
    check(np.abs(got - numpy_softmax()).max() < 2e-3, "the softmax is wrong")
    peer, _ = summary(repeated(numpy_softmax, times))
    module.unload()
    return Figure("softmax bf16 1024 x 8192", "s", *summary(seconds), target=0.5, numpy=peer)


def start(arch: str, times: int) -> Figure:
    """Milliseconds that a process takes longer when it loads the emulator and runs a first kernel."""
    source = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "kernels.hsaco"
        image.write_bytes(compile_object(source, arch, ".c", "-O2"))
        environment = {**os.environ, "FLYDSL_GPU_ARCH": arch}

        def process(mode: str) -> None:
            command = [sys.executable, "-S", "-c", START, library_path(), str(image), mode]
            subprocess.run(command, check=True, env=environment)

        differences = []
        for _ in range(times + 1):  # taking turns
            seconds = {}
            for mode in ("without", "with"):
                begin = time.perf_counter()
                process(mode)
                seconds[mode] = time.perf_counter() - begin
            differences.append(1e3 * (seconds["with"] - seconds["without"]))
    return Figure("start of a process, more", "ms", *summary(differences[1:]), target=50.0)


def check(condition: bool, text: str) -> None:
    """A benchmark of something wrong is none."""
    if not condition:
        raise SystemExit(f"tools/bench/emulator.py: {text}")


def main() -> int:
    """Measure, print, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="gfx942", choices=("gfx942", "gfx950"))
    parser.add_argument("--times", type=int, default=7, help="repetitions of each")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    emulator = Emulator()
    emulator.set_devices(options.arch)
    figures = class_rates(emulator, options.arch, options.times)
    figures += [gemm(emulator, options.arch, options.times), softmax(emulator, options.arch, options.times)]
    figures.append(start(options.arch, 3 * options.times))
    print(f"emulated {options.arch}, {os.cpu_count()} cores, medians of {options.times} (spread: between quartiles)")
    for one in figures:
        line = f"{one.name:26} {one.value:10.3f} {one.unit:22} spread {one.spread:8.3f}"
        if one.target is not None:
            line += f"  target {one.target:g}{'  MISSED' if one.missed else ''}"
        if one.numpy is not None:
            line += f"  numpy on this CPU {one.numpy:.3f} s ({one.value / one.numpy:.0f} x)"
        print(line)
    if options.json is not None:
        options.json.write_text(
            json.dumps({"arch": options.arch, "figures": [asdict(one) for one in figures]}, indent=1)
        )
    return 1 if any(one.missed for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
