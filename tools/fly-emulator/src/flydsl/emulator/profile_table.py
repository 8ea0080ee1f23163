# SPDX-License-Identifier: Apache-2.0
"""A profile as `rich` tables."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from flydsl.emulator.profiling import Counters, Profile

_MOST_LINES = 25
_UNBOUND = 10_000  # columns; tables take what they need


def print_profile(profile: Profile, console: Console | None = None, least_bytes: int | None = None) -> None:
    """Print a profile; `least_bytes`: what the algorithm must move at least, for the roofline."""
    from rich.console import Console

    if console is None:
        console = Console()
        if not (console.is_terminal or console.is_jupyter or "COLUMNS" in os.environ):
            console = Console(width=_UNBOUND)  # of a file or pipe, rich would make 80 columns, and cut what is longer
    occupancy, timeline = profile.occupancy, profile.timeline
    console.print(
        f"[bold]{profile.kernel}[/bold] on emulated {profile.arch}, grid {profile.grid}, block {profile.block}\n"
        f"{profile.registers['vgpr']} VGPRs, {profile.registers['agpr']} AGPRs, {profile.registers['sgpr']} SGPRs, "
        f"{profile.lds_bytes:,} bytes LDS, {profile.scratch_bytes} bytes scratch, {profile.code_bytes:,} bytes code; "
        f"{occupancy.waves_per_simd} waves a SIMD (limited by {occupancy.limited_by})"
    )
    console.print("[dim]bytes and instructions are counted; cycles, transactions and conflicts are estimates[/dim]")
    console.print(_counters("by class", "class", profile.classes.items()))
    short = {name: _short(name) for name in profile.lines}
    console.print(_counters("by source line", "line", ((short[name], c) for name, c in profile.lines.items())))
    if profile.loops:
        console.print(_loops(profile))
    busy = ", ".join(f"{unit} {share:.0%}" for unit, share in timeline.busy.items())
    console.print(f"one compute unit ({timeline.groups} groups, {timeline.waves} waves): {timeline.cycles:,} cycles")
    console.print(f"  busy: {busy}")
    waited = sum(timeline.stalled.values()) or 1
    stalls = ", ".join(f"{reason} {cycles / waited:.0%}" for reason, cycles in timeline.stalled.items() if cycles)
    if stalls:
        console.print(f"  waves waited for: {stalls}")
    roofline = profile.roofline(least_bytes)
    console.print(
        f"roofline: memory {roofline.memory_seconds * 1e6:.2f} us, matrix {roofline.matrix_seconds * 1e6:.2f} us, "
        f"issue {roofline.issue_seconds * 1e6:.2f} us: bound by {roofline.bound}; {roofline.bytes_moved:,} bytes moved"
        + ("" if roofline.ratio is None else f", {roofline.ratio:.3f} x the least")
    )


def _short(line: str) -> str:
    path, _, number = line.rpartition(":")
    return f"{Path(path).name}:{number}" if path else line


def _counters(title: str, first: str, rows: Iterable[tuple[str, Counters]]) -> Table:
    from rich.table import Table

    table = Table(title=title)
    table.add_column(first, overflow="fold")  # on a narrow terminal too, a line is told by its end
    for name in ("instructions", "bytes loaded", "bytes stored", "coalescing", "LDS conflicts", "issue cycles", "MFMA"):
        table.add_column(name, justify="right")
    ordered = sorted(rows, key=lambda item: -item[1].issue_cycles)
    for name, c in ordered[:_MOST_LINES]:
        coalescing = "" if math.isnan(c.coalescing) else f"{c.coalescing:.2f}"
        table.add_row(
            name,
            f"{c.instructions:,}",
            f"{c.bytes_loaded:,}",
            f"{c.bytes_stored:,}",
            coalescing,
            f"{c.lds_conflict_cycles:,}",
            f"{c.issue_cycles:,}",
            f"{c.mfma_issue_share:.2f}" if c.mfma_cycles else "",
        )
    if len(ordered) > _MOST_LINES:
        table.caption = f"{len(ordered) - _MOST_LINES} more"
    return table


def _loops(profile: Profile) -> Table:
    from rich.table import Table

    table = Table(title="loops")
    for name in ("loop", "source"):
        table.add_column(name, overflow="fold")
    for name in ("code bytes", "iterations", "issue cycles", "MFMA share", "MFMA bound", "stalled"):
        table.add_column(name, justify="right")
    for loop in profile.loops:
        stalled = loop.timeline_stalled / loop.timeline_cycles if loop.timeline_cycles else 0.0
        table.add_row(
            "  " * loop.depth + loop.location,
            _short(loop.source),
            f"{loop.code_bytes:,}",
            f"{loop.iterations:,}",
            f"{loop.total.issue_cycles:,}",
            f"{loop.mfma_issue_share:.2f}",
            f"{loop.mfma_issue_bound:.2f}",
            f"{stalled:.0%}",
        )
    return table
