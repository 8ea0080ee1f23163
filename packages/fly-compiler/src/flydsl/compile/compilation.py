# SPDX-License-Identifier: Apache-2.0
"""One specialisation, from a request to something to call: out of the disk cache, or compiled."""

from __future__ import annotations

import _thread
import functools
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flydsl.frontend.rewrite.kept import KeptRewrites
from flydsl.runtime import Artifact, ArtifactError, current_device, load_artifact, prepare_loading, read_note
from flydsl.runtime.forks import new_lock, undivided
from flydsl.trace.event_names import remember
from flydsl.trace.event_settings import KtraceSettings, ktrace_settings
from flydsl.trace.hints import hints_key
from flydsl.utils import env, log

from .backends import BaseBackend, Stage, get_backend
from .cache import (
    ArtifactStore,
    RewritesOnDisk,
    UnwritableCacheError,
    bytes_of,
    digest_of,
    module_digest,
    record_toolchain,
    toolchain_hash,
)
from .dumps import Dumps, wanted
from .lifetimes import release
from .memory import memory_reserved, want_memory
from .module_inits import InitialisedFunction
from .pipeline import StageTimes, emit, lower
from .report import CompilationReport, record
from .scratch import scratch_folder
from .specs import ArgumentSpec
from .target import Settings, marks_uninitialised
from .tracing import KTRACE_BUFFER, Compilation, Static, trace_host

__all__ = ["HOST_OPT_LEVEL", "Compiled", "Request", "compile_request"]

_SLOW_AFTER = 10.0
# The host function computes grids and fills slots: a few nanoseconds, however much is spent on optimising it. LLVM's
# level 2 would take half of the emission's time.
HOST_OPT_LEVEL = 0


@dataclass(eq=False, repr=False)
class Request:
    """What to compile.

    Attributes:
        function: the rewritten host function; it takes all parameters by position.
        name: its name.
        arguments: each parameter with its spec, or a `Static` with the Python value it has.
        qualified_name: its module and qualified name, which the folder of its artifacts on disk is named after.
        settings: what the environment asks for.
        hints: effective compile hints.
        is_from_outside: tells whether an object that the trace would change was there before it.
        meanwhile: what a thread of Python's begins to do when the program is lowered, which is without Python's lock;
            what it raises is not heard.
        ahead: is given PTX that was made, with its architecture, before the artifact of it is written.
    """

    function: Callable[..., Any]
    name: str
    arguments: Sequence[tuple[str, Any]]
    qualified_name: str
    settings: Settings
    hints: dict[str, Any]
    is_from_outside: Callable[[object], bool] | None = None
    meanwhile: Callable[[], None] | None = None
    ahead: Callable[[str, bytes], None] | None = None

    def run_time(self) -> list[tuple[str, ArgumentSpec]]:
        """Return the run-time arguments."""
        found = [(name, spec) for name, spec in self.arguments if not isinstance(spec, Static)]
        return found if self.ktrace is None else [*found, ("ktrace buffer", KTRACE_BUFFER)]

    @property
    def ktrace(self) -> KtraceSettings | None:
        """How events of `fx.ktrace` are recorded, `None` when they are not."""
        return ktrace_settings(self.hints)

    @property
    def backend(self) -> BaseBackend:
        """What compiles it."""
        return get_backend(self.settings.backend, arch=self.settings.arch)

    def stages(self, compilation: Compilation) -> list[Stage]:
        """Return the steps from what was traced to device code."""
        return self.backend.stages(
            hints=self.hints,
            opt_level=self.settings.opt_level,
            debug_info=self.settings.debug_info,
            link_libs=compilation.link_libs,
            ktrace=compilation.recording is not None,
            mark_uninitialised=marks_uninitialised(),
        )

    def trace(self, rewrites: KeptRewrites | None = None) -> Compilation:
        """Trace the host function and its kernels, with the rewritten functions of earlier processes."""
        with memory_reserved():
            compilation, _ = trace_host(
                self.function,
                self.name,
                self.arguments,
                arch=self.backend.arch(),
                hints=self.hints,
                ktrace=self.ktrace,
                is_from_outside=self.is_from_outside,
                rewrites=rewrites,
            )
            want_memory()
        return compilation

    def described(self) -> list[tuple[str, str]]:
        """Return each argument's name, and its type or compile-time value as text."""
        return [(name, spec.describe()) for name, spec in self.arguments]

    def function_key(self) -> str:
        """Return the hash that names the folder of all artifacts of this function, tool chain and target."""
        return digest_of(self.qualified_name, toolchain_hash(), self.settings.key)

    def key(self, compilation: Compilation) -> str:
        """Return the hash of everything that the artifact depends on, which is what was traced and how it is compiled.

        What the traced module says need not be said again: compile-time arguments, globals and helpers count as far as
        they made a difference to it. Source locations are a part of it, because line tables and assertions show them.

        Args:
            compilation: the result of `trace`, before any pass.
        """
        parts = (
            module_digest(compilation.module),
            toolchain_hash(),
            self.settings.key,
            repr(hints_key(self.hints)),
            repr(self.run_time()),
            repr(self.ktrace),
            self.backend.hash(),
            repr(self.stages(compilation)),
        )
        return "sha256:" + digest_of(*parts, *compilation.quoted)


