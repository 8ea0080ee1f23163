#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fly-layout against pycute and tensor-layouts, in one run, on the operations that they share.

    tools/bench/layout.py --venv build/bench-layout     # makes an environment with the peers, then measures
    python tools/bench/layout.py                        # measures with what is installed

The peers: `pycute` as CUTLASS ships it (in the wheel ``nvidia-cutlass``; the package called ``pycute`` in the Python
index is something else) and `tensor-layouts`.

Inputs: 1,000 random layouts, and the layouts of a GEMM kernel. An input counts only if every library accepts it, and
the results of all three have to be the same function. Each repetition makes fresh layouts (outside the clock), so
that nothing kept inside a layout from an earlier repetition is measured. The libraries take turns; a figure is the
median over the repetitions of the processor time per call; the spread is the distance between its quartiles.

Targets: at least 2 x faster than each peer in the median over the operations, and never slower than half its speed.
The exit status is 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("pycute", "tensor-layouts")
Arguments = tuple[Any, ...]


# -- inputs ----------------------------------------------------------------------------------------------------------
def random_shape(rng: random.Random, depth: int = 0) -> Any:
    """A nested shape."""
    if depth < 2 and rng.random() < 0.35:
        return tuple(random_shape(rng, depth + 1) for _ in range(rng.randint(2, 3)))
    return rng.choice([1, 2, 2, 4, 4, 8, 16, 3, 6])


def flat(t: Any) -> list[int]:
    """The leaves."""
    return [x for e in t for x in flat(e)] if isinstance(t, tuple) else [t]


def like(profile: Any, leaves: Any) -> Any:
    """The leaves of an iterator in the nesting of ``profile``."""
    return tuple(like(p, leaves) for p in profile) if isinstance(profile, tuple) else next(leaves)


def random_layout(rng: random.Random) -> tuple[Any, Any]:
    """Shape and stride of an injective layout: compact in a random order, sometimes with gaps."""
    shape = tuple(random_shape(rng, 1) for _ in range(rng.randint(1, 4)))
    extents = flat(shape)
    strides = [0] * len(extents)
    step = rng.choice([1, 1, 1, 2])
    for i in rng.sample(range(len(extents)), len(extents)):
        strides[i] = step
        step *= extents[i] * rng.choice([1, 1, 1, 2])
    return shape, like(shape, iter(strides))


# A 128 x 128 x 64 half-precision GEMM on 256 threads: global, LDS, thread-value, fragment and accumulator layouts.
GEMM = [
    ((4096, 4096), (4096, 1)), ((4096, 4096), (1, 4096)), ((128, 64), (64, 1)), ((64, 128), (1, 64)),
    ((128, 64), (4096, 1)), ((128, (64, 64)), (4096, (1, 64))), (((128, 32), (64, 64)), ((4096, 524288), (1, 64))),
    ((128, 64, 2), (64, 1, 8192)), (((8, 16), (64, 1)), ((64, 512), (1, 0))), ((256, 8), (8, 1)),
    (((8, 32), 8), ((1024, 1), 128)), (((16, 4), 4), ((1, 64), 16)), (((16, 4), (4, 1)), ((16, 4), (1, 16))),
    (((16, 4, 2, 2), (4, 4, 4)), ((1, 64, 16, 0), (16, 256, 32))), ((64, 2, 2, 1), (1, 64, 128, 0)),
    (((4, 1), 4, 4), ((1, 0), 4, 16)), ((8, 4, 4), (1, 8, 32)), (((32, 2), (4, 4)), ((32, 4), (1, 8))),
    ((16, (4, 4, 64)), (4, (1, 64, 256))), ((128, 128), (128, 1)),
]  # fmt: skip


# -- libraries -------------------------------------------------------------------------------------------------------
@dataclass
class Library:
    """The same operations under each library's names."""

    name: str
    layout: Callable[[Any, Any], Any]
    operations: dict[str, Callable[..., Any]]


