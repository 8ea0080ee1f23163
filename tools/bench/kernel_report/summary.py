# SPDX-License-Identifier: Apache-2.0
"""From measurements to the figures of the page, and to what misses its target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MOVED_TARGET = 1.0  # bytes of row kernels, as a multiple of the least
_ROW_KERNELS = ("softmax", "layernorm", "rmsnorm", "quantise", "rope")
_CACHED = 4096  # bytes of arguments and the like that a launch reads beside its tensors


@dataclass
class Summary:
    """Rows of the tables, lines to print, and what is wrong (not merely much)."""

    rows: list[dict[str, Any]]
    misses: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    compared: int = 0

    @property
    def lines(self) -> list[str]:
        """For the terminal."""
        return [*(f"target missed: {text}" for text in self.misses), *(f"WRONG: {text}" for text in self.wrong)]


def summarise(results: list[dict[str, Any]], peer: dict[str, Any]) -> Summary:
    """One row a case."""
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
    return found


def _misses(row: dict[str, Any]) -> list[str]:
    texts = []
    if row["operation"].split()[0] in _ROW_KERNELS:
        if row["moved"] > MOVED_TARGET + _CACHED / row["least_bytes"]:
            texts.append(f"moves {row['moved']:.2f} of the least bytes")
        if row["conflicts"]:
            texts.append(f"{row['conflicts']} cycles of bank conflicts")
    if row["spills"]:
        texts.append(f"{row['spills']} spilled registers")
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
        triton_issue_cycles=triton.get("issue_cycles"),
        triton_choice=triton.get("choice"),
        triton_refused=triton.get("refused", []),
        triton_bytes=None,
        triton_transactions=triton.get("transactions"),
        triton_conflicts=triton.get("lds_conflict_cycles"),
        peer=entry["peer"] if theirs else None,
    )
    if "issue_cycles" in triton:
        row["triton_bytes"] = (triton["bytes_loaded"] + triton["bytes_stored"]) / entry["least_bytes"]
    if theirs:
        row.update(_of_peer(theirs))
    return row


def _peer_kernel(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    kernel: dict[str, Any] = max(entry["kernels"], key=lambda one: one["whole"]["issue_cycles"])
    return kernel


def _of_peer(theirs: dict[str, Any]) -> dict[str, Any]:
    """The peer's static figures; its matrix share of the whole kernel, where it has unrolled its main loop."""
    loop = theirs["main_loop"]
    work = loop if loop and loop["flops_per_wave"] else theirs["whole"]
    return {
        "peer_vgpr": theirs["vgpr_total"],
        "peer_waves": theirs["occupancy"]["waves_per_simd"],
        "peer_spills": theirs["vgpr_spill"] + theirs["sgpr_spill"],
        "peer_code_bytes": theirs["code_bytes"],
        "peer_density": work["mfma_density"] if work["flops_per_wave"] else None,
        "peer_loads": theirs["hist"]["vmem_load"],
    }


def _widths(work: dict[str, Any]) -> dict[str, int]:
    """Loads from memory by bytes a lane."""
    widths: dict[str, int] = {}
    for kind in ("vmem_load", "vmem_lds"):
        for width, count in work["widths"].get(kind, {}).items():
            widths[str(width)] = widths.get(str(width), 0) + count
    return widths
