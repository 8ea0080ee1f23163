#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Large products on an NVIDIA Hopper GPU, each alone until the GPU's clock has settled: rate, clock and power.

    python3 cuda_power.py build/cuda/gemm power.json [--also NAME ...]   # on the GPU

In `cuda_gemm.py` contenders take turns every 10 ms, and so share a clock. Here each runs for itself for a quarter of a
second, and is then measured for half a second, in an order that is drawn anew for each of the rounds; figures are
medians. Power is that of the GPU's counter of energy, which it brings up to date a few times a second: single figures
were up to a seventh too high, so no page has them. Needs nvidia-ml-py, and what `cuda_gemm.py` needs.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_gemm
from cuda_timing import graph_of, write_results

ROUNDS = 3
_SETTLE, _MEASURE = 0.25, 0.5  # seconds
_SECONDS_OF_A_GRAPH = 20e-3
_FASTEST = 1e15  # FLOP/s, by which a graph is made long enough
POINTS = tuple(point for point in cuda_gemm.TIMED if point[1] >= cuda_gemm.LARGE)


def _alone(graph: Any, counter: Any) -> tuple[float, float, float]:
    """Seconds of a replay, watts, and MHz of the multiprocessors."""
    import torch

    until = time.perf_counter() + _SETTLE
    while time.perf_counter() < until:
        graph.replay()
        torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    energy, until, replays, clocks = counter.millijoules(), time.perf_counter() + _MEASURE, 0, []
    begin.record()
    while time.perf_counter() < until:
        graph.replay()
        graph.replay()
        replays += 2
        clocks.append(counter.megahertz())
        torch.cuda.current_stream().synchronize()
    end.record()
    torch.cuda.synchronize()
    seconds = begin.elapsed_time(end) * 1e-3
    return seconds / replays, (counter.millijoules() - energy) * 1e-3 / seconds, statistics.median(clocks)


class _Counter:
    """The GPU's counters, by NVML."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self._nvml, self._device = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)

    def millijoules(self) -> float:
        """Since the driver was loaded."""
        return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device))

    def megahertz(self) -> float:
        """The clock of the multiprocessors now."""
        return float(self._nvml.nvmlDeviceGetClockInfo(self._device, self._nvml.NVML_CLOCK_SM))


def run(folder: Path, results: Path, names: list[str]) -> int:
    """Measure ours, in the default configuration and in those of these names, and cuBLAS at each point."""
    import torch

    counter, rows = _Counter(), []
    for dtype, m, n, k in POINTS:
        flops = 2.0 * m * n * k
        sets = cuda_gemm.operands(dtype, m, n, k)
        usual = json.loads((folder / "defaults.json").read_text())[f"{dtype} {m} {n} {k}"]
        contenders = {f"ours {name}": cuda_gemm.ours(folder, dtype, name) for name in dict.fromkeys((usual, *names))}
        contenders["cuBLAS"] = lambda given: given.of_cublas()
        calls = max(2, int(_SECONDS_OF_A_GRAPH * _FASTEST / flops))
        turns = [(name, graph_of(one, sets, calls)) for name, one in contenders.items()]
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contenders}
        order = random.Random(0)
        for _ in range(ROUNDS):
            order.shuffle(turns)
            for name, graph in turns:
                found[name].append(_alone(graph, counter))
        for name, some in found.items():
            seconds, watts, megahertz = (statistics.median(one) for one in zip(*some, strict=True))
            row = {
                "dtype": dtype, "m": m, "n": n, "k": k, "contender": name, "tflops": flops * calls / seconds / 1e12,
                "watts": watts, "megahertz": megahertz,
            }  # fmt: skip
            rows.append(row)
            print(
                f"{dtype:5} {m}x{n}x{k} {name:14} {row['tflops']:7.1f} TFLOP/s {watts:4.0f} W {megahertz:5.0f} MHz",
                flush=True,
            )
        del turns, sets
        torch.cuda.empty_cache()
    write_results(results, rows)
    return 0


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of `cuda_gemm.py pack`")
    parser.add_argument("results", type=Path)
    parser.add_argument("--also", nargs="*", default=[], help="names of cuda_gemm.CONFIGURATIONS beside the default")
    options = parser.parse_args()
    return run(options.folder, options.results, options.also)


if __name__ == "__main__":
    sys.exit(main())
