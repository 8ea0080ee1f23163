# SPDX-License-Identifier: Apache-2.0
"""From the traced module to an artifact: a backend's stages, one by one, and the emission."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _fly_emit
from flydsl._mlir.passmanager import PassManager
from flydsl.runtime import seal_artifact
from flydsl.trace.diagnostics import Diagnostic, DSLCompileError, frames_of
from flydsl.utils import env, log

from .backends import ARTIFACT_KINDS, TO_BINARY, BaseBackend, DeviceCode, Stage
from .dumps import Dumps
from .llvm_options import llvm_options
from .memory import want_memory
from .note import argument_entries, build_note
from .scratch import why_unwritable
from .specs import ArgumentSpec
from .tracing import Compilation

__all__ = ["StageTimes", "described", "emit", "lower"]


@dataclass(eq=False, repr=False)
class StageTimes:
    """Seconds that each stage of one compilation took, by the clock and of processor time."""

    seconds: dict[str, float] = field(default_factory=dict)
    processor_seconds: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, seconds: float, processor_seconds: float) -> None:
        """Add a duration under `name`."""
        self.processor_seconds[name] = self.processor_seconds.get(name, 0.0) + processor_seconds
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """Run `work` and add its duration under `name`."""
        start, used = time.perf_counter(), time.process_time()
        try:
            return work()
        finally:
            self.add(name, time.perf_counter() - start, time.process_time() - used)


def _copied(module: ir.Module) -> ir.Module:
    """Return a copy of a module."""
    copy = ir.Module.create(module.operation.location)
    for attribute in module.operation.attributes:
        copy.operation.attributes[attribute] = module.operation.attributes[attribute]
    with ir.InsertionPoint(copy.body):
        for op in module.body.operations:
            op.operation.clone()
    return copy


def lower(
    compilation: Compilation, backend: BaseBackend, stages: Sequence[Stage], times: StageTimes, dumps: Dumps | None
) -> ir.Module:
    """Verify the traced module and run stages of a backend over a copy of it.

    The traced module stays as it is: Python may still hold values of it, and print them.

    Returns:
        The lowered module.

    Raises:
        DSLCompileError: the module is not valid, or a pass or an assembler refuses it; with the user's lines.
        MemoryError: memory ran out.
    """
    traced, hints = compilation.module, compilation.hints
    compilation.context.load_all_available_dialects()  # not every pass names all those whose operations it makes
    want_memory()
    if dumps is not None:
        dumps.stage("origin", traced)
    if env.debug.print_origin_ir:
        log().info("traced IR:\n%s", traced)
    times.timed("verify", lambda: _checked(lambda: traced.operation.verify(), "the traced program is not valid"))
    module = _copied(traced)
    verify, print_all = env.debug.enable_verifier, env.debug.print_after_all
    own_options = {} if env.compile.llvm_dir else hints.get("llvm_options") or {}
    one_by_one = dumps is not None or print_all or bool(env.compile.llvm_dir)
    with llvm_options(own_options):
        if not one_by_one:
            _run([one if verify else one._replace(verify=False) for one in stages], module, times)
        for stage in stages if one_by_one else ():
            if stage.name == TO_BINARY and dumps is not None:
                dumps.keep_device_code(module)
            if stage.name == TO_BINARY and env.compile.llvm_dir:
                times.timed(stage.name, lambda: _external_binary(compilation, backend, module, stage.text))  # noqa: B023
                continue
            # Each is verified, for someone who looks for the one that is wrong.
            _run([stage._replace(verify=verify)], module, times)
            if dumps is not None:
                dumps.stage(stage.name, module)
            if print_all:
                log().info("after %s:\n%s", stage.name, module)
    if env.compile.ptxas and backend.artifact_kind == "ptx":
        from .ptxas import add_machine_code  # which few ask for

        times.timed("ptxas", lambda: add_machine_code(module, backend.target.arch, env.compile.ptxas))
    if dumps is not None:
        dumps.device_code()
    return module


def _run(stages: Sequence[Stage], module: ir.Module, times: StageTimes) -> None:
    """Run stages without Python's lock. Between them nobody can look at the module."""
    managers = [PassManager.parse(f"builtin.module({one.text})", module.context) for one in stages]
    for stage, one in zip(stages, managers, strict=True):
        one.enable_verifier(stage.verify)
    done = _fly_emit.run_passes(managers, module.operation)
    for stage, taken in zip(stages, done.times, strict=False):  # behind one that fails none is run
        times.add(stage.name, *taken)
    want_memory()  # else that is why
    if done.findings is not None:
        name = stages[len(done.times) - 1].name
        found = [_diagnostic(one.message, one.notes, one.location) for one in done.findings if _says(one)]
        raise DSLCompileError(*(found or [Diagnostic(f"{name} failed")]))


