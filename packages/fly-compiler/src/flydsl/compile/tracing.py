# SPDX-License-Identifier: Apache-2.0
"""One compilation while it is traced: the module, its host function, and the kernels emitted so far."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from flydsl._mlir import ir

# MLIR imports the classes of a dialect when its first op, type or attribute appears. Every trace has some of these, so
# they come with the compiler: the first compilation need not wait for them.
from flydsl._mlir.dialects import builtin, fly, func, gpu, llvm, scf  # noqa: F401
from flydsl.frontend.control.audit import listen
from flydsl.frontend.control.region import refuse_caught, settle
from flydsl.frontend.rewrite.kept import KeptRewrites
from flydsl.trace import context as _trace
from flydsl.trace.arch import Arch
from flydsl.trace.build import stream_type
from flydsl.trace.diagnostics import (
    error_of_mlir,
    explain_lookup,
    explain_name_error,
    explain_none,
    explain_raise,
    explain_recursion,
    forget_unbound,
    locate_error,
)
from flydsl.trace.event_settings import KtraceSettings
from flydsl.trace.hints import effective_fastmath_hint
from flydsl.utils import env

from .lifetimes import hold
from .specs import PointerSpec, StreamSpec

__all__ = ["GPU_MODULE", "KTRACE_BUFFER", "Compilation", "EmittedKernel", "active", "trace_host"]

GPU_MODULE = "kernels"
_DIALECTS = ("fly", "func", "gpu", "scf")
"""What every trace has; other dialects are loaded by their first operation or type, all of them before the first pass.

To load all of them would take longer than to trace a small kernel, and one that is on disk needs no more. The largest,
`llvm`, is not among them: what is traced has a token for the stream, and pointers of the fly dialect."""
KTRACE_BUFFER = PointerSpec("int8", "global", 1)
"""The parameter of a host function whose kernels record events: the buffer they record into."""


class EmittedKernel:
    """A device function of the compilation, with what the note will say about it."""

    def __init__(
        self, name: str, op: ir.Operation, scope: _trace.KernelScope, operands: list[ir.Value], source: Any
    ) -> None:
        self.name = name
        self.source = source
        """The `KernelFunction`."""
        self.function: str = source.func.__qualname__
        """Qualified name of the Python function."""
        self.launches: list[dict[str, Any]] = []
        """Block and dynamic LDS of each launch, `None` for what is computed at run time."""
        self.op = op
        self.scope = scope
        self.operands = operands
        """What each launch passes: the run-time parts of the kernel's arguments."""