def libraries() -> list[Library]:
    """fly-layout first, then the peers that are installed."""
    import flydsl.layout as fl

    found = [
        Library(
            "fly-layout",
            fl.Layout,
            {
                "layout, compact": fl.Layout,
                "layout(index)": lambda a, i: a(i),
                "layout(coord)": lambda a, c: a(c),
                "layout(slice)": lambda a, c: a(c),
                "mode": lambda a: a[0],
                "==": lambda a, b: a == b,
                "size": fl.size,
                "cosize": fl.cosize,
                "flatten": fl.flatten,
                "product": fl.product,
                "prefix_product": fl.prefix_product,
                "idx2crd": fl.idx2crd,
                "crd2idx": fl.crd2idx,
                "shape_div": fl.shape_div,
                "coalesce": fl.coalesce,
                "composition": fl.composition,
                "complement": fl.complement,
                "right_inverse": fl.right_inverse,
                "left_inverse": fl.left_inverse,
                "logical_divide": fl.logical_divide,
                "zipped_divide": fl.zipped_divide,
                "tiled_divide": fl.tiled_divide,
                "logical_product": fl.logical_product,
                "swizzle": fl.Swizzle(3, 4, 3),
            },
        )
    ]
    try:
        import pycute
        from pycute import swizzle as pycute_swizzle
    except ImportError:
        pass
    else:
        found.append(
            Library(
                "pycute",
                pycute.Layout,
                {
                    "layout, compact": pycute.Layout,
                    "layout(index)": lambda a, i: a(i),
                    "layout(coord)": lambda a, c: a(c),
                    "layout(slice)": lambda a, c: a(c),
                    "mode": lambda a: a[0],
                    "==": lambda a, b: a == b,
                    "size": pycute.size,
                    "cosize": pycute.cosize,
                    "flatten": pycute.flatten,
                    "product": pycute.product,
                    "prefix_product": pycute.prefix_product,
                    "idx2crd": pycute.idx2crd,
                    "crd2idx": pycute.crd2idx,
                    "shape_div": pycute.shape_div,
                    "coalesce": pycute.coalesce,
                    "composition": pycute.composition,
                    "complement": pycute.complement,
                    "right_inverse": pycute.right_inverse,
                    "left_inverse": pycute.left_inverse,
                    "logical_divide": pycute.logical_divide,
                    "zipped_divide": pycute.zipped_divide,
                    "tiled_divide": pycute.tiled_divide,
                    "logical_product": pycute.logical_product,
                    "swizzle": pycute_swizzle.Swizzle(3, 4, 3),
                },
            )
        )
    try:
        import tensor_layouts as tl
    except ImportError:
        pass
    else:
        found.append(
            Library(
                "tensor-layouts",
                tl.Layout,
                {
                    "layout, compact": tl.Layout,
                    "layout(index)": lambda a, i: a(i),
                    "layout(coord)": lambda a, c: a(c),
                    "layout(slice)": lambda a, c: a(c),
                    "mode": lambda a: tl.mode(a, 0),
                    "==": lambda a, b: a == b,
                    "size": tl.size,
                    "cosize": tl.cosize,
                    "flatten": tl.flatten,
                    "prefix_product": tl.prefix_product,
                    "idx2crd": tl.idx2crd,
                    "crd2idx": tl.crd2idx,
                    "shape_div": tl.shape_div,
                    "coalesce": tl.coalesce,
                    "composition": tl.compose,
                    "complement": tl.complement,
                    "right_inverse": tl.right_inverse,
                    "left_inverse": tl.left_inverse,
                    "logical_divide": tl.logical_divide,
                    "zipped_divide": tl.zipped_divide,
                    "tiled_divide": tl.tiled_divide,
                    "logical_product": tl.logical_product,
                    "swizzle": tl.Swizzle(3, 4, 3),
                },
            )
        )
    return found


# -- cases -----------------------------------------------------------------------------------------------------------
# An argument is a plain value, or ("layout", shape, stride) for a layout of the library at hand.
def layout(pair: tuple[Any, Any]) -> tuple[str, Any, Any]:
    """A layout as an argument."""
    return ("layout", *pair)


