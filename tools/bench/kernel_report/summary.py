# SPDX-License-Identifier: Apache-2.0
"""From measurements to the figures of the page, and to what misses its target."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

MEDIAN_TARGET = 0.90  # of the peer's issue cycles
DENSITY_TARGET = {"gemm": 0.90, "attention": 0.60}
COMPILE_TARGET = 1.0  # seconds
MOVED_TARGET = 1.0  # bytes of row kernels, as a multiple of the least
_ROW_KERNELS = ("softmax", "layernorm", "rmsnorm", "quantise")
# Rows of a workgroup of the peer, where it is not one: of its RMSNorm up to 2048 columns.
_PEER_ROWS = {"rmsnorm_n1024": 16}
_CACHED = 4096  # bytes of arguments and the like that a launch reads beside its tensors


@dataclass
class Summary:
    """Rows of the tables, lines to print, and what is wrong (not merely slow)."""

    rows: list[dict[str, Any]]
    misses: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    medians: dict[str, float] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    compared: int = 0

    @property
    def lines(self) -> list[str]:
        """For the terminal."""
        heads = [f"{name}: median {value:.2f}" for name, value in self.medians.items()]
        return [*heads, *(f"target missed: {text}" for text in self.misses), *(f"WRONG: {text}" for text in self.wrong)]


def summarise(results: list[dict[str, Any]], peer: dict[str, Any]) -> Summary:
    """One row a case, with ratios (ours / other) of issue cycles."""
    found = Summary([_row(entry, peer) for entry in results])
    missed: dict[tuple[str, str], list[str]] = {}
    for entry, row in zip(results, found.rows, strict=True):
        name = f"{row['arch']} {row['operation']} {row['dtype']} {row['shape']}"
        if not entry["ours"]["error"] <= 1.0:
            found.wrong.append(f"{name}: error {entry['ours']['error']:.3g} times the tolerance")
        found.differences += entry.get("differences", [])
        found.compared += "differences" in entry
        for text in _misses(row):
            case = ", ".join(
                one for one in (f"{row['arch']} {row['operation']} {row['shape']}", row["settings"]) if one
            )
            missed.setdefault((case, text), []).append(row["dtype"])
    found.misses += [f"{name} ({', '.join(dtypes)}): {text}" for (name, text), dtypes in missed.items()]
    found.wrong += [f"the static tools disagree: {text}" for text in found.differences]
    for other in ("triton", "peer"):
        ratios = [row[f"{other}_ratio"] for row in found.rows if row[f"{other}_ratio"] is not None]
        if ratios:
            found.medians[f"issue cycles, ours / {other}"] = statistics.median(ratios)
    median = found.medians.get("issue cycles, ours / peer")
    if median is not None and median > MEDIAN_TARGET:
        found.misses.append(f"median over all of the peer's kernels {median:.2f}, target {MEDIAN_TARGET:.2f}")
    return found


def _misses(row: dict[str, Any]) -> list[str]:
    texts = []
    for other, called in (("triton", "Triton"), ("peer", "the peer")):
        ratio = row[f"{other}_ratio"]
        if ratio is not None and ratio > 1.0:
            texts.append(f"{ratio:.2f} of the issue cycles of {called}")
    family = row["operation"].split()[0]
    target = DENSITY_TARGET.get(family)
    if target is not None and row["density"] is not None and row["density"] < target:
        texts.append(f"matrix unit {row['density']:.2f} of the main loop's issue time, target {target:.2f}")
    if family in (*_ROW_KERNELS, "rope") and row["moved"] > MOVED_TARGET + _CACHED / row["least_bytes"]:
        texts.append(f"moves {row['moved']:.2f} of the least bytes")
    if family in (*_ROW_KERNELS, "rope") and row["conflicts"]:
        texts.append(f"{row['conflicts']} cycles of bank conflicts")
    if row["spills"]:
        texts.append(f"{row['spills']} spilled registers")
    if row["compile_seconds"] > COMPILE_TARGET:
        texts.append(f"compiled in {row['compile_seconds']:.2f} s, target {COMPILE_TARGET:.0f} s")
    return texts


def _row(entry: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    ours, triton = entry["ours"], entry.get("triton") or {}
    shaped = entry.get("peer_shape") or ours
    kernel = max(shaped["static"], key=lambda one: one["whole"]["issue_cycles"])
    loop = kernel["main_loop"]
    theirs = _peer_kernel(peer.get(entry["peer"] or ""))
    row: dict[str, Any] = {
        key: entry[key] for key in ("arch", "operation", "dtype", "shape", "settings", "least_bytes")
    }
    row.update(
        issue_cycles=ours["issue_cycles"],
        error=ours["error"],
        moved=(ours["bytes_loaded"] + ours["bytes_stored"]) / entry["least_bytes"],
        transactions=ours["transactions"],
        conflicts=ours["lds_conflict_cycles"],
        vgpr=kernel["vgpr_total"],
        waves=kernel["waves_per_simd"],
        spills=kernel["spills"],
        code_bytes=kernel["code_bytes"],
        density=loop["density"] if loop and loop["matrix_cycles"] else None,
        loads=_widths(kernel["whole"]),
        compile_seconds=max(ours["compile_seconds"], shaped["compile_seconds"]),
        triton_issue_cycles=triton.get("issue_cycles"),
        triton_choice=triton.get("choice"),
        triton_refused=triton.get("refused", []),
        triton_bytes=None,
        triton_transactions=triton.get("transactions"),
        triton_conflicts=triton.get("lds_conflict_cycles"),
        triton_ratio=None,
        peer=entry["peer"] if theirs else None,
        peer_ratio=None,
    )
    if "issue_cycles" in triton:
        row["triton_ratio"] = ours["issue_cycles"] / triton["issue_cycles"]
        row["triton_bytes"] = (triton["bytes_loaded"] + triton["bytes_stored"]) / entry["least_bytes"]
    if theirs:
        row.update(_against_peer(entry, kernel, theirs, peer[entry["peer"]]))
    return row


def _peer_kernel(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    kernel: dict[str, Any] = max(entry["kernels"], key=lambda one: one["whole"]["issue_cycles"])
    return kernel


def _against_peer(
    entry: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any], about: dict[str, Any]
) -> dict[str, Any]:
    """The peer's figures, and the ratio of issue cycles.

    Kernels with matrix instructions: cycles for each FLOP of the main loop (of the whole kernel, where the peer has
    unrolled it all). Others: what our launch takes for a row or token, by the emulator, against one static pass of the
    peer's kernel for each wave of a workgroup.
    """
    loop = theirs["main_loop"]
    result = {
        "peer_vgpr": theirs["vgpr_total"],
        "peer_waves": theirs["occupancy"]["waves_per_simd"],
        "peer_spills": theirs["vgpr_spill"] + theirs["sgpr_spill"],
        "peer_code_bytes": theirs["code_bytes"],
        "peer_density": None,
        "peer_loads": theirs["hist"]["vmem_load"],
        "peer_compile_seconds": about["time"]["compile_s"],
    }
    work = loop if loop and loop["flops_per_wave"] else theirs["whole"]
    if work["flops_per_wave"]:
        result["peer_density"] = work["mfma_density"]
        mine = ours["main_loop"] if ours["main_loop"] and ours["main_loop"]["flops"] else ours["whole"]
        peer_cost = work["issue_cycles"] / work["flops_per_wave"]
        result["peer_ratio"] = mine["issue_cycles"] / mine["flops"] / peer_cost
    elif entry["operation"] in _ROW_KERNELS:
        rows = int(entry["shape"].split("x")[0])
        peer_rows = next((count for name, count in _PEER_ROWS.items() if entry["peer"].startswith(name)), 1)
        per_row = theirs["whole"]["issue_cycles"] * theirs["waves_per_wg"] / peer_rows
        result["peer_ratio"] = entry["ours"]["issue_cycles"] / rows / per_row
    return result


def _widths(work: dict[str, Any]) -> dict[str, int]:
    """Loads from memory by bytes a lane."""
    widths: dict[str, int] = {}
    for kind in ("vmem_load", "vmem_lds"):
        for width, count in work["widths"].get(kind, {}).items():
            widths[str(width)] = widths.get(str(width), 0) + count
    return widths
