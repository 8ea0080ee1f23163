# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks on NVIDIA GPUs share: one process for each artifact that is checked, and times in turns."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cuda_peers

ROUNDS = 25
SECONDS_OF_A_SAMPLE = 10e-3
_SECONDS_OF_A_CHECK = 60
_CHECKED_AT_A_TIME = 8


def stream() -> int:
    """torch's current stream."""
    import torch

    return int(torch.cuda.current_stream().cuda_stream)


def in_processes(function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call a function of a module with each item, in as many new processes as there are cores."""
    processes = min(len(items), len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(function, items))


def where(error: Any, allowed: Any, result: Any, expected: Any) -> str:
    """The first elements that are further off than is allowed, and how many there are."""
    bad = ~(error <= allowed)
    places = bad.nonzero()
    shown = [
        f"{tuple(place.tolist())}: {result[tuple(place)].item():.6g} for {expected[tuple(place)].item():.6g}"
        for place in places[:4]
    ]
    low, high = (tuple(some.values.tolist()) for some in (places.min(dim=0), places.max(dim=0)))
    return f"{len(places)} of {bad.numel()} wrong, from {low} to {high}; {'; '.join(shown)}"


def check_apart(program: Path, arguments: Sequence[str], names: Sequence[str]) -> int:
    """Run `program check … --only NAME` for each name, in a process of its own that is ended where it hangs.

    Some run at the same time; none is timed. Returns 1 where any failed.
    """

    def checked(name: str) -> tuple[str, int]:
        command = [sys.executable, str(program), "check", *arguments, "--only", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS_OF_A_CHECK, check=False)
            text, status = done.stdout + done.stderr[-2000:] * (done.returncode != 0), done.returncode
        except subprocess.TimeoutExpired as error:
            said = error.stdout or b""
            text, status = f"{said.decode() if isinstance(said, bytes) else said}HANGS: {name}\n", 1
        return text, status

    failed = 0
    with ThreadPoolExecutor(_CHECKED_AT_A_TIME) as pool:
        for text, status in pool.map(checked, names):
            print(text, end="", flush=True)
            failed += status != 0
    print(f"{len(names)} artifacts, {failed} failed", flush=True)
    return 1 if failed else 0


def graph_of(run: Callable[[Any], Any], sets: Sequence[Any], count: int) -> Any:
    """A CUDA graph of `count` calls over sets of operands in turn, run once."""
    import torch

    for given in sets:
        run(given)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for turn in range(count):
            run(sets[turn % len(sets)])
    graph.replay()
    torch.cuda.synchronize()
    return graph


def graphs_of(contenders: dict[str, Callable[[Any], Any]], sets: Sequence[Any], count: int) -> dict[str, Any]:
    """`graph_of` each contender. One that cannot is said so, and the others are timed."""
    graphs = {}
    for name, contender in contenders.items():
        try:
            graphs[name] = graph_of(contender, sets, count)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    return graphs


def write_results(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows of a run, with the device and what torch is for."""
    import torch

    device = torch.cuda.get_device_properties(0)
    found = {
        "device": device.name, "torch": torch.__version__, "cuda": torch.version.cuda, "peers": cuda_peers.found(),
        "rows": rows,
    }  # fmt: skip
    path.write_text(json.dumps(found, indent=1))


def rates(graphs: dict[str, Any], count: int, flops: float) -> dict[str, tuple[float, float, float]]:
    """TFLOP/s of each graph of `count` calls: median, least and most of the rounds, in which they take turns.

    The order of the turns is drawn anew for each round: near its limit of power the clock of a GPU depends on what ran
    in the tens of milliseconds before, so that who always follows a slow contender would look faster.
    """
    import torch

    found: dict[str, list[float]] = {name: [] for name in graphs}
    turns, order = list(graphs.items()), random.Random(0)
    for _ in range(ROUNDS):
        order.shuffle(turns)
        for name, graph in turns:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            found[name].append(flops * count / (begin.elapsed_time(end) * 1e-3) / 1e12)
    return {name: (statistics.median(some), min(some), max(some)) for name, some in found.items()}
