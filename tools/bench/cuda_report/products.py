# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks/hopper-products.md and such pages of other GPUs, from the results of cuda_gemm.py, cuda_attention.py
and cuda_power.py."""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_HEAD = """\
# Hopper: products and attention on an {device}

Measured on one {device} with torch {torch} (CUDA {cuda}), by `tools/bench/cuda_gemm.py` and
`tools/bench/cuda_attention.py`. Times are those of CUDA graphs of calls over rotating operands, by events, the
contenders taking turns in one run, in an order drawn anew for each round: TFLOP/s, medians of 25 rounds, with the least
and the most. The GPU lowers its clock as these kernels reach its power limit: compare within a row. Operands are normal
random numbers.{stars}

What ran: the artifacts (PTX, compiled by the driver) of the kernels, by the runtime, from Python. The operators
`flydsl.kernels.gemm` and `flash_attention` compile the same at their first call.

{checked_suites}

## Products

C = A B^T, `gemm.hopper_gemm` in its default configuration for the shape; cuBLAS is `torch.mm` and `torch._scaled_mm`
with scales of 1; Triton reads through tensor descriptors, tuned over 10 configurations at each point. *Equal* is the
share of elements that are bit for bit those of cuBLAS.{dsl}

{checked_products}

*Of a copy* is for up to 64 rows: the bytes of A and B a second over those that torch's copy of B reads and writes.

| operands, M x N x K | ours (least, most) | cuBLAS | Triton |{names} ours / cuBLAS | equal | of a copy |
|---|---|---|---|{dashes}---|---|---|"""

_ATTENTION = """
## Attention, forward

`attention.hopper_attention`; 16,384 tokens in all, heads of 2,048 elements together, Sq = Skv. cuDNN and torch's own
flash attention are backends of `scaled_dot_product_attention`. FLOPs are 4 Sq Skv D a head, half of it with the causal
mask.{flash}

{checked_attention}

| type, D, mask, heads of Q for one of K | batch x length | ours (least, most) | cuDNN | torch |{names} ours / cuDNN |
|---|---|---|---|---|{dashes}---|"""

_POWER = """
## Products, each alone

By `tools/bench/cuda_power.py`: each contender runs for itself for a quarter of a second and is then measured for half a
second, so that it has the clock that its own power leaves it. FMA is multiplications with addition a cycle and
multiprocessor, of which the matrix units can do {bf16} of bf16 and {fp8} of e4m3.

| operands, M x N x K | contender | TFLOP/s | to cuBLAS | MHz | FMA |
|---|---|---|---|---|---|"""
_SCALED = "ours, scales of rows"
_FMA = {"bf16": 2048, "fp8": 4096}
_MULTIPROCESSORS = 132


def _by(rows: Iterable[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """Rows of a point by the contender's name."""
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), {})[row["contender"]] = row
    return found


def _rate(row: dict[str, Any] | None, spread: bool = False) -> str:
    if row is None:
        return ""
    return f"{row['tflops']:.0f}" + (f" ({row['least']:.0f}, {row['most']:.0f})" if spread else "")


def _beside(rows: dict[str, dict[str, Any]], ours: dict[str, Any], peer: str) -> str:
    """Two cells: a peer's rate, and ours over it; empty ones where it was not timed."""
    found = rows.get(peer)
    return f" {_rate(found)} | {ours['tflops'] / found['tflops']:.3f} |" if found else " | |"


def _earlier(row: dict[str, Any]) -> str:
    """A mark for what an earlier run measured; who puts files of results together writes `earlier` into its rows."""
    return " *" if row.get("earlier") else ""


def _of_a_copy(ours: dict[str, Any], copy: dict[str, Any] | None) -> str:
    """The bytes of A and B that ours reads in a second, over those that a copy of B reads and writes."""
    if copy is None:
        return ""
    read = (ours["m"] + ours["n"]) / (2 * ours["n"])
    return f"{ours['tflops'] / copy['tflops'] * read:.2f}"


def _power(path: Path) -> list[str]:
    """The part of the page about products that ran alone."""
    lines = [_POWER.format(**_FMA)]
    for (dtype, m, n, k), rows in _by(json.loads(path.read_text())["rows"], "dtype", "m", "n", "k").items():
        for name, row in rows.items():
            fma = row["tflops"] * 1e6 / row["megahertz"] / _MULTIPROCESSORS / 2
            ratio = row["tflops"] / rows["cuBLAS"]["tflops"]
            lines.append(
                f"| {dtype} {m} x {n} x {k} | {name.split()[0]} | {row['tflops']:.0f} | {ratio:.3f} "
                f"| {row['megahertz']:.0f} | {fma:.0f} |"
            )
    return lines


