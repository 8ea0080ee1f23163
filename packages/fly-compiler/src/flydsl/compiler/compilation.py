# SPDX-License-Identifier: Apache-2.0
"""One specialisation, from a request to something to call: out of the disk cache, or compiled."""

from __future__ import annotations

import functools
import itertools
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flydsl.runtime import Artifact, current_device, load_artifact, read_note

from ..utils import env, log
from .access import read_only_parameters
from .arguments.specs import ArgumentSpec
from .cache import ArtifactStore, Fingerprint, UnwritableCacheError, toolchain_hash
from .dumps import Dumps, wanted
from .hints import hints_key
from .ktrace.names import remember
from .ktrace.settings import KtraceSettings, ktrace_settings
from .lifetimes import release
from .module_inits import InitialisedFunction
from .note import argument_entries
from .pipeline import StageTimes, emit, lower, stages
from .report import CompilationReport, record
from .target import Settings
from .tracing import KTRACE_BUFFER, Compilation, Static, trace_host

__all__ = ["Compiled", "Request", "compile_request"]

_SLOW_AFTER = 10.0
# The host function computes grids and fills slots: a few nanoseconds, however much is spent on optimising it. LLVM's
# level 2 would take half of the emission's time.
_HOST_OPT_LEVEL = 0


@dataclass
class Request:
    """What to compile.

    Attributes:
        function: the rewritten host function; it takes all parameters by position.
        name: its name.
        arguments: each parameter with its spec, or a `Static` with the Python value it has.
        static_key: the compile-time arguments as text.
        source: what the function depends on in Python.
        settings: what the environment asks for.
        hints: effective compile hints.
    """

    function: Callable[..., Any]
    name: str
    arguments: Sequence[tuple[str, Any]]
    static_key: str
    source: Fingerprint
    settings: Settings
    hints: dict[str, Any]

    def run_time(self) -> list[tuple[str, ArgumentSpec]]:
        """Return the run-time arguments."""
        found = [(name, spec) for name, spec in self.arguments if not isinstance(spec, Static)]
        return found if self.ktrace is None else [*found, ("ktrace buffer", KTRACE_BUFFER)]

    @property
    def ktrace(self) -> KtraceSettings | None:
        """How events of `fx.ktrace` are recorded, `None` when they are not."""
        return ktrace_settings(self.hints)

    def trace(self) -> Compilation:
        """Trace the host function and its kernels."""
        return trace_host(
            self.function,
            self.name,
            self.arguments,
            arch=self.settings.arch,
            hints=self.hints,
            ktrace=self.ktrace,
        )[0]

    def described(self) -> list[tuple[str, str]]:
        """Return each argument's name, and its type or compile-time value as text."""
        return [
            (name, repr(spec.value) if isinstance(spec, Static) else spec.describe()) for name, spec in self.arguments
        ]

    def source_key(self) -> str:
        """Return the hash of what does not depend on the arguments."""
        return Fingerprint.digest_of(self.source.digest, toolchain_hash(), self.settings.key)

    def key(self) -> str:
        """Return the hash of everything that the artifact depends on."""
        specs = repr([(name, spec) for name, spec in self.run_time()])
        parts = (self.source_key(), self.static_key, specs, repr(hints_key(self.hints)), repr(self.ktrace))
        return "sha256:" + Fingerprint.digest_of(*parts)


@dataclass
class Compiled:
    """A specialisation that is ready.

    Attributes:
        request: what it was made for.
        artifact: the loaded artifact, `None` under `COMPILE_ONLY`.
        origin: `compiled` or `disk`.
        path: the artifact's file.
        key: its cache key.
        store: where it lies on disk, `None` without a disk cache.
        times: seconds per stage, empty when it came from disk.
    """

    request: Request
    artifact: Artifact | None
    origin: str
    path: Path
    key: str
    store: ArtifactStore | None
    times: dict[str, float] = field(default_factory=dict)
    callbacks: bool = False
    """Whether Python has to be called with the module once it is loaded."""
    initialised: InitialisedFunction | None = None
    """The entry with those calls."""

    @property
    def function(self) -> Any:
        """What to call with the run-time arguments, `None` under `COMPILE_ONLY`."""
        if self.initialised is not None:
            return self.initialised
        return None if self.artifact is None else self.artifact.entry

    @property
    def note(self) -> dict[str, Any]:
        """The artifact's note (docs/artifact.md)."""
        return self.artifact.note if self.artifact is not None else read_note(self.path)

    def report(self, origin: str | None = None) -> CompilationReport:
        """Return what is known of it, by default with the origin that it had at first."""
        return CompilationReport(
            self.request.name,
            self.request.settings.arch,
            origin or self.origin,
            dict(self.times),
            self.note["kernels"],
            self.path,
            self.key,
            [f"{name}: {spec}" for name, spec in self.request.described()],
        )


