# SPDX-License-Identifier: Apache-2.0
"""`fx.ktrace`: marks and ranges that the waves of a kernel record while it runs.

    with fx.ktrace.range("load"):
        ...
    fx.ktrace.mark("tile", k)

A wave records an event once, with the time of the device's constant clock, and the payload of its first active lane.
Without `FLYDSL_KTRACE_ENABLE=1`, the compile hint `ktrace` or a `capture` around the call nothing is emitted. Only
gfx942 and gfx950 can record. `collect`, `summary` and `capture` read what was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._flyKtraceDialect import TokenType, recording_chips
from flydsl.trace import context as _trace
from flydsl.trace.build import build, build_op, type_of
from flydsl.trace.context import KernelScope, Trace
from flydsl.trace.event_names import event_id
from flydsl.trace.event_settings import ktrace_settings
from flydsl.trace.hints import ambient_hints

from ..values.layout.objects import IntTuple
from ..values.numeric import Boolean, Float32, Float64, Int64, Numeric, Uint32, Uint64, as_numeric

if TYPE_CHECKING:
    from flydsl.call.ktrace.capture import Capture

__all__ = [
    "KIND_MARK",
    "KIND_RANGE_POP",
    "KIND_RANGE_PUSH",
    "KIND_RANGE_START",
    "KIND_RANGE_STOP",
    "RangeToken",
    "capture",
    "collect",
    "inactive_token",
    "mark",
    "range",
    "range_pop",
    "range_push",
    "range_start",
    "range_stop",
    "summary",
    "tracing_enabled",
]

KIND_MARK = 0
KIND_RANGE_PUSH = 1
KIND_RANGE_POP = 2
KIND_RANGE_START = 3
KIND_RANGE_STOP = 4


class RangeToken:
    """A range that was started, for `range_stop`; it may be carried through control flow.

    Attributes:
        event_name: the range's name.
    """

    def __init__(self, slot: ir.Value | None, event_name: str) -> None:
        self.slot = slot
        self.event_name = event_name

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [] if self.slot is None else [self.slot]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[ir.Value], exemplar: RangeToken) -> RangeToken:
        return cls(values[0] if values else None, exemplar.event_name)

    def __repr__(self) -> str:
        return f"RangeToken(event_name={self.event_name!r})"


def tracing_enabled() -> bool:
    """Tell whether events are recorded: by the program being traced, else by one that would be compiled now."""
    trace = _trace.maybe_current()
    if trace is not None:
        return trace.ktrace is not None
    return ktrace_settings(ambient_hints()) is not None


def mark(event_name: str, payload: Any = None) -> None:
    """Record a point in time.

    Args:
        event_name: its name.
        payload: a number to keep with it, known while tracing or not: an integer of up to 64 bits, a float, a bool.

    Raises:
        TypeError: a name that is no text, a payload that is no number.
        ValueError: an empty name.
        RuntimeError: outside a kernel, or the target cannot record, while events are recorded.
    """
    _record("mark", event_name, payload)


def range_push(event_name: str, payload: Any = None) -> None:
    """Begin a range that the next unmatched `range_pop` of the wave ends; see `mark`."""
    _record("range_push", event_name, payload)


def range_pop() -> None:
    """End the innermost range that was pushed."""
    _record("range_pop", None, None)


@contextmanager
def range(event_name: str, payload: Any = None) -> Iterator[None]:
    """Record a block of code as a range: `with fx.ktrace.range("load"): ...`; see `mark`."""
    range_push(event_name, payload)
    try:
        yield
    finally:
        range_pop()


def range_start(event_name: str, payload: Any = None) -> RangeToken:
    """Begin a range that may overlap others, and return what `range_stop` takes; see `mark`."""
    return RangeToken(_record("range_start", event_name, payload), event_name)


def range_stop(token: RangeToken, payload: Any = None) -> None:
    """End a range that was started; with an inactive token nothing is recorded.

    Raises:
        TypeError: no token.
    """
    if not isinstance(token, RangeToken):
        raise TypeError(f"range_stop takes what range_start or inactive_token returned, not {type(token).__name__}")
    _record("range_stop", token.event_name, payload, token)


def inactive_token(event_name: str) -> RangeToken:
    """Return a token of a range that was not started: the value before a branch or loop that may start it."""
    if _recorder("inactive_token") is None:
        return RangeToken(None, event_name)
    _number_of(event_name)
    return RangeToken(build("fly_ktrace.inactive_token", (), type_of(TokenType)), event_name)


def capture(kernel: str = "kernel", *, blocks: Any = None, out_dir: Any = None) -> Capture:
    """Return a `with` block whose kernels record; see `flydsl.call.ktrace.capture.Capture`.

    Raises:
        RuntimeError: `flydsl.compiler`, which runs kernels, was not imported.
    """
    if _reader is None:
        raise RuntimeError("fx.ktrace.capture records kernels that run: import flydsl.compiler first")
    return _reader().Capture(kernel, blocks=blocks, out_dir=out_dir)


def collect(kernel: str = "kernel", out_dir: Any = None) -> str | None:
    """Write what was recorded to a trace file for https://ui.perfetto.dev, and forget it.

    Args:
        kernel: names the file: `<kernel>.ktrace.json`.
        out_dir: its folder; by default `FLYDSL_KTRACE_DUMP_DIR`, else the working directory.

    Returns:
        The file's path; `None` when nothing was recorded.

    Raises:
        RuntimeError: more was recorded than the buffer holds.
    """
    return None if _reader is None else _reader().collect(kernel, out_dir)


def summary() -> dict[str, Any] | None:
    """Return figures of what was recorded and not collected yet, `None` when there is nothing.

    Returns:
        `launches`, `waves`, `events`, and by name of the event: `kind`, `count`, and of ranges `min_ns`, `median_ns`,
        `mean_ns`, `max_ns`, `total_ns` (of the device's clock; the emulator counts instructions).
    """
    return None if _reader is None else _reader().summary()


class Reader(Protocol):
    """What reads the events that kernels recorded."""

    @property
    def Capture(self) -> Callable[..., Capture]:
        """As `capture`."""

    def collect(self, kernel: str, out_dir: Any) -> str | None:
        """As `collect`."""

    def summary(self) -> dict[str, Any] | None:
        """As `summary`."""


_reader: Callable[[], Reader] | None = None


def register_reader(reader: Callable[[], Reader]) -> None:
    """Have recorded events read by what `reader()` returns; without one no kernel has run, and there are none.

    The layer that calls kernels registers itself when it is imported.
    """
    global _reader
    _reader = reader


# -- emission ----------------------------------------------------------------------------------------------------------


def _recorder(what: str) -> tuple[Trace, KernelScope] | None:
    """Return the kernel that records, `None` when nothing does."""
    trace = _trace.maybe_current()
    if trace is None and not tracing_enabled():
        return None
    if trace is not None and trace.ktrace is None:
        return None
    scope = _trace.kernel(f"fx.ktrace.{what}")
    assert trace is not None
    if trace.arch.chip not in recording_chips():
        raise RuntimeError(
            f"fx.ktrace records on {' and '.join(recording_chips())} only, and this is compiled for {trace.arch.name}: "
            "unset FLYDSL_KTRACE_ENABLE, or drop the hint ktrace"
        )
    return trace, scope


def _record(kind: str, event_name: str | None, payload: Any, token: RangeToken | None = None) -> ir.Value | None:
    found = _recorder(kind)
    if found is None:
        return None
    trace, scope = found
    attributes: dict[str, ir.Attribute] = {}
    operands: list[ir.Value] = []
    if token is not None:
        operands.append(_slot_of(token))
    if event_name is not None:
        trace.event_names[event_name] = _number_of(event_name)
        attributes["event_name"] = ir.StringAttr.get(event_name)
    value, payload_type = _payload(payload)
    if value is not None:
        operands.append(value)
    attributes["payload_type"] = ir.StringAttr.get(payload_type)
    scope.records_events = True
    results = [type_of(TokenType)] if kind == "range_start" else []
    op = build_op(f"fly_ktrace.{kind}", operands, results, attributes)
    return op.results[0] if results else None


def _number_of(event_name: str) -> int:
    return event_id(event_name)


def _slot_of(token: RangeToken) -> ir.Value:
    if token.slot is None:
        return build("fly_ktrace.inactive_token", (), type_of(TokenType))
    return token.slot


def _payload(payload: Any) -> tuple[ir.Value | None, str]:
    """Return a payload as 64 bits, and the name of its type."""
    if payload is None:
        return None, "uint64"
    if isinstance(payload, IntTuple):
        payload = payload.to_py_value()
    if isinstance(payload, int) and not isinstance(payload, bool):
        if not -(1 << 63) <= payload < 1 << 64:
            raise ValueError(f"the payload {payload} of a ktrace event has more than 64 bits")
        unsigned = payload >= 1 << 63
        return (Uint64 if unsigned else Int64)(payload).ir_value(), "uint64" if unsigned else "int64"
    if not isinstance(payload, (bool, float, Numeric, ir.Value)):
        raise TypeError(f"the payload of a ktrace event is a number, not a {type(payload).__name__}")
    number = as_numeric(payload)
    kind = type(number)
    if kind is Boolean:
        return number.to(Uint64).ir_value(), "bool"
    if kind.is_integer:
        if kind.width > 64:
            raise TypeError(
                f"the payload of a ktrace event has at most 64 bits, not the {kind.width} of {kind.__name__}"
            )
        return (number.to(Int64).ir_value(), "int64") if kind.signed else (number.to(Uint64).ir_value(), "uint64")
    if kind is Float64:
        return number.bitcast(Int64).ir_value(), "float64"
    return number.to(Float32).bitcast(Uint32).to(Uint64).ir_value(), "float32"