def _versions(found: dict[str, Any], rows: list[dict[str, Any]], peer: str) -> dict[str, str] | None:
    """The versions of the peers in a file of results, where this one was timed."""
    timed = any(row["contender"] == peer for row in rows)
    return found["peers"] if timed else None


def page(gemm: Path, attention: Path, target: Path, checked: tuple[str, str, str], power: Path | None = None) -> int:
    """Write a page from files of results, and what the two checks before and the suites said."""
    first, second, suites = (textwrap.fill(one, 120) for one in checked)
    products, forwards = (json.loads(path.read_text()) for path in (gemm, attention))
    of_run = {key: products[key] for key in ("device", "torch", "cuda")}
    starred = any("earlier" in row for found in (products, forwards) for row in found["rows"])
    of_run["stars"] = " Rows with a star are\nof an earlier run, of the kernels as they were then." if starred else ""
    dsl, flash = (
        _versions(products, products["rows"], "CuTe DSL"), _versions(forwards, forwards["rows"], "FlashAttention-4")
    )  # fmt: skip
    said = dsl and (
        f"\nCuTe DSL {dsl['CuTe DSL']} is the product of QuACK {dsl['QuACK']}, tuned over its own configurations at "
        "each point."
    )
    lines = [
        _HEAD.format(
            checked_products=first, checked_suites=suites, dsl=said or "", dashes="---|---|" * bool(dsl),
            names=" CuTe DSL | ours / CuTe DSL |" * bool(dsl), **of_run,
        )
    ]  # fmt: skip
    ratios: dict[str, list[float]] = {}
    of_dsl: list[float] = []
    scaled: list[str] = []
    for (dtype, m, n, k), rows in _by(products["rows"], "dtype", "m", "n", "k").items():
        ours, peer = next(row for row in rows.values() if row.get("default")), rows["cuBLAS"]
        ratio = ours["tflops"] / peer["tflops"]
        if m >= 4096:
            ratios.setdefault(dtype, []).append(ratio)
        lines.append(
            f"| {dtype} {m} x {n} x {k}{_earlier(ours)} | {_rate(ours, True)} | {_rate(peer, True)} "
            f"| {_rate(rows.get('Triton'))} |{_beside(rows, ours, 'CuTe DSL') * bool(dsl)} {ratio:.3f} "
            f"| {ours['equal']:.6f} | {_of_a_copy(ours, rows.get('copy of B'))} |"
        )
        if _SCALED in rows:
            scaled.append(f"{m} x {n} x {k} {rows[_SCALED]['tflops'] / peer['tflops']:.3f}")
        if "CuTe DSL" in rows:
            of_dsl.append(ours["tflops"] / rows["CuTe DSL"]["tflops"])
    means = ", ".join(f"{dtype} {statistics.geometric_mean(some):.3f}" for dtype, some in ratios.items())
    beside = f", of ours / CuTe DSL {statistics.geometric_mean(of_dsl):.3f}" if of_dsl else ""
    lines += [
        "",
        f"Geometric means of ours / cuBLAS for 4,096 rows and more: {means}{beside}.",
        *([f"Ours of fp8 with scales of rows and columns / cuBLAS: {', '.join(scaled)}."] * bool(scaled)),
        *(_power(power) if power else []),
        _ATTENTION.format(
            checked_attention=second, dashes="---|---|" * bool(flash),
            flash=f" FlashAttention-4 is {flash['FlashAttention-4']}." if flash else "",
            names=" FlashAttention-4 | ours / it |" * bool(flash),
        ),
    ]  # fmt: skip
    keys = ("dtype", "head_dim", "causal", "group", "batch", "length")
    for (dtype, depth, causal, group, batch, length), rows in _by(forwards["rows"], *keys).items():
        ours, peer = rows["ours default"], rows["cuDNN"]
        lines.append(
            f"| {dtype}, {depth}, {'causal' if causal else 'none'}, {group}{_earlier(ours)} | {batch} x {length} "
            f"| {_rate(ours, True)} | {_rate(peer, True)} | {_rate(rows.get('torch flash'))} "
            f"|{_beside(rows, ours, 'FlashAttention-4') * bool(flash)} {ours['tflops'] / peer['tflops']:.3f} |"
        )
    target.write_text("\n".join([*lines, ""]))
    print(target)
    return 0
