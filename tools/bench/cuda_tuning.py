#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The defaults of products and attention on an NVIDIA Hopper GPU beside what a search finds, in turns by events.

    tools/dev bench cuda_tuning pack build/cuda/tuning          # anywhere: artifacts (PTX) of what is worth a try
    python3 cuda_tuning.py run build/cuda/tuning tuned.json     # on the GPU: times, until the order is settled
    tools/dev bench cuda_tuning table tuned.json                # anywhere: a table of shapes, and how far defaults are

For each shape the pack has the default and some others of the space of `flydsl.kernels.tuning`: of each kind of tile
the best by the estimate, and two more, which differ from others in stages and the order of tiles. The machine with the
GPU needs torch for CUDA, fly-runtime and fly-autotune, and no compiler of ours. A first look takes the median of three
turns of each, in drawn orders; the fastest are then measured again in turns until their order is settled
(`flydsl.autotune.search.finals`). A time is that of a CUDA graph of calls over operands that come from memory, as those
of cuda_gemm.py and cuda_attention.py. A configuration that cannot run, or whose results are not those of the default,
is said so and left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_attention
import cuda_gemm
from cuda_timing import SECONDS_OF_A_SAMPLE, graph_of, in_processes, stream, write_results

_PLAN = "plan.json"  # beside the artifacts: for each problem, by its name, its contenders, the default first
_FIRST_LOOK = 3  # turns
_MOST = 9  # contenders of a problem
_OF_THE_BEST = 2  # of these, that differ from others only in the fields of _VARIED
_VARIED = ("stages", "group_m", "store_n", "store_buffers")
_MOST_CALLS = 300
_RATE = 500e12  # FLOP/s, about: for how many calls a sample has
_BYTES_A_SECOND = 3e12
_OFF = 2.0**-5  # of the largest element, by which results may differ from the default's