def compile_request(request: Request) -> Compiled:
    """Return the specialisation, from disk if a valid artifact is there.

    Raises:
        DSLCompileError: the program cannot be compiled.
        CacheFolderError: the cache folder cannot be trusted.
        RuntimeError: `FLYDSL_RUNTIME_RUN_ONLY` is set and there is no artifact.
        ValueError: `FLYDSL_RUNTIME_RUN_ONLY` together with dumping.
    """
    dumping = wanted()
    run_only = env.runtime.run_only
    if env.compile.llvm_dir and env.debug.dump_asm and not env.debug.dump_ir:
        raise RuntimeError(
            "FLYDSL_DEBUG_DUMP_ASM shows the code of this wheel's LLVM, not that of FLYDSL_COMPILE_LLVM_DIR; unset one "
            "of the two"
        )
    if run_only and dumping:
        raise ValueError(
            "FLYDSL_RUNTIME_RUN_ONLY=1 compiles nothing, so there is nothing to dump; unset one of the two"
        )
    try:
        compiled = _compile_or_load(request, dumping, run_only)
    finally:
        release()
    if request.ktrace is not None:
        remember(compiled.note.get("ktrace", {}).get("events", {}))
    record(compiled.report())
    return compiled


def _compile_or_load(request: Request, dumping: bool, run_only: bool) -> Compiled:
    key = request.key()
    load = not request.settings.compile_only
    persistent = not request.source.opaque and not dumping
    if request.source.opaque:
        log().info("%s is not cached on disk: it depends on %s", request.name, ", ".join(request.source.opaque))
    root = Path(env.runtime.cache_dir)
    scratch = Path(_private_folder().name)
    store = ArtifactStore(root, request.name, request.source_key(), scratch) if persistent else None
    if run_only:
        return _only_from_disk(request, store, key, load)
    times = StageTimes()
    if store is not None and env.runtime.enable_cache:
        try:
            found, hit = store.get_or_make(key, lambda path: _build(request, key, path, times), load=load)
        except UnwritableCacheError as error:
            if not load:  # writing the cache is all that COMPILE_ONLY is for
                raise
            _say_unwritable(str(error))
        else:
            artifact = found if isinstance(found, Artifact) else None
            path = store.path(key) if artifact is None else artifact.path
            return Compiled(request, artifact, "disk" if hit else "compiled", path, key, store, times.seconds)
    path = scratch / f"{key.rpartition(':')[2][:16]}-{next(_serial)}.so"
    compilation = _build(request, key, path, times)
    artifact = load_artifact(path) if load else None
    made = Compiled(request, artifact, "compiled", path, key, None, times.seconds, bool(compilation.module_inits))
    if artifact is not None and compilation.module_inits:
        made.initialised = InitialisedFunction(artifact, compilation.module_inits)
        made.initialised.prepare(current_device().index)
    return made


_serial = itertools.count()


@functools.lru_cache(maxsize=64)
def _say_unwritable(text: str) -> None:
    log().warning("nothing is cached on disk: %s", text)


@functools.lru_cache(maxsize=1)
def _private_folder() -> tempfile.TemporaryDirectory[str]:
    """Return the folder for artifacts that no disk cache keeps; it goes with the process."""
    return tempfile.TemporaryDirectory(prefix="flydsl-")


def _only_from_disk(request: Request, store: ArtifactStore | None, key: str, load: bool) -> Compiled:
    root = Path(env.runtime.cache_dir)
    if not root.is_dir() or not any(root.iterdir()):
        raise RuntimeError(f"FLYDSL_RUNTIME_RUN_ONLY=1, but the cache folder {root} is empty or not there")
    found = None if store is None else store.find(key, load=load)
    if found is None or store is None:
        where = root if store is None else store.path(key)
        raise RuntimeError(
            f"FLYDSL_RUNTIME_RUN_ONLY=1, but there is no artifact of {request.name}() for these arguments: {where} "
            f"(key {key}, cache folder {root})"
        )
    return Compiled(request, found if isinstance(found, Artifact) else None, "disk", store.path(key), key, store)


def _build(request: Request, key: str, path: Path, times: StageTimes) -> Compilation:
    """Trace, lower and write the artifact."""
    asked = request.settings
    start = time.perf_counter()
    with ExitStack() as stack:
        timer = threading.Timer(_SLOW_AFTER, _say_slow, (request.name,))
        timer.daemon = True
        stack.callback(timer.cancel)  # before it starts: an interrupt may come in between
        timer.start()
        compilation: Compilation = times.timed("trace", request.trace)
        with compilation.context:
            read_only = read_only_parameters(compilation)
            dumps = Dumps(compilation, asked.opt_level) if wanted() else None
            pipeline = stages(
                asked.arch,
                hints=request.hints,
                opt_level=asked.opt_level,
                debug_info=asked.debug_info,
                link_libs=compilation.link_libs,
                ktrace=compilation.recording is not None,
            )
            lowered = lower(compilation, pipeline, times, dumps)
            arguments = argument_entries(request.run_time(), read_only)
            emit(compilation, lowered, path, arguments=arguments, key=key, opt_level=_HOST_OPT_LEVEL, times=times)
    log().info("compiled %s for %s in %.3f s", request.name, asked.arch, time.perf_counter() - start)
    return compilation


def _say_slow(name: str) -> None:
    log().warning("still compiling %s after %.0f s ...", name, _SLOW_AFTER)