class Compilation:
    """The module under construction.

    Attributes:
        module: the MLIR module.
        gpu_module_body: the block that holds the device functions.
        entry: name of the host function, a C identifier.
        arch: target architecture.
        hints: effective compile hints.
        stream: the token of the stream that launches go to by default, set once the host function exists.
        kernels: the device functions, in order of emission.
        launchers: the kernels that were given arguments (`launch.Launcher`).
        link_libs: bitcode that external functions need, in order of first use.
        module_inits: what external functions want called with the loaded device module.
        externals: the external functions that are called with what defines them.
        files: the files that were read while tracing, each with its state before it was.
        quoted: lines of source that the artifact will quote beside what the module says.
        absent: the arguments that are `None`, as text, for messages.
        trace_buffer: the buffer for events of `fx.ktrace` (an SSA value), when they are recorded.
        recording: the note's entry on these events, `None` when there are none.
    """

    def __init__(self, context: ir.Context, entry: str, arch: str, hints: dict[str, Any]) -> None:
        self.context = context
        self.entry = entry
        self.arch = arch
        self.hints = hints
        self.stream: ir.Value | None = None
        self.kernels: list[EmittedKernel] = []
        self.launchers: list[Any] = []
        self.link_libs: list[str] = []
        self.module_inits: list[Callable[[Any], Any]] = []
        self.externals: list[str] = []
        self.files: dict[str, Any] = {}
        self.names: set[str] = set()
        self.asked: set[tuple[str, str]] = set()
        self.quoted: list[str] = []
        self.absent: list[str] = []
        self.trace_buffer: ir.Value | None = None
        self.recording: dict[str, Any] | None = None
        self.module = ir.Module.create()
        self.module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
        with ir.InsertionPoint(self.module.body):
            gpu_module = ir.Operation.create(
                "gpu.module", regions=1, attributes={"sym_name": ir.StringAttr.get(GPU_MODULE)}
            )
        self.gpu_module = gpu_module.operation
        self.gpu_module_body: ir.Block = gpu_module.regions[0].blocks.append()
        self._count = 0
        self._names: set[str] = set()

    def add_link_lib(self, path: str) -> None:
        """Have bitcode linked into the code object, once, in the order of the first mention."""
        if path not in self.link_libs:
            self.link_libs.append(path)

    def kernel_name(self, function_name: str, fixed: str | None) -> str:
        """Return the symbol of the next device function."""
        number, self._count = self._count, self._count + 1
        if fixed is None:
            name = f"{_identifier(function_name)}_{number}"
        else:
            name, suffix = fixed, 0
            while name in self._names:
                name, suffix = f"{fixed}_{suffix}", suffix + 1
        self._names.add(name)
        return name

    def record(self, trace: _trace.Trace) -> None:
        """Say in the module how the events of its kernels are recorded, if there are any."""
        settings: KtraceSettings | None = trace.ktrace
        if settings is None or not any(kernel.scope.records_events for kernel in self.kernels):
            return
        i32 = ir.IntegerType.get_signless(32)
        names = {name: ir.IntegerAttr.get(i32, number) for name, number in trace.event_names.items()}
        attributes = self.module.operation.attributes
        attributes["fly_ktrace.chip"] = ir.StringAttr.get(trace.arch.chip)
        attributes["fly_ktrace.capacity_slots"] = ir.IntegerAttr.get(i32, settings.capacity_slots)
        attributes["fly_ktrace.partitions"] = ir.IntegerAttr.get(i32, settings.partitions)
        attributes["fly_ktrace.known_event_names"] = ir.DictAttr.get(names)
        if settings.blocks:
            attributes["fly_ktrace.blocks"] = ir.StringAttr.get(settings.blocks)
        self.recording = {"events": dict(trace.event_names)}


class _Active(threading.local):
    compilation: Compilation | None = None


_active = _Active()


def active() -> Compilation | None:
    """Return the compilation being traced on this thread."""
    return _active.compilation


def _identifier(name: str) -> str:
    return "".join(one if one.isalnum() or one == "_" else "_" for one in name) or "kernel"