def _external_binary(compilation: Compilation, backend: BaseBackend, module: ir.Module, text: str) -> None:
    if compilation.link_libs:
        raise RuntimeError(
            "FLYDSL_COMPILE_LLVM_DIR cannot be combined with bitcode that external functions link "
            f"({', '.join(compilation.link_libs)}); unset it"
        )
    backend.external_binary(module, text, prefix=env.compile.llvm_dir, hints=compilation.hints)


def _checked(work: Callable[[], Any], what: str) -> Any:
    """Run MLIR code; what it reports becomes a `DSLCompileError` in the user's lines."""
    try:
        return work()
    except ir.MLIRError as error:
        want_memory()  # else that is why
        found = [
            _diagnostic(str(one.message), [str(note.message) for note in one.notes], one.location)
            for one in error.error_diagnostics
            if _says(one)
        ]
        raise DSLCompileError(*(found or [Diagnostic(f"{what}: {error}")])) from None


_EMPTY_MESSAGES = ("An error happened while serializing the module.",)
_QUOTES = "see current operation: "


def _says(one: Any) -> bool:
    """Tell whether a finding of MLIR's says anything."""
    return str(one.message) not in _EMPTY_MESSAGES


def _diagnostic(message: str, notes: Sequence[str], location: ir.Location) -> Diagnostic:
    """Return a finding of MLIR's without the notes that only quote its operation: the user's line says more."""
    kept = tuple(note for note in notes if not note.startswith(_QUOTES))
    return Diagnostic(_explained(message), kept, frames_of(location))


_OF_FILES = ("cannot create a temporary directory", "cannot write ", "linking failed")


def _explained(text: str) -> str:
    """The message with what is wrong with the place for temporary files; linkers do not say that it is full."""
    reason = why_unwritable() if text.startswith(_OF_FILES) else None
    return text if reason is None else f"{text}: {reason}"


def described(backend: BaseBackend, lowered: ir.Module, hints: Mapping[str, Any]) -> list[DeviceCode]:
    """Return what device code a lowered program holds, with its kind.

    Raises:
        DSLCompileError: an artifact cannot hold code of this kind.
    """
    kind = backend.artifact_kind
    if kind not in ARTIFACT_KINDS:
        raise DSLCompileError(
            f"cannot write the artifact: compile backend {backend.target.backend!r} makes {kind}, and artifacts hold "
            f"{', '.join(ARTIFACT_KINDS)}"
        )
    return [one._replace(kind=kind) for one in backend.device_code(lowered, hints=hints)]


def emit(
    compilation: Compilation,
    backend: BaseBackend,
    lowered: ir.Module,
    path: Path,
    *,
    arguments: Sequence[tuple[str, ArgumentSpec]],
    key: str,
    opt_level: int,
    times: StageTimes,
    device_code: Sequence[DeviceCode] | None = None,
    ahead: Callable[[str, bytes], None] | None = None,
) -> None:
    """Write the artifact of a lowered module to `path`, by way of a temporary file beside it.

    Args:
        compilation: what was traced.
        backend: what lowered it.
        lowered: what `lower` returned.
        path: the artifact's file.
        arguments: names and specs of the run-time arguments.
        key: the cache key.
        opt_level: of LLVM, for the host function.
        times: gets the duration.
        device_code: what device code there is; by default what `described` says of the backend's.
        ahead: is given the architecture of PTX and its bytes before the artifact is written.

    Raises:
        DSLCompileError: host code generation or linking fails, or an artifact cannot hold code of this kind.
        MemoryError: memory ran out.
    """

    def work() -> None:
        entries = argument_entries(arguments, lowered, compilation.entry)
        code = described(backend, lowered, compilation.hints) if device_code is None else device_code
        for one in code:
            if ahead is not None and one.ptx:
                ahead(one.arch, one.ptx)
        note = build_note(compilation, lowered, code, entries, key)
        _fly_emit.emit_artifact(
            lowered,
            entry=compilation.entry,
            name=compilation.entry,
            note=note,
            output_path=str(path),
            opt_level=opt_level,
        )
        seal_artifact(path)

    try:
        times.timed("emit", work)
    except _fly_emit.EmitError as error:
        want_memory()  # else that is why
        raise DSLCompileError(f"cannot write the artifact: {_explained(str(error))}") from None
