#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The traced IR of kernels, and the passes that follow, written to a folder for tools/bench/pass_times.py.

    python tools/bench/pass_kernels.py FOLDER [NAME ...]

The kernels are those of the library, forward and backward, on typical sizes, and those of `shared_kernels.py`; gfx942.
`passes.json` in the folder holds the pipeline of the compiler itself up to the LLVM dialect, one pass an entry.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ARCH = "gfx942"
PASSES = "passes.json"
COLUMNS, ROWS, DTYPE = 8192, 16, "bf16"
# Names of cases of kernel_cases/: what the library's benchmark runs is what is compiled here.
_CASES = {
    "softmax": f"softmax {DTYPE} {ROWS}x{COLUMNS}",
    "layernorm": f"layernorm {DTYPE} {ROWS}x{COLUMNS}",
    "rmsnorm": f"rmsnorm {DTYPE} {ROWS}x{COLUMNS}",
    "quant_fp8": f"quantise {DTYPE} to fp8 {ROWS}x{COLUMNS}",
    "quant_int8": f"quantise {DTYPE} to int8 {ROWS}x{COLUMNS}",
    "rope": "rope + cache bf16 T32 H32/8 D128",
    "preshuffle_gemm_bf16": "gemm bf16 128x256x1024",
    "preshuffle_gemm_fp8": "gemm fp8 128x256x1024",
    "flash_attention": "attention full bf16 B1 Sq512 Skv512 H2/1 D128",
    "flash_attention_causal": "attention causal bf16 B1 Sq512 Skv512 H2/1 D128",
}
Launch = tuple[Any, tuple[Any, ...]]


def softmax_backward() -> Launch:
    """Rows of bf16."""
    import torch

    from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module

    rows = [torch.zeros(ROWS, COLUMNS, dtype=torch.bfloat16) for _ in range(3)]
    return build_softmax_bwd_module(COLUMNS, DTYPE), (*rows, ROWS)


def layernorm_backward() -> Launch:
    """Rows of bf16; the gradients of weight and bias are added with atomics."""
    import torch

    from flydsl.kernels.norm.layernorm_bwd_kernel import build_layernorm_bwd_module

    x, dy, dx = (torch.zeros(ROWS, COLUMNS, dtype=torch.bfloat16) for _ in range(3))
    sums = [torch.zeros(COLUMNS) for _ in range(2)]
    statistics = [torch.zeros(ROWS) for _ in range(2)]
    return build_layernorm_bwd_module(COLUMNS, DTYPE), (x, x[0].clone(), dy, *statistics, dx, *sums, ROWS)


def rmsnorm_backward() -> Launch:
    """Rows of bf16; the gradient of the weight is added with atomics."""
    import torch

    from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_module

    x, dy, dx = (torch.zeros(ROWS, COLUMNS, dtype=torch.bfloat16) for _ in range(3))
    rstd, sums = torch.zeros(ROWS), torch.zeros(COLUMNS)
    return build_rmsnorm_bwd_module(COLUMNS, DTYPE), (x, x[0].clone(), dy, rstd, dx, sums, ROWS)


def kernels() -> dict[str, Callable[[], Launch]]:
    """By name, what makes the launcher and its example arguments."""
    import shared_kernels
    from kernel_cases import all_cases

    cases = {case.name: case for case in all_cases(ARCH)}

    def from_case(name: str) -> Callable[[], Launch]:
        return lambda: (cases[name].build(), cases[name].arguments)

    backward = {one.__name__: one for one in (softmax_backward, layernorm_backward, rmsnorm_backward)}
    return {**{name: from_case(case) for name, case in _CASES.items()}, **backward, **shared_kernels.KERNELS}


def passes() -> list[dict[str, str]]:
    """The passes of the compiler's pipeline before code generation, those of the device module one by one."""
    from flydsl.compile.backends import get_backend

    found: list[tuple[str, str]] = []
    for stage in get_backend("rocm", arch=ARCH).stages(hints={}, opt_level=2, debug_info=False):
        if stage.name == "gpu-module-to-binary":
            break
        for text in re.findall(r"(?:\([^()]*\)|\{[^{}]*\}|[^,(){}])+", stage.text):
            device = re.fullmatch(r"gpu\.module\((.*)\)", text)
            inner = device.group(1).split(",") if device else [text]
            found += [(("gpu: " if device else "") + one.partition("{")[0], f"gpu.module({one})" if device else one)
                      for one in inner]  # fmt: skip
    names = [name for name, _ in found]
    return [
        {"name": name if names.count(name) == 1 else f"{name} #{names[: at + 1].count(name)}", "text": text}
        for at, (name, text) in enumerate(found)
    ]


def main() -> int:
    """Trace, and write one file a kernel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    known = kernels()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no kernel is called {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in options.names or known:
        launch, arguments = known[name]()
        (options.folder / f"{name}.mlir").write_text(launch.ir("origin", *arguments), encoding="utf-8")
    (options.folder / PASSES).write_text(json.dumps(passes()), encoding="utf-8")
    print(json.dumps(list(options.names or known)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