@dataclass(eq=False, repr=False)
class Compiled:
    """A specialisation that is ready.

    Attributes:
        request: what it was made for.
        artifact: the loaded artifact, `None` under `COMPILE_ONLY`.
        origin: `compiled` or `disk`.
        path: the artifact's file.
        key: its cache key.
        store: where it lies on disk, `None` without a disk cache.
        times: of each stage; of `trace` and `key` alone when it came from disk.
        kernels: the `@flyc.kernel` functions that it launches.
        files: the files that were read while tracing, each with its state before it was.
        names: names of attributes and modules that the traced code computed.
        asked: functions of Python's and of packages that it called, by module and name.
    """

    request: Request
    artifact: Artifact | None
    origin: str
    path: Path
    key: str
    store: ArtifactStore | None
    times: StageTimes
    callbacks: bool = False
    """Whether Python has to be called with the module once it is loaded."""
    kernels: Sequence[Any] = ()
    files: Mapping[str, Any] = field(default_factory=dict)
    names: Set[str] = frozenset()
    asked: Set[tuple[str, str]] = frozenset()
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

    @contextmanager
    def private_copy(self) -> Iterator[Path]:
        """Give a block a copy of the artifact that no other process knows; it goes at its end.

        An artifact that was removed, damaged or replaced meanwhile is compiled again.

        Raises:
            OSError: there is no room for it.
            RuntimeError: the function reads something else by now than when it was compiled.
        """
        copy = scratch_folder() / f"copy-{next(_serial)}.so"
        try:
            if not self._is_copied(copy):
                with undivided():
                    self._make_again(copy)
            yield copy
        finally:
            with suppress(OSError):
                copy.unlink()

    def _is_copied(self, copy: Path) -> bool:
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                content = file.read()
        except OSError as error:
            log().info("artifact made again: %s", error)
            return False
        copy.write_bytes(content)
        try:
            if read_note(copy).get("source_hash") == self.key:
                return True
            log().info("%s is another artifact by now; it is made again", self.path)
        except ArtifactError as error:
            log().info("artifact made again: %s", error)
        return False

    def _make_again(self, path: Path) -> None:
        try:
            compilation = self.request.trace()
            if self.request.key(compilation) != self.key:
                raise RuntimeError(
                    f"the artifact {self.path} of {self.request.name}() is gone, and cannot be made again: the "
                    "function reads other values from Python than when it was compiled. Compile it again"
                )
            _build(self.request, compilation, self.key, path, StageTimes())
        finally:
            release()

    def report(self, origin: str | None = None) -> CompilationReport:
        """Return what is known of it, by default with the origin that it had at first."""
        return CompilationReport(
            self.request.name,
            self.request.settings.arch,
            origin or self.origin,
            dict(self.times.seconds),
            self.note["kernels"],
            self.path,
            self.key,
            [f"{name}: {spec}" for name, spec in self.request.described()],
            dict(self.times.processor_seconds),
        )


