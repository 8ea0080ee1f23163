# SPDX-License-Identifier: Apache-2.0
"""The page docs/benchmarks/kernels.md."""

from __future__ import annotations

from typing import Any

from .summary import Summary

_HEAD = """# Kernels: what their launches do

Written by `tools/bench/kernels.py`; run it again with

    tools/dev bench kernels --triton-venv build/bench-triton --peer-isa <the peer's figures>

**Nothing here was measured on hardware, and nothing here is time.** How long kernels take is predicted on pages of
their own, for [rows](rows.md) and for [products and attention](predicted.md), beside the same peers. Here is what small
launches do, on the emulator, and what the compiled code holds.

Bytes, transactions (64 bytes) and bank conflicts are what the emulated machine did. Issue cycles are those that the
instructions of all waves take of their issue slots by LLVM's scheduling model: work, of which a good part is done by
units that have nothing else to do. A row kernel that cuts a row among more waves has more of them, since each wave
computes its own addresses and takes part in the reduction, and is predicted to end sooner: so defaults are chosen by
predicted time and not by this count. "Static" figures are those of the compiled code.
"""


def render(found: Summary) -> str:
    """The page as Markdown."""
    parts = [_HEAD, _targets(found)]
    for arch in sorted({row["arch"] for row in found.rows}):
        rows = [row for row in found.rows if row["arch"] == arch]
        parts.append(f"## {arch}, emulated, beside Triton\n")
        parts.append(_emulated(rows))
        against = [row for row in rows if row["peer"]]
        if against:
            parts.append(f"## {arch}, static, beside the peer\n")
            parts.append(_static(against))
    parts.append(_notes(found))
    return "\n".join(parts)


def _targets(found: Summary) -> str:
    lines = [
        "## Targets\n",
        "Results within the tolerance, no registers spilled; rows move no more than the least bytes, without bank",
        "conflicts.",
    ]
    if found.misses:
        lines.append(f"\nMissed ({len(found.misses)}):\n")
        lines += [f"- {text}" for text in found.misses]
    else:
        lines.append("\nNone is missed.")
    return "\n".join(lines) + "\n"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join(lines) + "\n"


def _shown(value: Any, form: str = "{:,}") -> str:
    return "–" if value is None else form.format(value)


def _emulated(rows: list[dict[str, Any]]) -> str:
    heads = ["operation", "dtype", "shape", "issue cycles", "Triton", "bytes / least", "Triton",
             "transactions", "Triton", "bank conflicts", "Triton", "error / tolerance"]  # fmt: skip
    cells = [
        [
            row["operation"],
            row["dtype"],
            row["shape"] + (f", {row['settings']}" if row["settings"] else ""),
            _shown(row["issue_cycles"]),
            _shown(row["triton_issue_cycles"]) + (f" ({row['triton_choice']})" if row["triton_choice"] else ""),
            _shown(row["moved"], "{:.2f}"),
            _shown(row["triton_bytes"], "{:.2f}"),
            _shown(row["transactions"]),
            _shown(row["triton_transactions"]),
            _shown(row["conflicts"]),
            _shown(row["triton_conflicts"]),
            _shown(row["error"], "{:.2f}"),
        ]
        for row in rows
    ]
    return _table(heads, cells)


def _static(rows: list[dict[str, Any]]) -> str:
    heads = ["operation", "dtype", "peer's entry", "matrix share", "peer", "registers", "peer", "waves / SIMD",
             "peer", "code bytes", "peer", "loads by bytes a lane", "peer", "spills", "peer"]  # fmt: skip
    cells = [
        [
            row["operation"],
            row["dtype"],
            row["peer"].split("@")[0],
            _shown(row["density"], "{:.2f}"),
            _shown(row["peer_density"], "{:.2f}"),
            _shown(row["vgpr"]),
            _shown(row["peer_vgpr"]),
            _shown(row["waves"], "{:g}"),
            _shown(row["peer_waves"], "{:g}"),
            _shown(row["code_bytes"]),
            _shown(row["peer_code_bytes"]),
            _counts(row["loads"]),
            _counts(row["peer_loads"]),
            _shown(row["spills"]),
            _shown(row["peer_spills"]),
        ]
        for row in rows
    ]
    return _table(heads, cells)


def _counts(widths: dict[str, int]) -> str:
    return (
        ", ".join(f"{count} x {width}" for width, count in sorted(widths.items(), key=lambda one: int(one[0]))) or "–"
    )


def _notes(found: Summary) -> str:
    lines = ["## Notes\n"]
    if found.compared:
        agree = "agree on all of them" if not found.differences else "DISAGREE, see above"
        lines.append(f"- Static figures of {found.compared} code objects compared with the other tool: both {agree}.")
    refused = [(row, text) for row in found.rows for text in row["triton_refused"]]
    lines += [
        f"- Triton's candidate left out, {row['arch']} {row['operation']} {row['dtype']} {row['shape']}: "
        f"{' '.join(text.split())[:160]}"
        for row, text in refused
    ]
    lines.append(
        "- Triton 3.9.0 compiles plain sources (tools/bench/triton_kernels) without a GPU; of a few block sizes and "
        "warp counts the one with the fewest issue cycles is shown."
    )
    lines.append(
        "- Matrix share: matrix instructions' part of the issue cycles of the main loop. What bounds them, and how "
        "much of the time the matrix unit works, is on the pages [gemm](../kernels/gemm.md) and "
        "[attention](../kernels/attention.md)."
    )
    lines.append(
        "- Bytes / least: weights of norms count once for each row: with so few rows, each has threads of its own; "
        "rows of the tables of a rotary embedding once for each token; queries of attention are read in pieces of "
        "32 bytes, half a transaction."
    )
    return "\n".join(lines) + "\n"