def trace_host(
    function: Any,
    name: str,
    arguments: Sequence[tuple[str, Any]],
    *,
    arch: Arch,
    hints: dict[str, Any],
    ktrace: KtraceSettings | None = None,
    is_from_outside: Callable[[object], bool] | None = None,
    rewrites: KeptRewrites | None = None,
) -> tuple[Compilation, _trace.Trace]:
    """Trace a (rewritten) host function.

    Args:
        function: called with the arguments in order, by position.
        name: its name.
        arguments: name of each parameter, and its spec or a `Static` with the Python value it gets.
        arch: the target.
        hints: effective compile hints.
        ktrace: how events are recorded; the host function then has the buffer as a parameter behind the others.
        is_from_outside: see `flydsl.trace.context.Trace`.
        rewrites: rewritten functions of earlier processes.

    Returns:
        The compilation, whose module is complete but not verified.
    """
    listen()
    make_context: Any = ir.Context  # the class is made where the bindings are imported, and its stub lacks the argument
    context: ir.Context = make_context(load_on_create_dialects=_DIALECTS)
    # One thread: a diagnostic from a worker thread would wait for the GIL that the thread waiting for it holds.
    context.enable_multithreading(False)
    forget_unbound()
    with context, ir.Location.unknown():
        trace = _trace.Trace(
            context,
            arch=arch,
            fastmath=effective_fastmath_hint(hints),
            location_depth=env.debug.max_loc_depth,
            is_from_outside=is_from_outside,
        )
        compilation = Compilation(context, _identifier(name), arch.name, hints)
        hold(context, compilation.module)
        trace.ktrace, trace.rewrites = ktrace, rewrites
        with trace, ir.InsertionPoint(compilation.module.body):
            specs = [spec for _, spec in arguments if not isinstance(spec, Static)]
            types = [one for spec in specs for one in spec.ir_types()]
            hidden = not any(isinstance(spec, StreamSpec) for spec in specs)
            recorded = len(types)
            if ktrace is not None:
                types += KTRACE_BUFFER.ir_types()
            if hidden:
                types.append(stream_type())
            host = ir.Operation.create(
                "func.func",
                regions=1,
                attributes={
                    "sym_name": ir.StringAttr.get(compilation.entry),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
                },
            )
            block = host.regions[0].blocks.append(*types)
            if ktrace is not None:
                compilation.trace_buffer = block.arguments[recorded]
            outer, _active.compilation = _active.compilation, compilation
            try:
                with ir.InsertionPoint(block):
                    given = _values(arguments, list(block.arguments), compilation, hidden)
                    result = _trace.call_traced(function, *given)
                    refuse_caught()
                    ir.Operation.create("func.return")
                for launcher in compilation.launchers:
                    launcher.check_launched()
                _check_result(name, result)
                for kernel in compilation.kernels:
                    kernel.scope.check_finalized()
                compilation.record(trace)
                compilation.quoted = trace.quoted
                compilation.files = trace.files
                compilation.names = trace.names
                compilation.asked = trace.asked
            except NameError as error:
                explain_name_error(error)
                raise
            except RecursionError as error:
                explain_recursion(error)
                raise
            except ir.MLIRError as error:
                raise error_of_mlir(error) from None
            except KeyError as error:
                found = explain_lookup(error)
                if found is not None:
                    raise found from error
                raise
            except Exception as error:
                explain_raise(error)
                explain_none(error, compilation.absent)
                locate_error(error)
                raise
            finally:
                _active.compilation = outer
                settle(compilation.module)
    return compilation, trace


def _check_result(name: str, result: Any) -> None:
    """Refuse a host function that returns something: its callers get nothing.

    Raises:
        TypeError: the result is not `None`.
    """
    if result is not None:
        raise TypeError(
            f"{name}() returns a value of type {type(result).__name__}, but a call of a @flyc.jit function returns "
            "nothing: results are what its kernels write. Pass a tensor for the result as an argument, or return it "
            "from the Python function that makes the call"
        )


class Static:
    """A parameter that is a Python value while tracing."""

    def __init__(self, value: object) -> None:
        self.value: Any = value

    def describe(self) -> str:
        """Return it as a text."""
        return repr(self.value)


class Receiver(Static):
    """The object of a method, which lives no longer for what was compiled with it: others of its state share that."""

    def __init__(self, value: object) -> None:
        self._kind = type(value)
        try:
            self._get: Callable[[], object] = weakref.ref(value)
        except TypeError:  # of a class with slots, and none for weak references
            self._get = lambda: value

    @property
    def value(self) -> object:
        """The object.

        Raises:
            RuntimeError: it is gone.
        """
        found = self._get()
        if found is None:
            raise RuntimeError(
                f"the object of class {self._kind.__qualname__} with which this was compiled is gone, so that it "
                "cannot be traced again; ask with example arguments: launch.ir(stage, object, ...)"
            )
        return found

    @value.setter
    def value(self, _: object) -> None:
        raise AttributeError("the object of a method is the one that it was compiled with")

    def describe(self) -> str:
        """Return it as a text."""
        found = self._get()
        return f"an object of class {self._kind.__qualname__}, which is gone" if found is None else repr(found)


def _values(
    arguments: Sequence[tuple[str, Any]], values: list[ir.Value], compilation: Compilation, hidden: bool
) -> list[Any]:
    found: list[Any] = []
    if hidden:
        compilation.stream = values[-1]
    for name, spec in arguments:
        if isinstance(spec, Static):
            if spec.value is None:
                compilation.absent.append(f"argument '{name}' of {compilation.entry}()")
            found.append(spec.value)
            continue
        count = len(spec.ir_types())
        taken, values = values[:count], values[count:]
        if isinstance(spec, StreamSpec) and compilation.stream is None:
            compilation.stream = taken[0]
        found.append(spec.construct(taken))
    return found