GEMMS = (
    ("bf16", 100, 4096, 4096), ("bf16", 128, 1024, 16384), ("bf16", 192, 8192, 8192), ("bf16", 256, 4096, 4096),
    ("bf16", 512, 4096, 4096), ("bf16", 640, 5120, 5120), ("bf16", 1280, 4096, 4096), ("bf16", 2304, 2304, 2304),
    ("bf16", 3072, 3072, 3072), ("bf16", 4096, 4096, 4096), ("bf16", 8192, 8192, 8192), ("fp8", 640, 5120, 5120),
    ("fp8", 4096, 4096, 4096), ("bf16", 16, 28672, 4096), ("bf16", 16, 1024, 16384), ("bf16", 32, 11008, 4096),
    ("bf16", 64, 8192, 8192), ("bf16", 64, 2048, 16384), ("fp8", 64, 14336, 4096),
)  # fmt: skip
# Head size, causal, length; batch and heads are those of cuda_attention.py.
ATTENTIONS = (
    (64, False, 4096), (64, True, 1024), (64, True, 4096), (128, False, 1024), (128, False, 4096), (128, True, 4096),
    (192, True, 4096), (256, False, 4096),
)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """A product, of (type, M, N, K), or attention, of (head size, causal, length)."""

    kind: str
    shape: tuple[Any, ...]

    @property
    def name(self) -> str:
        """For people, and for the plan."""
        if self.kind == "gemm":
            return f"gemm {self.shape[0]} {'x'.join(map(str, self.shape[1:]))}"
        head_dim, causal, length = self.shape
        return f"attention {head_dim} {'causal' if causal else 'full'} {length}"

    @staticmethod
    def of(name: str) -> Problem:
        """The problem of a name."""
        kind, first, *rest = name.split()
        if kind == "gemm":
            return Problem(kind, (first, *map(int, rest[0].split("x"))))
        return Problem(kind, (int(first), rest[0] == "causal", int(rest[1])))

    @property
    def artifacts(self) -> str:
        """What the names of artifacts begin with: those of problems that share it are the same."""
        if self.kind == "gemm":
            return f"gemm-{self.shape[0]}"
        return f"attention-{self.shape[0]}-{'causal' if self.shape[1] else 'full'}"

    @property
    def work(self) -> tuple[int, int]:
        """Batch and heads of attention."""
        head_dim, _, length = self.shape
        return max(1, cuda_attention.TOKENS // length), max(1, 2048 // head_dim)

    @property
    def seconds(self) -> float:
        """About what a call takes."""
        if self.kind == "gemm":
            dtype, m, n, k = self.shape
            return max(2.0 * m * n * k / _RATE, n * k * cuda_gemm.bytes_of(dtype) / _BYTES_A_SECOND, 3e-6)
        (head_dim, causal, length), (batch, heads) = self.shape, self.work
        return 4.0 * batch * heads * length**2 * head_dim / (2 if causal else 1) / _RATE


def problems() -> Iterator[Problem]:
    """All."""
    yield from (Problem("gemm", one) for one in GEMMS)
    yield from (Problem("attention", one) for one in ATTENTIONS)


def contenders_of(problem: Problem, most: int) -> list[dict[str, Any]]:
    """The default, and others that are worth a try, as the fields of their configuration."""
    from flydsl.autotune import Config
    from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
    from flydsl.kernels.tuning import hopper_attention, hopper_gemm

    found: tuple[Any, ...]
    named: dict[str, Any]
    if problem.kind == "gemm":
        dtype, m, n, k = problem.shape
        out = "fp16" if dtype == "fp16" else "bf16"
        named = {
            "in_dtype": dtype, "out_dtype": out, "M": m, "N": n, "K": k, "scaled": False, "biased": False,
            "activation": "none", "added": False,
        }  # fmt: skip
        found = hopper_gemm.hopper_gemm_candidates(m, n, k * cuda_gemm.bytes_of(dtype), Epilogue(), out)
        estimate = hopper_gemm.hopper_gemm_estimate
    else:
        (head_dim, causal, length), (batch, heads) = problem.shape, problem.work
        named = {
            "batch": batch, "heads": heads, "queries": length, "keys": length, "head_dim": head_dim, "causal": causal,
        }  # fmt: skip
        found = hopper_attention.hopper_attention_candidates(head_dim, causal, length, length)
        estimate = hopper_attention.hopper_attention_estimate
    configs = sorted((Config(**vars(one)) for one in found), key=lambda one: estimate(one, named))
    kinds: dict[tuple[Any, ...], Config] = {}
    for one in configs:
        kinds.setdefault(tuple(value for name, value in one.to_dict().items() if name not in _VARIED), one)
    kept = list(kinds.values())[: max(1, most - _OF_THE_BEST)]
    kept += [one for one in configs if one not in kept][: most - len(kept)]
    return [one.to_dict() for one in kept]


def text_of(values: Mapping[str, Any]) -> str:
    """A configuration as a part of a file's name: its fields in their order, none and false as 0."""
    return "x".join(str(int(value or 0)) for value in values.values())


def pack(folder: Path, most: int, only: str) -> int:
    """Compile what the problems need for the target (sm_90a unless the environment names another) into a folder."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    folder.mkdir(parents=True, exist_ok=True)
    plan: dict[str, list[dict[str, Any]]] = {}
    needed: dict[str, tuple[Problem, dict[str, Any]]] = {}
    for problem in problems():
        if only in problem.name:
            plan[problem.name] = contenders_of(problem, most)
            for values in plan[problem.name]:
                needed[f"{problem.artifacts}-{text_of(values)}"] = problem, values
    missing = [
        (folder / f"{name}.so", one.kind, one.shape, values)
        for name, (one, values) in needed.items()
        if not (folder / f"{name}.so").exists()
    ]
    if missing:
        in_processes(_compile, missing)
    (folder / _PLAN).write_text(json.dumps(plan, indent=1))
    print(f"{len(plan)} problems, {len(needed)} artifacts, of which {len(missing)} are new")
    return 0


def _compile(what: tuple[Path, str, tuple[Any, ...], dict[str, Any]]) -> None:
    """Compile an artifact; where that fails, say so: it is left out."""
    from flydsl.kernels.attention.hopper_config import HopperAttentionConfig
    from flydsl.kernels.gemm.hopper_config import HopperConfig

    path, kind, shape, values = what
    try:
        if kind == "gemm":
            cuda_gemm.compile_plain(shape[0], HopperConfig(**values), path)
        else:
            cuda_attention.compile_case(_case(shape), HopperAttentionConfig(**values), path)
    except Exception as error:
        print(f"{path.stem}: {type(error).__name__}: {str(error)[:300]}", flush=True)


def _case(shape: tuple[Any, ...]) -> cuda_attention.Case:
    return cuda_attention.Case("bf16", shape[0], shape[1])


def _operands(problem: Problem) -> list[Any]:
    """Sets of operands that together are several times the L2."""
    if problem.kind == "gemm":
        return cuda_gemm.operands(*problem.shape)
    (_, _, length), (batch, heads) = problem.shape, problem.work
    return cuda_attention.operands(_case(problem.shape), batch, length, heads)


@lru_cache(maxsize=512)
def _artifact(path: Path) -> Any:
    from flydsl import runtime

    return runtime.load_artifact(path)


def _call(problem: Problem, path: Path) -> Callable[[Any], Any]:
    artifact = _artifact(path)
    if problem.kind == "gemm":
        return lambda given: artifact(given.c, given.a, given.b, stream())
    return lambda given: artifact(given.q, given.k, given.v, given.out, given.lse, stream())


def _graphs(problem: Problem, folder: Path, plan: list[dict[str, Any]], calls: int) -> dict[str, Any]:
    """A graph of each contender that runs and whose results are those of the first, by its text."""
    import torch

    sets = _operands(problem)
    graphs: dict[str, Any] = {}
    wanted: Any = None
    for values in plan:
        name = text_of(values)
        result = sets[0].c if problem.kind == "gemm" else sets[0].out
        result.fill_(float("nan"))
        try:
            call = _call(problem, folder / f"{problem.artifacts}-{name}.so")
            call(sets[0])
            torch.cuda.synchronize()
            made = result.float()
            wanted = made.clone() if wanted is None else wanted
            off = ((made - wanted).abs().max() / wanted.abs().max()).item()
            if not off <= _OFF:
                raise ValueError(f"its results are off by {off:.3g} of the largest")
            graphs[name] = graph_of(call, sets, calls)
        except Exception as error:
            print(f"{problem.name} {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    return graphs


def _microseconds(graph: Any, calls: int) -> float:
    """Of a call, now."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def tune(default: str, contenders: list[str], measure: Callable[[str], float]) -> dict[str, Any]:
    """The default and the best of some contenders: microseconds, and the default's share of the best's rate.

    `measure` says what one takes now, in microseconds.
    """
    from flydsl.autotune.search.finals import settle

    looks: dict[str, list[float]] = {name: [] for name in contenders}
    drawn = random.Random(0)  # what ran before one decides how much power, and so which clock, it has
    for _ in range(_FIRST_LOOK):
        for name in drawn.sample(contenders, len(contenders)):
            looks[name].append(measure(name))
    first = {name: statistics.median(times) for name, times in looks.items()}
    # The default takes part in the turns, whatever the first look said of it.
    least = min(first.values())
    found = settle([(name, least if name == default else time) for name, time in first.items()], measure)
    times = first | found.times
    best = found.times[found.best]
    return {
        "default": default, "best": found.best, "microseconds": times[default], "best_microseconds": best,
        "share": min(1.0, best / times[default]), "rounds": found.rounds, "settled": found.certain,
        "times": dict(sorted(times.items(), key=lambda one: one[1])),
    }  # fmt: skip


def run(folder: Path, results: Path, only: str) -> int:
    """Times of every problem of the pack."""
    import torch

    rows: list[dict[str, Any]] = []
    for name, plan in json.loads((folder / _PLAN).read_text()).items():
        if only not in name:
            continue
        problem = Problem.of(name)
        calls = min(_MOST_CALLS, max(2, int(SECONDS_OF_A_SAMPLE / problem.seconds)))
        graphs = _graphs(problem, folder, plan, calls)
        default = text_of(plan[0])
        if default not in graphs:
            print(f"{name}: the default does not run", flush=True)
            return 1
        row = tune(default, list(graphs), lambda one, graphs=graphs, calls=calls: _microseconds(graphs[one], calls))
        rows.append({"problem": name, **row})
        print(line_of(rows[-1]), flush=True)
        del graphs
        torch.cuda.empty_cache()
        write_results(results, rows)
    return 0


def line_of(row: Mapping[str, Any]) -> str:
    """A row of the table."""
    settled = "yes" if row["settled"] else "no"
    return (
        f"| {row['problem']} | {len(row['times'])} | {row['default']} | {row['microseconds']:.2f} | {row['best']} | "
        f"{row['best_microseconds']:.2f} | {row['share']:.3f} | {row['rounds']} | {settled} |"
    )


def table(results: Path) -> int:
    """Print what a run found, and the mean and the least share of products and of attention."""
    found = json.loads(results.read_text())
    print(f"{found['device']}, torch {found['torch']}. A configuration is its fields in their order.\n")
    heads = ("problem", "tried", "default", "us", "best", "us", "default / best", "rounds", "settled")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in found["rows"]:
        print(line_of(row))
    for kind in ("gemm", "attention"):
        shares = [row["share"] for row in found["rows"] if row["problem"].startswith(kind)]
        if shares:
            mean = math.exp(statistics.fmean(map(math.log, shares)))
            least = min(shares)
            print(
                f"\n{kind}: the defaults have {mean:.3f} of the best rate in the geometric mean, {least:.3f} at least"
            )
    return 0


def main() -> int:
    """Run one of the commands that the top of the file lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "run"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "run":
            command.add_argument("results", type=Path)
        else:
            command.add_argument("--most", type=int, default=_MOST, help="contenders of each problem")
        command.add_argument("--only", default="", metavar="TEXT", help="problems whose names have it")
    commands.add_parser("table").add_argument("results", type=Path)
    options = parser.parse_args()
    if options.command == "pack":
        return pack(options.folder, options.most, options.only)
    if options.command == "run":
        return run(options.folder, options.results, options.only)
    return table(options.results)


if __name__ == "__main__":
    sys.exit(main())
