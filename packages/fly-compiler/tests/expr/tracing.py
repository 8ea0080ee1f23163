# SPDX-License-Identifier: Apache-2.0
"""A kernel to trace into, without the compiler: the smallest thing that expressions need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.context import KernelScope, Trace


class Traced:
    """The kernel being traced: `args` (raw block arguments), `scope`, `ir()` (verified text)."""

    def __init__(self, module: Any, entry: Any, scope: KernelScope) -> None:
        self.module, self.entry, self.scope = module, entry, scope
        self.args = list(entry.arguments)

    def ir(self, *, locations: bool = False) -> str:
        """Return the text of the module, verified."""
        assert self.module.operation.verify()
        return str(self.module.operation.get_asm(enable_debug_info=locations))

    def count(self, op: str) -> int:
        """Return how many operations of that name there are."""
        return sum(1 for line in self.ir().splitlines() if f" {op}" in line.replace("(", " ").replace('"', " "))


@contextmanager
def kernel(
    *arg_types: str, arch: str = "gfx942", block: Sequence[int] | None = (256, 1, 1), fastmath: Any = None
) -> Iterator[Traced]:
    """Trace into `gpu.func @kernel(arg_types)` for `arch`."""
    context = ir.Context()
    with context, ir.Location.unknown():
        args = ", ".join(f"%{chr(97 + i)}: {t}" for i, t in enumerate(arg_types))
        function = f"gpu.func @kernel({args}) kernel {{ gpu.return }}"
        module = ir.Module.parse(f"module attributes {{gpu.container_module}} {{ gpu.module @m {{ {function} }} }}")
        gpu_module = module.body.operations[0]
        function = gpu_module.regions[0].blocks[0].operations[0]
        entry = function.regions[0].blocks[0]
        scope = KernelScope("kernel", entry, gpu_module.regions[0].blocks[0], tuple(block) if block else None)
        trace = Trace(context, arch=arch, fastmath=fastmath)
        with trace, trace.in_kernel(scope), ir.InsertionPoint.at_block_terminator(entry):
            yield Traced(module, entry, scope)
