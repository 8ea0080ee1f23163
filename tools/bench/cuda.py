#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Row kernels on an NVIDIA GPU: right against float64, timed beside a copy, torch, inductor, Triton and QuACK in turns.

    tools/dev bench cuda pack build/cuda/pack        # anywhere: the artifacts (PTX) of all cases
    python3 cuda.py check build/cuda/pack            # on the GPU: every case against float64, into poisoned outputs
    python3 cuda.py run build/cuda/pack results.json # on the GPU: correctness of what is timed, times, cost of a launch
    tools/dev bench cuda page results.json [another.json]  # anywhere: docs/benchmarks/hopper.md and its plots;
                                                     # --first has what cuda_first.py wrote

The machine with the GPU needs torch for CUDA, Triton and fly-runtime, and no compiler of ours: `tools/dev test --device
cuda` says how they get there. Each time is that of a CUDA graph of launches over buffers that together are several
times the L2, by events, the contenders taking turns; medians of the rounds, with the least and the most. Triton's
kernels are one program a row, with the best of 4, 8 and 16 warps at each point. Inductor compiles torch's function for
each point, into the same result as ours. QuACK is timed where it is installed, or where FLYDSL_BENCH_QUACK names the
folder of `cuda_quack_ahead.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_peers

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = ("softmax", "rmsnorm", "layernorm")
DTYPES = ("bf16", "f16", "f32")
TIMED_DTYPES = DTYPES[:2]
TIMED_COLUMNS = (1024, 2048, 4096, 8192, 16384)
TIMED_MIB = (4, 16, 64, 256, 1024)
CHECKED_COLUMNS = (1, 7, 33, 127, 1000, 1024, 1536, 2048, 2049, 3584, 4096, 5120, 8192, 11008, 16384, 16385, 20480)
CHECKED_COLUMNS += (4104, 7176, 14344, 28672, 30728, 32768, 40000)
CHECKED_ROWS = (1, 5, 133, 1025)
EPS = 1e-5
ROUNDS = 7
_SECONDS_OF_A_SAMPLE = 2e-3
_RESIDENT = 256 << 20  # bytes that the rotating buffers of one contender have at least: four times the L2

# Relative: half a unit of the last place of the type, and some f32 roundings of the row's largest value.
_ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-21}
_SLACK = {"softmax": 4.0, "rmsnorm": 4.0, "layernorm": 16.0}


@dataclass(frozen=True)
class Case:
    """One artifact: an operation on rows of so many columns."""

    operation: str
    dtype: str
    columns: int

    @property
    def name(self) -> str:
        """Of its artifact."""
        return f"{self.operation}-{self.dtype}-{self.columns}"


def all_cases() -> Iterator[Case]:
    """Those that are timed, then those that are only checked."""
    timed = [Case(o, d, n) for o in OPERATIONS for d in TIMED_DTYPES for n in TIMED_COLUMNS]
    checked = [Case(o, d, n) for o in OPERATIONS for d in DTYPES for n in CHECKED_COLUMNS]
    yield from dict.fromkeys([*timed, *checked])


# ---- anywhere: artifacts ----


def _launcher(case: Case) -> tuple[Any, list[str]]:
    """The builder's function, and what its tensors are: "x" and "y" are matrices, "w" and "b" weights."""
    from flydsl.kernels.norm.layernorm_kernel import build_layernorm_module
    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
    from flydsl.kernels.norm.softmax_kernel import build_softmax_module

    if case.operation == "softmax":
        return build_softmax_module(case.columns, case.dtype), ["x", "y"]
    if case.operation == "rmsnorm":
        return build_rmsnorm_module(case.columns, case.dtype), ["x", "w", "y"]
    return build_layernorm_module(case.columns, case.dtype), ["x", "w", "b", "y"]


def pack(folder: Path, only: str) -> int:
    """Compile every case for the target (sm_90a unless the environment names another) into a folder."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    import torch

    import flydsl.compiler as flyc

    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in all_cases() if only in case.name]
    seconds = []
    for case in cases:
        started = time.perf_counter()
        launch, roles = _launcher(case)
        shapes = {"x": (64, case.columns), "y": (64, case.columns), "w": (case.columns,), "b": (case.columns,)}
        tensors = [torch.empty(shapes[role], dtype=types[case.dtype]) for role in roles]
        flyc.compile.only(launch, *tensors, 64, None).export(folder / f"{case.name}.so")
        seconds.append(time.perf_counter() - started)
    size = sum(path.stat().st_size for path in folder.glob("*.so"))
    print(f"{len(cases)} artifacts, {size / 1e6:.1f} MB, {sum(seconds):.0f} s (slowest {max(seconds):.1f} s)")
    return 0


# ---- on the GPU ----


class Operands:
    """Random tensors of a case on the GPU, and what float64 says of them."""

    def __init__(self, case: Case, rows: int, seed: int = 0) -> None:
        import torch

        self.case, self.rows, self.torch = case, rows, torch
        self.dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[case.dtype]
        generator = torch.Generator("cuda").manual_seed(seed + rows)
        self.x = torch.randn(rows, case.columns, generator=generator, device="cuda", dtype=torch.float32).to(self.dtype)
        self.w = (torch.rand(case.columns, generator=generator, device="cuda") + 0.5).to(self.dtype)
        self.b = torch.randn(case.columns, generator=generator, device="cuda").to(self.dtype)
        self.y = torch.empty_like(self.x)

    def arguments(self) -> tuple[Any, ...]:
        """The tensors as the artifact takes them."""
        extra = {"softmax": (), "rmsnorm": (self.w,), "layernorm": (self.w, self.b)}[self.case.operation]
        return (self.x, *extra, self.y)

    def reference(self, rows: slice) -> Any:
        """The result of some rows in float64."""
        x, functional = self.x[rows].double(), self.torch.nn.functional
        if self.case.operation == "softmax":
            return self.torch.softmax(x, -1)
        if self.case.operation == "rmsnorm":
            return x * self.torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * self.w.double()
        return functional.layer_norm(x, x.shape[-1:], self.w.double(), self.b.double(), EPS)

    def of_torch(self) -> Any:
        """torch's own."""
        return self.torch_function()(*self.arguments()[:-1])

    def torch_function(self) -> Callable[..., Any]:
        """torch's own, of the arguments without the result."""
        functional, columns = self.torch.nn.functional, (self.case.columns,)
        if self.case.operation == "softmax":
            return lambda x: self.torch.softmax(x, -1)
        if self.case.operation == "rmsnorm":
            return lambda x, w: functional.rms_norm(x, columns, w, EPS)
        return lambda x, w, b: functional.layer_norm(x, columns, w, b, EPS)

    def worst(self, y: Any, rows: int) -> float:
        """The largest error of the first `rows` rows in units of what is allowed."""
        most = 0.0
        for first in range(0, rows, 4096):
            part = slice(first, min(first + 4096, rows))
            expected = self.reference(part)
            allowed = _ROUNDING[self.case.dtype] * expected.abs()
            allowed += _SLACK[self.case.operation] * _ROUNDING["f32"] * expected.abs().amax(-1, keepdim=True)
            allowed += 2.0**-25 if self.case.dtype == "f16" else 1e-30
            error = (y[part].double() - expected).abs() / allowed
            most = max(most, float("inf") if error.isnan().any() else error.max().item())
        return most


def _load(folder: Path, case: Case) -> Any:
    from flydsl import runtime

    return runtime.load_artifact(folder / f"{case.name}.so")


def _stream() -> int:
    import torch

    return int(torch.cuda.current_stream().cuda_stream)


def _check(folder: Path, case: Case, rows: int) -> dict[str, Any]:
    """One case into a poisoned output with rows behind the last one that is asked for, which must stay as they are."""
    import torch

    given = Operands(case, rows + 3)
    given.y.fill_(float("nan"))
    before = given.x.clone()
    _load(folder, case)(*given.arguments(), rows, _stream())
    torch.cuda.synchronize()
    untouched = bool(given.y[rows:].isnan().all()) and torch.equal(given.x, before)
    worst = given.worst(given.y, rows)
    return {"case": case.name, "rows": rows, "worst": worst, "right": untouched and worst <= 1.0}


def check(folder: Path, only: str, most_rows: int) -> int:
    """Every case of the folder at several numbers of rows; prints what is wrong."""
    results = []
    for case in all_cases():
        if only in case.name and (folder / f"{case.name}.so").exists():
            results += [_check(folder, case, rows) for rows in CHECKED_ROWS if rows <= most_rows]
    wrong = [result for result in results if not result["right"]]
    for result in wrong:
        print(f"WRONG {result['case']} with {result['rows']} rows: {result['worst']:.3g} times the allowed error")
    largest = max((result["worst"] for result in results), default=0.0)
    print(f"{len(results)} results, {len(wrong)} wrong; largest error {largest:.2f} of what is allowed")
    return 1 if wrong or not results else 0


_TRITON = """
import triton, triton.language as tl

@triton.jit
def softmax(x, y, N: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    v = tl.load(x + row * N + at, mask=at < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * N + at, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=at < N)

@triton.jit
def rmsnorm(x, w, y, eps, N: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    v = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v, 0) / N + eps)
    g = tl.load(w + at, mask=at < N, other=0.0).to(tl.float32)
    tl.store(y + row * N + at, (v * r * g).to(y.dtype.element_ty), mask=at < N)

@triton.jit
def layernorm(x, w, b, y, eps, N: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    v = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
    d = tl.where(at < N, v - tl.sum(v, 0) / N, 0.0)
    r = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
    g = tl.load(w + at, mask=at < N, other=0.0).to(tl.float32)
    c = tl.load(b + at, mask=at < N, other=0.0).to(tl.float32)
    tl.store(y + row * N + at, (d * r * g + c).to(y.dtype.element_ty), mask=at < N)
"""


def _triton_kernels(folder: Path) -> Any:
    """Triton reads a kernel's source from its file."""
    import importlib.util

    path = folder / "triton_rows.py"
    path.write_text(_TRITON)
    spec = importlib.util.spec_from_file_location("triton_rows", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _triton_call(kernels: Any, given: Operands, warps: int) -> Callable[[], Any]:
    columns = given.case.columns
    kernel = getattr(kernels, given.case.operation)[(given.rows,)]
    arguments = given.arguments() + (() if given.case.operation == "softmax" else (EPS,))
    block = 1 << (columns - 1).bit_length()
    return lambda: kernel(*arguments, N=columns, B=block, num_warps=warps)


def _inductor(given: Operands) -> Callable[[Operands], Callable[[], Any]]:
    """A call of what inductor makes of torch's function for these extents, into the result that is there."""
    import torch

    torch.compiler.reset()
    function = given.torch_function()
    compiled = torch.compile(lambda *arguments: arguments[-1].copy_(function(*arguments[:-1])), dynamic=False)
    return lambda one: lambda: compiled(*one.arguments())


def _quack_call(given: Operands) -> Callable[[], Any]:
    return cuda_peers.rows(given.case.operation, given.x, given.w, given.b, given.y, EPS)


class Sample:
    """A CUDA graph of launches over rotating buffers."""

    def __init__(self, calls: list[Callable[[], Any]], launches: int) -> None:
        import torch

        self.torch, self.launches = torch, launches
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for call in calls:
                call()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for launch in range(launches):
                calls[launch % len(calls)]()
        self.graph.replay()
        torch.cuda.synchronize()

    def microseconds(self) -> float:
        """Of one launch, in one replay."""
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3 / self.launches


def _time_point(folder: Path, kernels: Any, case: Case, mib: int) -> dict[str, Any]:
    """All contenders of one case and size."""
    import torch

    item = 2 if case.dtype != "f32" else 4
    rows = max(1, (mib << 20) // (2 * item * case.columns))
    moved = 2 * item * rows * case.columns
    artifact = _load(folder, case)
    buffers = [Operands(case, rows, seed) for seed in range(max(2, -(-_RESIDENT // moved)))]
    launches = max(len(buffers), int(_SECONDS_OF_A_SAMPLE * 3e12 / moved))
    launches -= launches % len(buffers)

    def ours(given: Operands) -> Callable[[], Any]:
        arguments = given.arguments()
        return lambda: artifact(*arguments, rows, _stream())

    def make(call: Callable[[Operands], Callable[[], Any]]) -> Sample:
        return Sample([call(given) for given in buffers], launches)

    buffers[0].y.fill_(float("nan"))
    ours(buffers[0])()
    torch.cuda.synchronize()
    worst = buffers[0].worst(buffers[0].y, min(rows, 8192))
    tried = {count: make(lambda given, count=count: _triton_call(kernels, given, count)) for count in (4, 8, 16)}
    quick = {count: statistics.median(one.microseconds() for _ in range(3)) for count, one in tried.items()}
    best = min(quick, key=lambda count: quick[count])
    samples = {
        "copy": make(lambda given: lambda: given.y.copy_(given.x)),
        "torch": make(lambda given: given.of_torch),
        "triton": tried[best],
        "ours": make(ours),
    }
    peers = {"inductor": _inductor(buffers[0])} | ({"quack": _quack_call} if cuda_peers.has("QuACK") else {})
    for name, peer in peers.items():
        try:
            samples[name] = make(peer)
        except Exception as error:  # a peer that cannot is said so, and the others are timed
            print(f"{name}, {case.name}: {type(error).__name__}: {str(error)[:300]}")
    times: dict[str, list[float]] = {name: [] for name in samples}
    order, turns = random.Random(0), list(samples)
    for _ in range(ROUNDS):
        order.shuffle(turns)
        for name in turns:
            times[name].append(samples[name].microseconds())
    return {
        "case": case.name,
        "operation": case.operation,
        "dtype": case.dtype,
        "columns": case.columns,
        "rows": rows,
        "bytes": moved,
        "mib": mib,
        "triton_warps": best,
        "worst_error": worst,
        "us": {name: [statistics.median(one), min(one), max(one)] for name, one in times.items()},
    }


def _launch_cost(folder: Path, kernels: Any) -> dict[str, Any]:
    """Microseconds of Python per call of a small kernel with three tensors, in turns."""
    import torch

    case = Case("rmsnorm", "bf16", 1024)
    given = Operands(case, 4)
    artifact, arguments, stream = _load(folder, case), given.arguments(), _stream()
    native = artifact.entry.direct((*arguments, 4, stream))
    calls = {
        "ours, the native function": lambda: native(*arguments, 4, stream),
        "ours, the artifact": lambda: artifact(*arguments, 4, stream),
        "torch.add(x, x, out=y)": lambda: torch.add(given.x, given.x, out=given.y),
        "torch rms_norm": given.of_torch,
        "triton": _triton_call(kernels, given, 4),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(9):
        for name, call in calls.items():
            for _ in range(50):
                call()
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(2000):
                call()
            times[name].append((time.perf_counter() - started) / 2000 * 1e6)
            torch.cuda.synchronize()
    return {name: [statistics.median(one), min(one), max(one)] for name, one in times.items()}


_FIRST_CALL = """
import sys, time
import torch
torch.zeros(1, device="cuda")
from flydsl import runtime
runtime.current_device()
started = time.perf_counter()
artifact = runtime.load_artifact(sys.argv[1])
loaded = time.perf_counter()
artifact.load_module()
print((loaded - started) * 1e3, (time.perf_counter() - loaded) * 1e3)
"""


def _first_call(path: Path, cached: bool) -> list[float]:
    """Milliseconds for the file and for the driver, in a new process; the driver's own cache off or on."""
    settings = {**os.environ, "CUDA_CACHE_DISABLE": "0" if cached else "1"}
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_CALL, str(path)], env=settings, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def _first_calls(path: Path) -> dict[str, list[float]]:
    """`_first_call` of an artifact without and with the driver's cache: of three processes each, the middle one."""

    def middle(cached: bool) -> list[float]:
        return sorted(_first_call(path, cached) for _ in range(3))[1]

    found = {"driver compiles": middle(False)}
    _first_call(path, True)
    return found | {"driver's cache": middle(True)}


def _machine() -> dict[str, Any]:
    import torch
    import triton

    query = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit"
    done = subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True, check=False)
    properties = torch.cuda.get_device_properties(0)
    return {
        "gpu": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "nvidia_smi": done.stdout.strip(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": sys.version.split()[0],
        "peers": cuda_peers.found(),
    }


def run(folder: Path, output: Path, only: str, seconds: float, others: list[Path]) -> int:
    """Time everything that is timed, and the first load of other artifacts.

    When `seconds` are over the rest is left out, and counted.
    """
    kernels = _triton_kernels(output.parent)
    until = time.monotonic() + seconds
    report: dict[str, Any] = {"machine": _machine(), "rounds": ROUNDS, "points": [], "left_out": []}
    small = folder / f"{Case('rmsnorm', 'bf16', 1024).name}.so"
    report["first_call_ms"] = {path.stem: _first_calls(path) for path in (small, *others)}
    report["launch_us"] = _launch_cost(folder, kernels)
    print(json.dumps(report, indent=1), flush=True)
    points = [
        (Case(operation, dtype, columns), mib)
        for columns in TIMED_COLUMNS
        for dtype in TIMED_DTYPES
        for operation in OPERATIONS
        for mib in TIMED_MIB
        if only in Case(operation, dtype, columns).name
    ]
    for case, mib in points:
        if time.monotonic() > until:
            report["left_out"].append([case.name, mib])
            continue
        point = _time_point(folder, kernels, case, mib)
        report["points"].append(point)
        rates = {name: point["bytes"] / one[0] / 1e6 for name, one in point["us"].items()}
        shown = "  ".join(f"{name} {rate:5.2f}" for name, rate in rates.items())
        print(f"{case.name:24} {mib:5} MiB  TB/s: {shown}  error {point['worst_error']:.2f}", flush=True)
        output.write_text(json.dumps(report, indent=1))
    wrong = [point["case"] for point in report["points"] if not point["worst_error"] <= 1.0]
    print(f"{len(report['points'])} points, {len(report['left_out'])} left out, {len(wrong)} wrong: {wrong}")
    return 1 if wrong else 0


def main() -> int:
    """One of the four commands of the page's top."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "check", "run"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--only", default="", help="cases whose name has this in it")
        if name == "check":
            command.add_argument("--most-rows", type=int, default=max(CHECKED_ROWS))
        if name == "run":
            command.add_argument("output", type=Path)
            command.add_argument("--seconds", type=float, default=420.0, help="after which no more points are begun")
            command.add_argument("--others", type=Path, nargs="*", default=[], help="artifacts, for their first load")
    made = commands.add_parser("page")
    made.add_argument("results", type=Path)
    made.add_argument("another", type=Path, nargs="?", help="of another run, for what a launch from Python took there")
    made.add_argument("--first", type=Path, help="of cuda_first.py")
    options = parser.parse_args()
    if options.command == "pack":
        return pack(options.folder, options.only)
    if options.command == "check":
        return check(options.folder, options.only, options.most_rows)
    if options.command == "run":
        return run(options.folder, options.output, options.only, options.seconds, options.others)
    from cuda_report.page import page

    return page(options.results, ROOT / "docs" / "benchmarks", options.another, options.first)


if __name__ == "__main__":
    sys.exit(main())
