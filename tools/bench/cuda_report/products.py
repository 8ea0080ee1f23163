# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks/hopper-products.md, from the results of tools/bench/cuda_gemm.py and cuda_attention.py."""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_HEAD = """\
# Hopper: products and attention, on hardware

Measured on one {device} with torch {torch} (CUDA {cuda}), by `tools/bench/cuda_gemm.py` and
`tools/bench/cuda_attention.py`. Times are those of CUDA graphs of calls over rotating operands, by events, the
contenders taking turns in one run: TFLOP/s, medians of 25 rounds, with the least and the most. The GPU lowers its clock
as these kernels reach its power limit: compare within a row. Operands are normal random numbers.{stars}

What ran: the artifacts (PTX, compiled by the driver) of the kernels, by the runtime, from Python. The operators
`flydsl.kernels.gemm` and `flash_attention` compile the same at their first call.

{checked_suites}

## Products

C = A B^T, `gemm.hopper_gemm` in its default configuration for the shape; cuBLAS is `torch.mm` and `torch._scaled_mm`
with scales of 1; Triton reads through tensor descriptors, tuned over 10 configurations at each point. *Equal* is the
share of elements that are bit for bit those of cuBLAS.

{checked_products}

| operands, M x N x K | ours (least, most) | cuBLAS | Triton | ours / cuBLAS | equal |
|---|---|---|---|---|---|"""

_ATTENTION = """
## Attention, forward

`attention.hopper_attention`; 16,384 tokens in all, heads of 2,048 elements together, Sq = Skv. cuDNN and torch's own
flash attention are backends of `scaled_dot_product_attention`. FLOPs are 4 Sq Skv D a head, half of it with the causal
mask.

{checked_attention}

| type, D, mask, heads of Q for one of K | batch x length | ours (least, most) | cuDNN | torch | ours / cuDNN |
|---|---|---|---|---|---|"""


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


def _earlier(row: dict[str, Any]) -> str:
    """A mark for what an earlier run measured; who puts files of results together writes `earlier` into its rows."""
    return " *" if row.get("earlier") else ""


def _default(dtype: str, m: int, n: int, k: int) -> str:
    """The configuration that `default_hopper_config` takes for a shape, by its name in cuda_gemm.py."""

    def tiles(columns: int) -> int:
        return -(-m // 128) * -(-n // columns)

    narrow, turns = tiles(64), k * (1 if dtype == "fp8" else 2) // 128
    splits = 4 if narrow <= 16 and turns >= 128 else 2 if narrow <= 33 and turns >= 64 else 1
    shared = "" if splits == 1 else f"k{splits}"
    if m > 64:
        wide = next((name for columns, name in ((256, "256x4"), (128, "128x6")) if tiles(columns) >= 99), "")
        return wide or (f"64x6{shared}" if shared else "64x8")
    rows = "16" if m <= 16 else "64"
    return f"128x8r{rows}" if tiles(128) >= 99 else f"64x12r{rows}{shared}"


def page(gemm: Path, attention: Path, folder: Path, checked: tuple[str, str, str]) -> int:
    """Write hopper-products.md from two files of results, and what the two checks before and the suites said."""
    first, second, suites = (textwrap.fill(one, 120) for one in checked)
    products, forwards = (json.loads(path.read_text()) for path in (gemm, attention))
    of_run = {key: products[key] for key in ("device", "torch", "cuda")}
    starred = any("earlier" in row for found in (products, forwards) for row in found["rows"])
    of_run["stars"] = " Rows with a star are\nof an earlier run, of the kernels as they were then." if starred else ""
    lines = [_HEAD.format(checked_products=first, checked_suites=suites, **of_run)]
    ratios: dict[str, list[float]] = {}
    for (dtype, m, n, k), rows in _by(products["rows"], "dtype", "m", "n", "k").items():
        ours, peer = rows[f"ours {_default(dtype, m, n, k)}"], rows["cuBLAS"]
        ratio = ours["tflops"] / peer["tflops"]
        if m >= 4096:
            ratios.setdefault(dtype, []).append(ratio)
        lines.append(
            f"| {dtype} {m} x {n} x {k}{_earlier(ours)} | {_rate(ours, True)} | {_rate(peer, True)} "
            f"| {_rate(rows.get('Triton'))} | {ratio:.3f} | {ours['equal']:.6f} |"
        )
    means = ", ".join(f"{dtype} {statistics.geometric_mean(some):.3f}" for dtype, some in ratios.items())
    lines += [
        "",
        f"Geometric means of ours / cuBLAS for 4,096 rows and more: {means}.",
        _ATTENTION.format(checked_attention=second),
    ]
    keys = ("dtype", "head_dim", "causal", "group", "batch", "length")
    for (dtype, depth, causal, group, batch, length), rows in _by(forwards["rows"], *keys).items():
        ours, peer = rows["ours default"], rows["cuDNN"]
        lines.append(
            f"| {dtype}, {depth}, {'causal' if causal else 'none'}, {group}{_earlier(ours)} | {batch} x {length} "
            f"| {_rate(ours, True)} | {_rate(peer, True)} | {_rate(rows.get('torch flash'))} "
            f"| {ours['tflops'] / peer['tflops']:.3f} |"
        )
    target = folder / "hopper-products.md"
    target.write_text("\n".join([*lines, ""]))
    print(target)
    return 0