def compile_request(request: Request) -> Compiled:
    """Return the specialisation, from disk if a valid artifact is there.

    Raises:
        DSLCompileError: the program cannot be compiled.
        CacheFolderError: the cache folder cannot be trusted.
        MemoryError: memory ran out.
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
    with undivided(), memory_reserved():
        try:
            compiled = _compile_or_load(request, dumping, run_only)
        finally:
            release()
    if request.ktrace is not None:
        remember(compiled.note.get("ktrace", {}).get("events", {}))
    record(compiled.report())
    return compiled


def _compile_or_load(request: Request, dumping: bool, run_only: bool) -> Compiled:
    start = time.perf_counter()
    with _said_when_slow(request.name):
        if not request.settings.compile_only:
            _prepare_loading_once()
        times = StageTimes()
        times.timed("key", toolchain_hash)
        rewrites = None
        if env.runtime.enable_cache and not dumping:
            rewrites = RewritesOnDisk(Path(env.runtime.cache_dir))
        compilation: Compilation = times.timed("trace", lambda: request.trace(rewrites))
        key: str = times.timed("key", lambda: request.key(compilation))
        found = _found_or_made(request, compilation, key, times, dumping, run_only)
        if rewrites is not None and not run_only:
            rewrites.write(bytes_of(env.compile.cache_max_size))
    record_toolchain()
    found.kernels = [one.source for one in compilation.kernels]
    found.files = compilation.files
    found.names = compilation.names
    found.asked = compilation.asked
    if found.origin == "compiled":
        log().info("compiled %s for %s in %.3f s", request.name, request.settings.arch, time.perf_counter() - start)
    return found


def _found_or_made(
    request: Request, compilation: Compilation, key: str, times: StageTimes, dumping: bool, run_only: bool
) -> Compiled:
    load = not request.settings.compile_only
    if compilation.externals:
        log().info(
            "%s is not cached on disk: it calls external functions (%s), whose code may change unseen",
            request.name,
            ", ".join(compilation.externals),
        )
    persistent = not compilation.externals and not dumping
    root = Path(env.runtime.cache_dir)
    store = ArtifactStore(root, request.name, request.function_key(), scratch_folder) if persistent else None
    if run_only:
        return _only_from_disk(request, store, key, load, times)
    if store is not None and env.runtime.enable_cache:
        try:
            found, hit = store.get_or_make(key, lambda path: _build(request, compilation, key, path, times), load=load)
        except UnwritableCacheError as error:
            if not load:  # writing the cache is all that COMPILE_ONLY is for
                raise
            _say_unwritable(str(error))
        else:
            artifact = found if isinstance(found, Artifact) else None
            path = store.path(key) if artifact is None else artifact.path
            return Compiled(request, artifact, "disk" if hit else "compiled", path, key, store, times)
    path = scratch_folder() / f"{key.rpartition(':')[2][:16]}-{next(_serial)}.so"
    _build(request, compilation, key, path, times)
    artifact = load_artifact(path) if load else None
    made = Compiled(request, artifact, "compiled", path, key, None, times, bool(compilation.module_inits))
    if artifact is not None and compilation.module_inits:
        made.initialised = InitialisedFunction(artifact, compilation.module_inits, request.backend.dlpack_device)
        made.initialised.prepare(current_device().index)
    return made


_serial = itertools.count()


@functools.lru_cache(maxsize=64)
def _say_unwritable(text: str) -> None:
    log().warning("nothing is cached on disk: %s", text)


def _only_from_disk(request: Request, store: ArtifactStore | None, key: str, load: bool, times: StageTimes) -> Compiled:
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
    return Compiled(request, found if isinstance(found, Artifact) else None, "disk", store.path(key), key, store, times)


def _build(request: Request, compilation: Compilation, key: str, path: Path, times: StageTimes) -> None:
    """Lower what was traced, and write the artifact."""
    with compilation.context, memory_reserved():
        if request.meanwhile is not None:
            _begin(request.meanwhile)
        dumps = Dumps(compilation, request.backend, request.settings.opt_level) if wanted() else None
        lowered = lower(compilation, request.backend, request.stages(compilation), times, dumps)
        emit(
            compilation,
            request.backend,
            lowered,
            path,
            arguments=request.run_time(),
            key=key,
            opt_level=HOST_OPT_LEVEL,
            times=times,
            ahead=request.ahead,
        )


def _begin(work: Callable[[], None]) -> None:
    """Have something done in a thread of Python's. Nobody waits for it, as it may have no memory to begin."""

    def do() -> None:
        with suppress(BaseException), undivided():
            work()

    with suppress(RuntimeError, MemoryError):  # then it is done by whoever needs it
        _thread.start_new_thread(do, ())


@functools.cache
def _prepare_loading_once() -> None:
    _begin(prepare_loading)


@contextmanager
def _said_when_slow(name: str) -> Iterator[None]:
    """Say in the log that something is still being compiled when a block takes long."""
    going_on = new_lock()
    with going_on:  # before the thread starts: an interrupt may come in between
        # Not threading.Thread: its `start` waits for the thread, for good where that has no memory to begin.
        with suppress(RuntimeError, MemoryError):  # then nothing is said
            _thread.start_new_thread(_say_slow, (name, going_on.acquire))
        yield


def _say_slow(name: str, ended: Callable[..., bool]) -> None:
    with suppress(MemoryError):
        if not ended(timeout=_SLOW_AFTER):
            log().warning("still compiling %s after %.0f s ...", name, _SLOW_AFTER)
