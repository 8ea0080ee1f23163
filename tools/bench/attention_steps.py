#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of docs/kernels/attention-steps.md, one after the other: emulated counters and predicted time.

    FLYDSL_GPU_ARCH=gfx942 python tools/bench/attention_steps.py       # a table in Markdown

Two programs of packages/fly-kernels/examples and the library's kernel, each for 128 query rows and 256 keys of one head
of 128 elements, f16. Counters are exact; times are predicted (docs/emulator/prediction.md).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import flydsl.compiler as flyc
from flydsl.emulator import predict
from flydsl.emulator.device import Emulator
from flydsl.kernels.attention.config import default_config
from flydsl.kernels.attention.flash_attn_kernel import build_dense
from flydsl.runtime.device import get_rocm_arch

EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "fly-kernels" / "examples"
STEPS = (("1, registers only", "07_attention_in_registers"), ("2, tiles through LDS", "08_attention_through_lds"))
ROWS, KEYS, HEAD = 128, 256, 128
DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}


def program(name: str) -> Any:
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(name: str, launch: Callable[[], Any]) -> None:
    """Print what one program takes."""
    emulator = Emulator()
    emulator.set_profiling(True)
    launch()
    total = emulator.profile()["total"]
    emulator.set_profiling(False)
    with predict(DEVICES.get(get_rocm_arch(), "")) as session:
        launch()
    counted = (total[key] for key in ("issue_cycles", "bytes_loaded", "transactions", "lds_conflict_cycles"))
    cells = [name, *(f"{one:,}" for one in counted), f"{session.last.seconds * 1e6:.1f} us"]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> int:
    """Print the table."""
    sys.path.insert(0, str(EXAMPLES))
    q, k, v = (torch.randn(rows, HEAD).half() for rows in (ROWS, KEYS, KEYS))
    out = torch.empty_like(q)
    print("| step | issue cycles | bytes loaded | transactions | LDS conflict cycles | predicted |")
    print("|---|---|---|---|---|---|")
    for name, file in STEPS:
        module = program(file)
        tensors = [flyc.from_dlpack(one, assumed_align=16) for one in (q, k, v, out)]
        row(name, lambda: module.attention(*tensors))  # noqa: B023
    launch = build_dense(1, 1, HEAD, "f16", False, False, None, default_config(HEAD, ROWS))
    row("3, the library's kernel", lambda: launch(q, k, v, out, out, 1, ROWS, KEYS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
