# SPDX-License-Identifier: Apache-2.0
"""From the traced module to an artifact: the passes, in order, and the emission."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _fly_emit
from flydsl._mlir.passmanager import PassManager
from flydsl.expr._arch import describe

from ..utils import env, log
from .diagnostics import Diagnostic, DSLCompileError, frames_of
from .dumps import Dumps
from .host_floats import define_conversions
from .llvm_options import llvm_options
from .messages import lower_messages
from .note import build_note
from .tracing import Compilation
from .uninitialised import mark_uninitialised

__all__ = ["Stage", "StageTimes", "emit", "lower", "stages"]


@dataclass(frozen=True)
class Stage:
    """One step of the pipeline: the name that dumps and reports use, and the text of the pass manager.

    `before` is Python code that changes the module just before the pass runs.
    """

    name: str
    text: str
    before: Callable[[Compilation, ir.Module], None] | None = None


@dataclass
class StageTimes:
    """Seconds that each stage of one compilation took."""

    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """Run `work` and add its duration under `name`."""
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def stages(
    arch: str,
    *,
    hints: dict[str, Any],
    opt_level: int,
    debug_info: bool,
    link_libs: Sequence[str] = (),
    ktrace: bool = False,
) -> list[Stage]:
    """Return the passes for a target; `link_libs` is bitcode to link into the code object, `ktrace` records events.

    The order is a contract: signatures become static before folding, folding gives the normal form that the layout
    lowering takes, and register memory becomes SSA only after the atoms have their SSA form.
    """
    facts = describe(arch)
    flags = {
        "O": opt_level,
        "abi": 600,
        "chip": arch,
        "correct-sqrt": "true",
        "daz": "false",
        "fast": _flag(hints.get("fast_fp_math")),
        "finite-only": "false",
        "triple": "amdgcn-amd-amdhsa",
        "unsafe-math": _flag(hints.get("unsafe_fp_math")),
        "wave64": _flag(facts.warp_size == 64),
    }
    if link_libs:
        flags["l"] = ",".join(link_libs)
    attach = " ".join(f"{key}={value}" for key, value in flags.items())
    to_rocdl = f"chipset={facts.chip} index-bitwidth=0 runtime=HIP use-bare-ptr-memref-call-conv=true"
    device = ",".join(
        (
            f"fly-expand-arith{{chip={facts.chip}}}",
            "convert-scf-to-cf",
            "cse",
            "convert-rocdl-fastmath-ops",
            "fly-math-to-llvm",
            f"convert-gpu-to-rocdl{{{to_rocdl}}}",
            "fly-rocdl-cluster-attr",
        )
    )
    bare_pointers = "use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true"
    found = [
        _same("fly-rewrite-func-signature"),
        _same("fly-canonicalize"),
        _same("fly-rocdl-expand-ops"),
        _same("fly-layout-lowering"),
        _same("fly-int-swizzle-simplify"),
        _same("canonicalize"),
        _same("fly-convert-atom-call-to-ssa-form"),
        _same("fly-promote-regmem-to-vectorssa"),
        *([_same("convert-fly-ktrace-to-rocdl")] if ktrace else []),
        _same("fly-split-uniform-offsets"),
        Stage("convert-fly-to-rocdl", "convert-fly-to-rocdl", mark_uninitialised),
        _same("canonicalize"),
        Stage("convert-gpu-to-rocdl", f"gpu.module({device})", _lower_messages),
        Stage("rocdl-attach-target", f"rocdl-attach-target{{{attach}}}"),
        _same("convert-scf-to-cf"),
        _same("convert-cf-to-llvm"),
        Stage("gpu-to-llvm", f"gpu-to-llvm{{{bare_pointers}}}", define_conversions),
        Stage("convert-vector-to-llvm", "convert-vector-to-llvm,convert-ub-to-llvm"),  # it makes ub.poison
        _same("convert-arith-to-llvm"),
        _same("convert-func-to-llvm"),
        _same("reconcile-unrealized-casts"),
    ]
    if debug_info:
        scope = "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}"
        found.append(Stage("ensure-debug-info-scope", scope, _plain_global_locations))
    found.append(Stage("gpu-module-to-binary", "gpu-module-to-binary{format=fatbin}"))
    return found


def _lower_messages(compilation: Compilation, module: ir.Module) -> None:
    compilation.messages = lower_messages(module)


def _plain_global_locations(compilation: Compilation, module: ir.Module) -> None:
    """Take the callers out of the locations of globals: they have no scope there, and MLIR's pass crashes on them."""

    symbols = [op.operation for op in module.body.operations]
    devices = [op for op in symbols if op.name == "gpu.module"]
    for op in [*symbols, *(one.operation for device in devices for one in device.regions[0].blocks[0].operations)]:
        if op.name == "llvm.mlir.global":
            location = op.location
            while location.is_a_callsite():
                location = location.callee
            op.location = location


