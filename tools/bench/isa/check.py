# SPDX-License-Identifier: Apache-2.0
"""Compare our static figures of a code object with those of another tool."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .statistics import Statistics, Work, of_image

_SAME = ("vgpr", "agpr", "vgpr_total", "sgpr", "lds_bytes", "scratch_bytes", "code_bytes")
_RESOURCES = {**{name: name for name in _SAME}, "vgpr_allocated": "vgpr_alloc"}
_WORK = {"flops": "flops_per_wave", "matrix_cycles": "matrix_cycles", "issue_cycles": "issue_cycles",
         "density": "mfma_density", "bound": "mfma_bound"}  # fmt: skip


def differences(image: bytes, tool: Path) -> list[str]:
    """What the two say differently about the kernels of a code object; empty when they agree.

    The other tool takes the name of a file and prints JSON: {"kernels": [{"kernel", "vgpr", …, "hist", "whole",
    "main_loop"}]}.
    """
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(image)
        file.flush()
        done = subprocess.run([sys.executable, str(tool), file.name], capture_output=True, text=True, check=True)
    theirs = {one["kernel"]: one for one in json.loads(done.stdout)["kernels"]}
    return [text for one in of_image(image) for text in _of_kernel(one, theirs[one.kernel])]


def _of_kernel(ours: Statistics, theirs: dict[str, Any]) -> list[str]:
    pairs = [(name, getattr(ours, name), theirs[other]) for name, other in _RESOURCES.items()]
    pairs.append(("spills", ours.spills, theirs["vgpr_spill"] + theirs["sgpr_spill"]))
    pairs.append(("waves_per_simd", ours.waves_per_simd, theirs["occupancy"]["waves_per_simd"]))
    pairs += _of_work("whole", ours.whole, {**theirs["whole"], "hist": theirs["hist"]})
    if (ours.main_loop is None) != (theirs["main_loop"] is None):
        pairs.append(("main_loop", ours.main_loop, theirs["main_loop"]))
    elif ours.main_loop is not None:
        pairs += _of_work("main_loop", ours.main_loop, theirs["main_loop"])
    return [f"{ours.kernel}: {name} is {mine} here, {other} there" for name, mine, other in pairs if mine != other]


def _of_work(part: str, ours: Work, theirs: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    pairs = [(f"{part}.{name}", getattr(ours, name), theirs[other]) for name, other in _WORK.items()]
    counts = theirs["hist"]
    pairs.append((f"{part}.instructions", ours.instructions, counts["total"]))
    pairs.append((f"{part}.transcendental", ours.transcendental, counts["valu_trans"]))
    for name, value in counts.items():
        if isinstance(value, dict):
            widths = {str(width): count for width, count in ours.widths.get(name, {}).items()}
            pairs.append((f"{part}.{name}", widths, value))
        elif name != "total" and not name.startswith("valu_"):
            pairs.append((f"{part}.{name}", ours.classes.get(name, 0), value))
    return pairs
