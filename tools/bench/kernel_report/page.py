# SPDX-License-Identifier: Apache-2.0
"""The page docs/benchmarks/kernels.md."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .summary import Summary

_HEAD = """# Kernels: emulated and static figures

Written by `tools/bench/kernels.py`; run it again with

    tools/dev bench kernels --triton-venv build/bench-triton --peer-isa <the peer's figures>

**Nothing here was measured on hardware.** "Issue cycles" is the emulator's estimate from LLVM's scheduling model: the
cycles that the instructions of all waves take of their issue slots, one wave alone, nothing overlapping, no waiting for
memory. Bytes, transactions (64 bytes) and bank conflicts are what the emulated machine did. "Static" figures are those
of the compiled code. A ratio below 1 says that our kernel takes less. Predicted time of problems of full size is on
[a page of its own](predicted.md).
"""


def render(found: Summary, plots: list[str]) -> str:
    """The page as Markdown."""
    parts = [_HEAD, _targets(found)]
    parts += [f"![{name}]({name}.svg)\n" for name in plots]
    for arch in sorted({row["arch"] for row in found.rows}):
        rows = [row for row in found.rows if row["arch"] == arch]
        parts.append(f"## {arch}, emulated, beside Triton\n")
        parts.append(_emulated(rows))
        against = [row for row in rows if row["peer"]]
        if against:
            parts.append(f"## {arch}, static, beside the peer\n")
            parts.append(
                "Issue cycles: for each FLOP of the main loop (GEMM, attention), or for a row (one static pass of the "
                "peer's kernel, our emulated launch).\n"
            )
            parts.append(_static(against))
    parts.append(_notes(found))
    return "\n".join(parts)


def draw(python: Path, folder: Path) -> list[str]:
    """Draw the plots from kernels.json, in the environment that has matplotlib; their names."""
    script = Path(__file__).resolve().parent / "plots.py"
    done = subprocess.run(
        [str(python), str(script), str(folder / "kernels.json"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(python.parents[1]), "SOURCE_DATE_EPOCH": "0"},
    )
    if done.returncode:
        raise SystemExit(f"{script.name}: {done.stderr.strip()[-2000:]}")
    return done.stdout.split()


def _targets(found: Summary) -> str:
    lines = ["## Targets\n"]
    lines += [f"- {name}: median **{value:.2f}**" for name, value in found.medians.items()]
    for other, called in (("triton", "Triton"), ("peer", "the peer")):
        ratios = [row[f"{other}_ratio"] for row in found.rows if row[f"{other}_ratio"] is not None]
        if ratios:
            behind = sum(ratio > 1.0 for ratio in ratios)
            lines.append(f"- {called}: ahead of us in {behind} of {len(ratios)} cases, worst {max(ratios):.2f}")
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


def _bold(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return f"**{ratio:.2f}**" if ratio > 1.0 else f"{ratio:.2f}"


def _emulated(rows: list[dict[str, Any]]) -> str:
    heads = ["operation", "dtype", "shape", "issue cycles", "Triton", "ratio", "bytes / least", "Triton",
             "transactions", "Triton", "bank conflicts", "Triton", "error / tolerance"]  # fmt: skip
    cells = [
        [
            row["operation"],
            row["dtype"],
            row["shape"] + (f", {row['settings']}" if row["settings"] else ""),
            _shown(row["issue_cycles"]),
            _shown(row["triton_issue_cycles"]) + (f" ({row['triton_choice']})" if row["triton_choice"] else ""),
            _bold(row["triton_ratio"]),
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
    heads = ["operation", "dtype", "peer's entry", "issue cycles, ratio", "matrix share", "peer", "registers", "peer",
             "waves / SIMD", "peer", "code bytes", "peer", "loads by bytes a lane", "peer", "spills", "compiled in s",
             "peer"]  # fmt: skip
    cells = [
        [
            row["operation"],
            row["dtype"],
            row["peer"].split("@")[0],
            _bold(row["peer_ratio"]),
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
            _shown(row["compile_seconds"], "{:.2f}"),
            _shown(row["peer_compile_seconds"], "{:.2f}"),
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
        "warp counts the one with the fewest issue cycles is shown. It is not tuned further."
    )
    lines.append(
        "- Shares of the matrix unit below the target: what bounds them, with the arithmetic, is on the pages "
        "[gemm](../kernels/gemm.md) and [attention](../kernels/attention.md)."
    )
    lines.append(
        "- Bytes / least: weights of norms count once for each row: with so few rows, each has threads of its own; "
        "rows of the tables of a rotary embedding once for each token; queries of attention are read in pieces of "
        "32 bytes, half a transaction."
    )
    lines.append(
        "- Compile times are processor seconds of one compilation in a warm process; the peer's are its own, measured "
        "on a quiet machine."
    )
    return "\n".join(lines) + "\n"
