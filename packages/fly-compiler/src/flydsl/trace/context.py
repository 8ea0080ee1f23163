# SPDX-License-Identifier: Apache-2.0
"""The tracing context: everything that an op builder needs besides its operands.

`flydsl.compiler` opens a `Trace` around the tracing of one `@flyc.jit` function and a `KernelScope` around the body of
each `@flyc.kernel`; `flydsl.expr` reads them. The MLIR context and insertion point are MLIR's own (its `with` stack);
a `Trace` adds the target, source locations, fast-math and the resources of the kernel. Op builders also work with
nothing but an ambient MLIR context and location; then the ops carry that location.

Source locations. `location()` walks the Python stack from the op builder to the innermost call made through
`call_traced` and keeps the frames of users' files: innermost first, as an MLIR call-site chain. Files of this library
are skipped. Control-flow bodies that the AST rewriter turned into functions have names that begin with
`REGION_PREFIX`; such a frame gives the line for the function that encloses it, so a chain shows functions, not regions.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyDialect import call_chain
from flydsl.utils import log

from .arch import Arch, default_arch, describe
from .library import PACKAGES

__all__ = [
    "BOUNDARY",
    "REGION_PREFIX",
    "KernelScope",
    "LdsAllocation",
    "Trace",
    "call_traced",
    "count_branch",
    "current",
    "is_library",
    "kernel",
    "location",
    "maybe_current",
    "plain_location",
    "target",
    "user_frame",
]

REGION_PREFIX = "__fly_region"
DEFAULT_LOCATION_DEPTH = 5
MOST_OPERATIONS = 1_000_000
"""How many operations one program may have: 100,000 unrolled steps of ten operations. Compiling takes minutes then."""

MANY_OPERATIONS = 100_000
"""From how many operations on the log says that compiling may take long."""

MOST_BRANCHES = 20_000
"""How many branches and loops one kernel may have at run time. Compiling takes a quarter of an hour then, for the time
of LLVM's passes over control flow (structurizer, register coalescer) grows with the square of their number."""

MANY_BRANCHES = 2_000
"""From how many branches and loops on the log says that compiling may take long; it takes seconds then."""

_R = TypeVar("_R")


class LdsAllocation(NamedTuple):
    """One static LDS allocation of a kernel: what it is, how big (bytes), and where it was made (`file:line`)."""

    name: str
    size: int
    alignment: int
    where: str


