# SPDX-License-Identifier: Apache-2.0
"""The program as it is after some stage: `kernel.ir("fly-layout-lowering")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flydsl._mlir import ir
from flydsl.utils import env

from .backends import TO_BINARY
from .dumps import annotated_isa
from .memory import memory_reserved
from .pipeline import StageTimes, lower

if TYPE_CHECKING:
    from .compilation import Request

__all__ = ["ORIGIN", "ir_after"]

ORIGIN = "origin"
_LLVM, _ISA = "llvm", "isa"


def ir_after(request: Request, stage: str, only: tuple[str, ...] | None = None) -> str:
    """Trace and lower a specialisation anew, up to a stage, and return the program as text.

    Args:
        request: the specialisation.
        stage: `origin` (as traced), the name of a pass of the pipeline (its last run), `llvm` or `isa`.
        only: names of Python functions: their kernels alone; by default the whole module.

    Raises:
        ValueError: no such stage.
        DSLCompileError: the program cannot be compiled that far.
    """
    compilation = request.trace()
    with compilation.context, memory_reserved():
        backend, stages = request.backend, request.stages(compilation)
        names = [one.name for one in stages]
        if stage not in (ORIGIN, *names, _LLVM, _ISA):
            known = ", ".join(dict.fromkeys([ORIGIN, *names, _LLVM, _ISA]))
            raise ValueError(f"there is no stage {stage!r}; there are: {known}")
        symbols = [one.name for one in compilation.kernels if only is None or one.function in only]
        if stage == ORIGIN:
            return _text(compilation.module, symbols, whole=only is None)
        if stage in (_LLVM, _ISA):
            module = lower(compilation, backend, stages[: names.index(TO_BINARY)], StageTimes(), None)
            texts = backend.device_texts(module, hints=request.hints, opt_level=request.settings.opt_level)
            return annotated_isa(texts.isa) if stage == _ISA else texts.llvm_ir
        last = len(names) - names[::-1].index(stage)
        module = lower(compilation, backend, stages[:last], StageTimes(), None)
        return _text(module, symbols, whole=only is None)


def _text(module: ir.Module, symbols: list[str], *, whole: bool) -> str:
    if not whole:
        found = [op for op in _device_functions(module) if _symbol(op) in symbols]
        if found:
            return "\n".join(op.get_asm(enable_debug_info=False) for op in found)
    text: str = module.operation.get_asm(enable_debug_info=env.debug.print_after_all)
    return text


def _device_functions(module: ir.Module) -> list[ir.Operation]:
    functions = []
    for op in module.body.operations:
        if op.operation.name == "gpu.module":
            functions += [inner.operation for inner in op.regions[0].blocks[0].operations]
    return functions


def _symbol(op: ir.Operation) -> str:
    return str(ir.StringAttr(op.attributes["sym_name"]).value) if "sym_name" in op.attributes else ""