def _same(name: str) -> Stage:
    return Stage(name, name)


def _flag(value: Any) -> str:
    return "true" if value else "false"


def _copied(module: ir.Module) -> ir.Module:
    """Return a copy of a module."""
    copy = ir.Module.create(module.operation.location)
    for attribute in module.operation.attributes:
        copy.operation.attributes[attribute] = module.operation.attributes[attribute]
    with ir.InsertionPoint(copy.body):
        for op in module.body.operations:
            op.operation.clone()
    return copy


def lower(compilation: Compilation, pipeline: list[Stage], times: StageTimes, dumps: Dumps | None) -> ir.Module:
    """Verify the traced module and run the passes over a copy of it.

    The traced module stays as it is: Python may still hold values of it, and print them.

    Returns:
        The lowered module.

    Raises:
        DSLCompileError: the module is not valid, or a pass refuses it; with the user's lines.
    """
    traced, hints = compilation.module, compilation.hints
    if dumps is not None:
        dumps.stage("origin", traced)
    if env.debug.print_origin_ir:
        log().info("traced IR:\n%s", traced)
    times.timed("verify", lambda: _checked(lambda: traced.operation.verify(), "the traced program is not valid"))
    module = _copied(traced)
    verify, print_all = env.debug.enable_verifier, env.debug.print_after_all
    own_options = {} if env.compile.llvm_dir else hints.get("llvm_options") or {}
    with llvm_options(own_options):
        for stage in pipeline:
            if stage.name == "gpu-module-to-binary" and dumps is not None:
                dumps.keep_device_code(module, compilation)
            if stage.before is not None:
                stage.before(compilation, module)
            if stage.name == "gpu-module-to-binary" and env.compile.llvm_dir:
                times.timed(stage.name, lambda: _external_binary(compilation, module, stage.text))  # noqa: B023
                continue
            manager = PassManager.parse(f"builtin.module({stage.text})", compilation.context)
            manager.enable_verifier(verify)
            times.timed(
                stage.name,
                lambda: _checked(lambda: manager.run(module.operation), f"{stage.name} failed"),  # noqa: B023
            )
            if dumps is not None:
                dumps.stage(stage.name, module)
            if print_all:
                log().info("after %s:\n%s", stage.name, module)
    if dumps is not None:
        dumps.device_code()
    return module


def _external_binary(compilation: Compilation, module: ir.Module, text: str) -> None:
    from .external_llvm import run_external_binary

    if compilation.link_libs:
        raise RuntimeError(
            "FLYDSL_COMPILE_LLVM_DIR cannot be combined with bitcode that external functions link "
            f"({', '.join(compilation.link_libs)}); unset it"
        )
    options = compilation.hints.get("llvm_options")
    run_external_binary(module, text, prefix=env.compile.llvm_dir, options=options)


def _checked(work: Callable[[], Any], what: str) -> Any:
    """Run MLIR code; what it reports becomes a `DSLCompileError` in the user's lines."""
    try:
        return work()
    except ir.MLIRError as error:
        found = [_diagnostic(one) for one in error.error_diagnostics if str(one.message) not in _EMPTY_MESSAGES]
        raise DSLCompileError(*(found or [Diagnostic(f"{what}: {error}")])) from None


_EMPTY_MESSAGES = ("An error happened while serializing the module.",)
_WHOLE_MODULES = ('see current operation: "gpu.module"', 'see current operation: "builtin.module"')


def _diagnostic(one: Any) -> Diagnostic:
    """Return a finding of MLIR's without the notes that only quote a whole module."""
    notes = [str(note.message) for note in one.notes]
    kept = tuple(note for note in notes if not note.startswith(_WHOLE_MODULES))
    return Diagnostic(str(one.message), kept, frames_of(one.location))


def emit(
    compilation: Compilation,
    lowered: ir.Module,
    path: Path,
    *,
    arguments: list[dict[str, Any]],
    key: str,
    opt_level: int,
    times: StageTimes,
) -> None:
    """Write the artifact of a lowered module to `path`, by way of a temporary file beside it.

    Raises:
        DSLCompileError: host code generation or linking fails.
    """

    def work() -> None:
        objects = _fly_emit.code_objects(lowered)
        note = build_note(compilation, objects, arguments, key)
        _fly_emit.emit_artifact(
            lowered,
            entry=compilation.entry,
            name=compilation.entry,
            note=note,
            output_path=str(path),
            opt_level=opt_level,
        )

    try:
        times.timed("emit", work)
    except _fly_emit.EmitError as error:
        raise DSLCompileError(f"cannot write the artifact: {error}") from None