@dataclass(eq=False, repr=False)
class KernelScope:
    """What is known of the device function being traced. `flydsl.compiler` makes one per kernel emission."""

    name: str
    entry: ir.Block
    """Entry block of the `gpu.func`; allocations are placed at its start, where they dominate every use."""
    gpu_module: ir.Block | None = None
    """Body block of the enclosing `gpu.module`."""
    block_size: tuple[int, int, int] | None = None
    lds: list[LdsAllocation] = field(default_factory=list)
    dynamic_lds_bytes: int = 0
    shared_allocator: Any = None
    hoisted: dict[Any, Any] = field(default_factory=dict)
    """Values that the entry block already computes and that are good everywhere: indices, constants, static layouts."""
    branches: int = 0
    """Branches and loops of the body that stay in the kernel."""
    externs: dict[str, Any] = field(default_factory=dict)
    """Symbols of external device functions that this kernel calls."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Attributes that the body asks for on the `gpu.func`."""
    records_events: bool = False
    """Whether the body has events of `fx.ktrace`; the compiler then adds the buffer as the last argument."""
    legacy_lds: dict[str, Any] = field(default_factory=dict)
    """`SmemAllocator`s whose base the body took, by symbol; each has to be finalized before the module is complete."""

    def check_finalized(self) -> None:
        """Raise `RuntimeError` when a `SmemAllocator` of the kernel was not finalized; the compiler calls it."""
        for symbol, allocator in self.legacy_lds.items():
            if not allocator.finalized:
                raise RuntimeError(
                    f"kernel '{self.name}' uses the SmemAllocator '{symbol}', which was not finalized; call finalize() "
                    "inside ir.InsertionPoint(CompilationContext.get_current().gpu_module_body)"
                )

    def add_lds(self, name: str, size: int, alignment: int) -> None:
        """Account for `size` bytes of static LDS; refuse a kernel that exceeds its target, with the whole budget."""
        self.lds.append(LdsAllocation(name, size, alignment, where()))
        self.check_lds()

    def lds_bytes(self) -> int:
        """Bytes of LDS with each allocation at its alignment, dynamic LDS included."""
        total = 0
        for one in self.lds:
            total = -(-total // one.alignment) * one.alignment + one.size
        return total + self.dynamic_lds_bytes

    def check_lds(self) -> None:
        """Raise `RuntimeError` when the allocations so far exceed what the target has."""
        arch = target()
        used = self.lds_bytes()
        if used <= arch.lds_bytes:
            return
        rows = [f"  {one.size:>8} bytes  {one.name}  ({one.where})" for one in self.lds]
        if self.dynamic_lds_bytes:
            rows.append(f"  {self.dynamic_lds_bytes:>8} bytes  dynamic LDS")
        raise RuntimeError(
            f"kernel '{self.name}' needs {used} bytes of LDS, but {arch.name} has {arch.lds_bytes} per workgroup:\n"
            + "\n".join(rows)
            + "\nUse smaller tiles or fewer stages, or let arrays share memory with fx.union."
        )


class _State(threading.local):
    trace: Trace | None = None
    fastmath: Any = None
    fastmath_set: bool = False


state = _State()


class Trace:
    """One tracing of a jit function: `with Trace(context, arch=...):`.

    Args:
        context: the MLIR context. Entering it and an insertion point is the caller's business.
        arch: the target, or the name of an AMD architecture; by default what the environment asks for.
        fastmath: ambient fast-math specification of the compile hints (`flydsl.trace.fastmath`).
        location_depth: the most frames that a location keeps; the outermost (kernel) frame is always kept.
        is_from_outside: tells whether an object was there before the trace, for what the traced functions can reach.
    """

    def __init__(
        self,
        context: ir.Context,
        *,
        arch: Arch | str | None = None,
        fastmath: Any = None,
        location_depth: int = DEFAULT_LOCATION_DEPTH,
        is_from_outside: Callable[[object], bool] | None = None,
    ) -> None:
        self.context = context
        self.is_from_outside = is_from_outside
        self.files: dict[str, Any] = {}
        """The state of each file that the trace read, before it did (`flydsl.trace.files`)."""
        self.names: set[str] = set()
        """Names of attributes (`getattr`) and of modules that traced code computed: no constant of it has them."""
        self.asked: set[tuple[str, str]] = set()
        """Functions of Python's and of packages that traced code called, by module and qualified name."""
        self.opened: set[int] = set()
        """The descriptors of the files that traced code opened."""
        self.arch: Arch = describe(arch) if isinstance(arch, str) else arch or default_arch()
        self.fastmath = fastmath
        self.location_depth = max(1, location_depth)
        self.kernel: KernelScope | None = None
        self.types: dict[Any, Any] = {}
        """MLIR types and attributes by what they were made from; they live as long as the context."""
        self.ktrace: Any = None
        """How events of `fx.ktrace` are recorded, `None` when they are not."""
        self.rewrites: Any = None
        """The rewritten functions that earlier processes kept (`flydsl.frontend.rewrite.kept`), `None` without any."""
        self.event_names: dict[str, int] = {}
        """The events of the program, with their numbers."""
        self.quoted: list[str] = []
        """Lines of source that messages of the program will quote: they are not in the module, which has positions."""
        self.locations: dict[tuple[int, ...] | bytes, ir.Location] = {}
        self.operations = 0
        """How many operations have asked for their location."""
        self.limit = min(MANY_OPERATIONS, MOST_OPERATIONS)
        """How many may do so before the length of the program is looked at again."""
        self._codes: list[CodeType] = []
        self._outer: list[tuple[Trace | None, Any, bool]] = []

    def __enter__(self) -> Trace:
        self._outer.append((state.trace, state.fastmath, state.fastmath_set))
        state.trace, state.fastmath, state.fastmath_set = self, None, False
        return self

    def __exit__(self, *exc: object) -> None:
        state.trace, state.fastmath, state.fastmath_set = self._outer.pop()

    @contextmanager
    def in_kernel(self, scope: KernelScope) -> Iterator[KernelScope]:
        """Make `scope` the kernel being traced."""
        outer, self.kernel = self.kernel, scope
        try:
            yield scope
        finally:
            self.kernel = outer

    def count(self) -> None:
        """Count an operation of the program; say that it is long, and refuse one that is too long."""
        self.operations += 1
        if self.operations > self.limit:
            _look_at_length(self)

    def remember_location(self, signature: tuple[int, ...] | bytes, frames: list[tuple[CodeType, int]]) -> ir.Location:
        """Make the call-site chain of `frames` (innermost first) and keep it under `signature`."""
        self._codes.extend(code for code, _ in frames)  # keeps the ids of the signature in use
        result = self.locations[signature] = self._make_location(frames)
        return result

    def _make_location(self, frames: list[tuple[CodeType, int]]) -> ir.Location:
        if len(frames) > self.location_depth:
            frames = [*frames[: self.location_depth - 1], frames[-1]]
        chain = [
            ir.Location.file(code.co_filename, *position(code, lasti), context=self.context) for code, lasti in frames
        ]
        return chain[0] if len(chain) == 1 else ir.Location.callsite(chain[0], chain[1:], context=self.context)


def _look_at_length(trace: Trace) -> None:
    """Say that a program is long, and refuse one that is too long."""
    what = "this program" if trace.kernel is None else f"kernel '{trace.kernel.name}'"
    if trace.operations <= MOST_OPERATIONS:
        trace.limit = MOST_OPERATIONS
        log().warning(
            "%s has more than %s operations (reached at %s): where many of them access memory, compiling takes "
            "minutes, for LLVM's time grows faster than their number; `for i in range(...)` stays a loop of the kernel",
            what,
            f"{MANY_OPERATIONS:,}",
            where(),
        )
        return
    raise RuntimeError(
        f"{what} has more than {MOST_OPERATIONS:,} operations, which is too long to compile (reached at {where()}). "
        "Loops over range_constexpr, lists and tuples are unrolled while tracing: write `for i in range(...)`, which "
        "stays a loop of the kernel, around a shorter unrolled part"
    )


def count_branch() -> None:
    """Count a branch or loop of the kernel being traced; say that there are many, and refuse too many.

    The functional spellings of control flow also work at an insertion point of the caller's own, outside a trace: no
    kernel is known there, and nothing is counted.
    """
    trace = maybe_current()
    kernel = trace.kernel if trace is not None else None
    if kernel is None:
        return
    kernel.branches += 1
    if kernel.branches == MANY_BRANCHES + 1:
        log().warning(
            "kernel '%s' has more than %s branches and loops (reached at %s): compiling takes long, for LLVM's time "
            "grows with the square of their number; %s",
            kernel.name,
            f"{MANY_BRANCHES:,}",
            where(),
            _FEWER_BRANCHES,
        )
    if kernel.branches > MOST_BRANCHES:
        raise RuntimeError(
            f"kernel '{kernel.name}' has more than {MOST_BRANCHES:,} branches and loops, which is too many to compile "
            f"(reached at {where()}): LLVM's time grows with the square of their number. {_FEWER_BRANCHES}"
        )


_FEWER_BRANCHES = (
    "`for i in range(...)` around them stays one loop of the kernel, and `cond.select(a, b)` chooses a value without a "
    "branch"
)


def current() -> Trace:
    """Return the active `Trace`; `RuntimeError` when nothing is being traced."""
    trace = state.trace
    if trace is None:
        raise RuntimeError("this can only be used while a @flyc.jit or @flyc.kernel function is being traced")
    return trace


def maybe_current() -> Trace | None:
    """Return the active `Trace` or `None`."""
    return state.trace


def kernel(what: str) -> KernelScope:
    """Return the kernel being traced; `RuntimeError` naming `what` outside one."""
    trace = state.trace
    if trace is None or trace.kernel is None:
        raise RuntimeError(f"{what} can only be used inside a @flyc.kernel function while it is being traced")
    return trace.kernel


def target() -> Arch:
    """Return the architecture that is being compiled for (outside a trace: the environment's)."""
    trace = state.trace
    return trace.arch if trace is not None else default_arch()


# -- source locations --------------------------------------------------------------------------------------------------

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY_DIRS = [os.path.join(_PACKAGE, sub) + os.sep for sub in PACKAGES]
is_library: dict[str, bool] = {}
"""Whether a file is this library's, by its name; for the files that were asked about."""


def _classify(filename: str) -> bool:
    library = (
        filename.startswith(tuple(_LIBRARY_DIRS)) or (os.sep + os.path.join("flydsl", "_mlir") + os.sep) in filename
    )
    # contextlib, functools and the like sit between a user and the library when `with` or a decorator is used.
    library = library or filename.startswith("<frozen") or filename == _CONTEXTLIB
    is_library[filename] = library
    return library


_CONTEXTLIB = contextmanager.__code__.co_filename


def call_traced(function: Callable[..., _R], /, *args: Any, **kwargs: Any) -> _R:
    """Call the (rewritten) body of a kernel or jit function: the outermost frame that source locations show."""
    return function(*args, **kwargs)


BOUNDARY = call_traced.__code__
"""The code whose frame is the outermost that locations show."""


def _user_frames(frame: FrameType | None) -> list[tuple[CodeType, int]]:
    frames: list[tuple[CodeType, int]] = []
    in_region = False
    while frame is not None and frame.f_code is not BOUNDARY:
        code = frame.f_code
        if not is_library[code.co_filename]:
            if not in_region:
                frames.append((code, frame.f_lasti))
            in_region = code.co_name.startswith(REGION_PREFIX)
        frame = frame.f_back
    return frames


def location() -> ir.Location | None:
    """Return the location of the user's code that is being traced; `None` (MLIR's current one) outside a `Trace`."""
    trace = state.trace
    if trace is None:
        return None
    trace.count()
    signature: Any = call_chain(BOUNDARY, is_library)
    while type(signature) is str:
        _classify(signature)
        signature = call_chain(BOUNDARY, is_library)
    known = trace.locations.get(signature)
    if known is None:
        frames = _user_frames(sys._getframe(1))
        known = trace.remember_location(signature, frames) if frames else None
    return known


def plain_location() -> ir.Location | None:
    """Return the location of the innermost user frame alone, for what will not lie inside a function.

    MLIR's debug-info pass takes call-site chains for granted to be of operations of a function; allocations of LDS and
    globals become symbols of the module.
    """
    trace = state.trace
    frames = _user_frames(sys._getframe(1)) if trace is not None and location() is not None else []
    if trace is None or not frames:
        return None
    code, lasti = frames[0]
    signature = (id(code), lasti)
    known = trace.locations.get(signature)
    return known if known is not None else trace.remember_location(signature, frames[:1])


def user_frame() -> tuple[str, int] | None:
    """Return file and line of the innermost user frame, or `None` when the stack holds only library frames."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        library = is_library.get(filename)
        if library is None:
            library = _classify(filename)
        if not library:
            return filename, frame.f_lineno
        frame = frame.f_back
    return None


def where() -> str:
    """Return `file:line` of the innermost user frame, for messages."""
    found = user_frame()
    return f"{found[0]}:{found[1]}" if found else "unknown location"


_tables: dict[int, tuple[CodeType, list[Any]]] = {}
_MOST_TABLES = 4096


def position(code: CodeType, lasti: int) -> tuple[int, int]:
    """Return line and 1-based column (0: not known) of the instruction at offset `lasti`."""
    known = _tables.get(id(code))
    if known is None:
        if len(_tables) >= _MOST_TABLES:
            _tables.clear()
        known = _tables[id(code)] = (code, _positions(code))
    table = known[1]
    index = lasti // 2
    if not 0 <= index < len(table):
        return code.co_firstlineno, 0
    line, _, column, _ = table[index]
    return line or code.co_firstlineno, 0 if column is None else column + 1


if sys.version_info >= (3, 11):

    def _positions(code: CodeType) -> list[Any]:
        """Return line, last line, column and last column (from 0) of every instruction."""
        return list(code.co_positions())

else:

    def _positions(code: CodeType) -> list[Any]:
        """Return the line of every instruction, in the form of newer Pythons; this one records no columns."""
        table: list[Any] = [(None, None, None, None)] * (len(code.co_code) // 2)
        for start, end, line in code.co_lines():
            table[start // 2 : end // 2] = [(line, line, None, None)] * ((end - start) // 2)
        return table