def cases(rng: random.Random, layouts: list[tuple[Any, Any]]) -> dict[str, list[tuple[Any, ...]]]:
    """Arguments of each operation."""

    def coord(shape: Any) -> Any:
        return tuple(coord(s) for s in shape) if isinstance(shape, tuple) else rng.randrange(shape)

    def size(shape: Any) -> int:
        n = 1
        for s in flat(shape):
            n *= s
        return n

    def divisor(n: int) -> int:
        return rng.choice([d for d in (1, 2, 3, 4, 8, 16, 32, 64) if n % d == 0])

    def part(n: int) -> tuple[Any, Any]:
        """A layout over part of n linear coordinates."""
        a = divisor(n)
        b = divisor(n // a)
        return rng.choice([(a, b), ((a, b), (1, a)), ((b, a), (a, 1))])

    shapes = [s for s, _ in layouts]
    return {
        "layout, compact": [(s,) for s in shapes],
        "layout(index)": [(layout(p), rng.randrange(size(p[0]))) for p in layouts],
        "layout(coord)": [(layout(p), coord(p[0])) for p in layouts],
        "layout(slice)": [(layout(p), (None, *coord(p[0])[1:])) for p in layouts if len(p[0]) > 1],
        "mode": [(layout(p),) for p in layouts],
        "==": [(layout(p), layout(rng.choice([p, layouts[0]]))) for p in layouts],
        "size": [(layout(p),) for p in layouts],
        "cosize": [(layout(p),) for p in layouts],
        "flatten": [(s,) for s in shapes],
        "product": [(s,) for s in shapes],
        "prefix_product": [(s,) for s in shapes],
        "idx2crd": [(rng.randrange(size(s)), s) for s in shapes],
        "crd2idx": [(coord(s), s, d) for s, d in layouts],
        "shape_div": [(s, divisor(flat(s)[0])) for s in shapes],
        "coalesce": [(layout(p),) for p in layouts],
        "composition": [(layout(p), layout(part(size(p[0])))) for p in layouts],
        "complement": [(layout(p), rng.choice([1, 2, 3]) * size(p[0])) for p in layouts],
        "right_inverse": [(layout(p),) for p in layouts],
        "left_inverse": [(layout(p),) for p in layouts],
        "logical_divide": [(layout(p), layout(part(size(p[0])))) for p in layouts],
        "zipped_divide": [(layout(p), tuple(divisor(size(s)) for s in p[0])) for p in layouts],
        "tiled_divide": [(layout(p), tuple(divisor(size(s)) for s in p[0])) for p in layouts],
        "logical_product": [(layout(p), layout(part(rng.choice([4, 8, 12])))) for p in layouts],
        "swizzle": [(rng.randrange(1 << 16),) for _ in layouts],
    }


def bound(library: Library, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with the library's own layouts."""
    return tuple(library.layout(a[1], a[2]) if isinstance(a, tuple) and a[:1] == ("layout",) else a for a in arguments)


def comparable(x: Any, samples: int = 40) -> Any:
    """What has to agree between libraries: values as they are, layouts as functions of the linear coordinate."""
    if hasattr(x, "shape") and hasattr(x, "stride"):
        n = 1
        for s in flat(x.shape):
            n *= s
        return n, [x(i) for i in sorted({*range(min(n, samples)), n - 1, n // 2, n // 3})]
    if isinstance(x, tuple) and len(x) == 1:
        return comparable(x[0])
    return x


def outcome(operation: str, arguments: tuple[Any, ...], result: Any) -> Any:
    """What has to agree: inverses where they are defined (libraries choose their sizes), everything else whole."""
    if operation == "left_inverse":
        a = arguments[0]
        return [result(a(i)) for i in range(24)]
    if operation == "right_inverse":
        return comparable(result)[0]
    return comparable(result)


def usable(libs: list[Library], operation: str, inputs: list[Arguments]) -> tuple[list[Arguments], list[str]]:
    """The inputs that every library accepts with one result; and whose result differs from ours, once per input."""
    kept, differences = [], []
    for arguments in inputs:
        results = []
        for lib in libs:
            if operation not in lib.operations:
                continue
            try:
                given = bound(lib, arguments)
                results.append(outcome(operation, given, lib.operations[operation](*given)))
            except Exception:  # whatever a library raises on what it refuses
                break
        else:
            if all(r == results[0] for r in results):
                kept.append(arguments)
            else:
                names = [lib.name for lib in libs if operation in lib.operations]
                differences += [n for n, r in zip(names, results, strict=True) if r != results[0]]
    return kept, differences


# -- measurement -----------------------------------------------------------------------------------------------------
def measure(libs: list[Library], operation: str, inputs: list[Arguments], repeats: int) -> dict[str, list[float]]:
    """Seconds per call of each library, one figure per repetition; the libraries take turns."""
    times: dict[str, list[float]] = {lib.name: [] for lib in libs if operation in lib.operations}
    loops = max(1, 2000 // max(1, len(inputs)))
    for _ in range(repeats):
        for lib in libs:
            if lib.name not in times:
                continue
            f = lib.operations[operation]
            fresh = [bound(lib, a) for _ in range(loops) for a in inputs]
            gc.collect()
            gc.disable()  # as timeit does: a collection would hit whoever happens to be measured
            start = time.thread_time()
            for arguments in fresh:
                f(*arguments)
            times[lib.name].append((time.thread_time() - start) / len(fresh))
            gc.enable()
    return times


def spread(times: list[float]) -> float:
    """Distance between the quartiles, as a share of the median."""
    quartiles = statistics.quantiles(times, n=4)
    return (quartiles[2] - quartiles[0]) / statistics.median(times)


def run(arguments: argparse.Namespace) -> int:
    """Measure everything; 0 when the targets are met."""
    libs = libraries()
    missing = set(PEERS) - {lib.name for lib in libs}
    if missing:
        print(f"not installed: {', '.join(sorted(missing))}; use --venv DIR", file=sys.stderr)
        return 2
    rng = random.Random(arguments.seed)
    sets = {"random": [random_layout(rng) for _ in range(arguments.layouts)], "gemm": GEMM}
    ratios: dict[str, list[float]] = {p: [] for p in PEERS}
    worst: dict[str, tuple[float, str]] = {p: (float("inf"), "") for p in PEERS}
    record: dict[str, Any] = {"python": sys.version.split()[0], "seed": arguments.seed, "operations": {}}
    print(f"Python {sys.version.split()[0]}; microseconds per call (spread); x = times faster than the peer\n")
    print(f"{'operation':24} {'inputs':>6} {'fly-layout':>16} {'pycute':>24} {'tensor-layouts':>24}")
    for name, layouts in sets.items():
        for operation, inputs in cases(rng, layouts).items():
            if name == "gemm" and operation in ("product", "swizzle", "flatten", "prefix_product"):
                continue  # no layouts in them
            kept, differences = usable(libs, operation, inputs)
            if not kept:
                print(f"{name}: {operation:16} no input that all take")
                continue
            times = measure(libs, operation, kept, arguments.repeats)
            ours = statistics.median(times["fly-layout"])
            row = f"{name + ': ' + operation:24} {len(kept):6} {ours * 1e6:8.2f} ({spread(times['fly-layout']):4.0%})"
            entry = {"fly-layout": ours}
            for peer in PEERS:
                if peer not in times:
                    row += f"{'-':>25}"
                    continue
                theirs = statistics.median(times[peer])
                ratio = theirs / ours
                entry[peer] = theirs
                ratios[peer].append(ratio)
                worst[peer] = min(worst[peer], (ratio, f"{name}: {operation}"))
                row += f"{theirs * 1e6:9.2f} ({spread(times[peer]):4.0%}) {ratio:6.1f}x"
            others = {peer: differences.count(peer) for peer in PEERS if peer in differences}
            print(row + "".join(f"  [{peer}: another result on {n}]" for peer, n in others.items()))
            record["operations"][f"{name}: {operation}"] = entry
    record["summary"] = {}
    print()
    missed = False
    for peer in PEERS:
        median, (least, where) = statistics.median(ratios[peer]), worst[peer]
        met = median >= 2 and least >= 0.5
        missed |= not met
        print(f"against {peer}: median {median:.1f} x, least {least:.2f} x ({where}) - {'met' if met else 'MISSED'}")
        record["summary"][peer] = {"median": median, "least": least, "where": where}
    construct(libs, rng, arguments.repeats)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(record, indent=1) + "\n")
    return int(missed)


def construct(libs: list[Library], rng: random.Random, repeats: int) -> None:
    """Explicit construction, for information: pycute stores its arguments as they are, the others check them."""
    pairs = [random_layout(rng) for _ in range(1000)]
    figures = []
    for lib in libs:
        best = []
        for _ in range(repeats):
            start = time.thread_time()
            for shape, stride in pairs:
                lib.layout(shape, stride)
            best.append((time.thread_time() - start) / len(pairs))
        figures.append(f"{lib.name} {statistics.median(best) * 1e6:.2f}")
    text = ", ".join(figures)
    print(f"\nfor information: Layout(shape, stride), {text} us; pycute checks nothing, which is less work")


def in_environment(folder: Path, rest: list[str]) -> int:
    """Make a virtual environment with fly-layout and the peers, once, and run there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "--no-deps", "nvidia-cutlass", "tensor-layouts"], check=True)
        subprocess.run([*install, str(ROOT / "packages" / "fly-layout")], check=True)
    return subprocess.run([str(python), __file__, *rest], check=False).returncode


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, help="make this environment with the peers, and run in it")
    parser.add_argument("--layouts", type=int, default=1000, help="random layouts (1000)")
    parser.add_argument("--repeats", type=int, default=15, help="repetitions (15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    if arguments.venv:
        rest = [f"--layouts={arguments.layouts}", f"--repeats={arguments.repeats}", f"--seed={arguments.seed}"]
        return in_environment(arguments.venv.resolve(), rest + ([f"--json={arguments.json}"] if arguments.json else []))
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
