# SPDX-License-Identifier: Apache-2.0
"""Errors in the user's terms: what is wrong, in which line of the kernel, with that line and a caret under it."""

from __future__ import annotations

import dis
import linecache
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from flydsl._mlir import ir

from . import context as _trace

__all__ = [
    "NO_LOOKUP",
    "DSLCompileError",
    "DiagRecord",
    "Diagnostic",
    "Frame",
    "SourceFrame",
    "compile_error",
    "error_of_mlir",
    "explain_caught",
    "explain_lookup",
    "explain_name_error",
    "forget_unbound",
    "frames_of",
    "locate_error",
    "location_chain",
    "note_unbound",
    "register_adviser",
    "text_of",
    "user_location",
    "where_text",
]

_NOTE_WIDTH = 200
_CONTROL = str(Path(__file__).parents[1] / "frontend" / "control")

NO_LOOKUP = (
    "Python looks it up while tracing, and no key is equal to it. Write the cases as `if` / `elif`, or put the numbers "
    "in a tensor, or in registers: fx.Vector.from_elements([...])[i]"
)
"""What to say of a run-time key of a dict."""


class Frame(NamedTuple):
    """One line of the user's source; column 0 means unknown."""

    filename: str
    line: int
    column: int = 0


class Diagnostic(NamedTuple):
    """One finding of the compiler; `frames` run from the innermost outwards."""

    message: str
    notes: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()

    def __str__(self) -> str:
        lines = [self.message, *(f"  note: {_clipped(note)}" for note in self.notes)]
        if self.frames:
            lines += ["", "DSL Traceback (most recent operation last):"]
            for frame in reversed(self.frames):
                lines += _frame_lines(frame)
        return "\n".join(lines)


@dataclass
class SourceFrame:
    """One line of the user's source, with columns that count from 0."""

    filename: str
    line: int
    col: int = 0
    end_col: int | None = None


@dataclass
class DiagRecord:
    """One finding for `DSLCompileError(..., diagnostics=[...])`; `chain` runs from the innermost frame outwards."""

    message: str
    chain: list[SourceFrame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        frames = tuple(Frame(one.filename, one.line, one.col + 1) for one in self.chain)
        return str(Diagnostic(self.message, tuple(self.notes), frames))


class DSLCompileError(RuntimeError):
    """A kernel that cannot be compiled.

    The text is that of the findings, or of the messages where there are none.

    Attributes:
        diagnostics: the findings.
    """

    def __init__(
        self, *messages: Diagnostic | str, diagnostics: Sequence[Diagnostic | DiagRecord] | None = None
    ) -> None:
        found = [one for one in messages if not isinstance(one, str)] if diagnostics is None else list(diagnostics)
        super().__init__("\n\n".join(map(str, messages if diagnostics is None else found or messages)))
        self.diagnostics = found


def _clipped(text: str) -> str:
    """Shorten the operations that MLIR quotes: no regions, one line, 200 characters."""
    text = re.sub(r"\(\{.*\}\)", "({...})", text, flags=re.DOTALL)
    text = " ".join(text.split())
    return text if len(text) <= _NOTE_WIDTH else text[: _NOTE_WIDTH - 3] + "..."


def _frame_lines(frame: Frame) -> list[str]:
    lines = [f'  File "{frame.filename}", line {frame.line}']
    source = linecache.getline(frame.filename, frame.line).rstrip("\n")
    stripped = source.lstrip()
    if stripped:
        lines.append(f"    {stripped}")
        column = frame.column - 1 - (len(source) - len(stripped))
        if frame.column and 0 <= column < len(stripped):
            lines.append("    " + " " * column + "^")
    return lines


def user_frames() -> list[Frame]:
    """Return the user's frames that are being traced, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename not in _trace.is_library:
            _trace._classify(frame.f_code.co_filename)
        frame = frame.f_back
    found = []
    for code, lasti in _trace._user_frames(sys._getframe(1)):
        line, column = _trace.position(code, lasti)
        found.append(Frame(code.co_filename, line, column))
    return found


def user_location() -> Frame | None:
    """Return the innermost user frame."""
    frames = user_frames()
    return frames[0] if frames else None


def where_text() -> str:
    """Return the place in the user's source as text to append to a message."""
    return text_of(user_location())


def text_of(frame: Frame | None) -> str:
    """Return a place in the user's source as text to append to a message."""
    return "" if frame is None else "\n" + "\n".join(_frame_lines(frame))


def compile_error(message: str, notes: Sequence[str] = ()) -> DSLCompileError:
    """Return the error for something wrong at the user's line that is being traced."""
    return DSLCompileError(Diagnostic(message, tuple(notes), tuple(user_frames())))


_advisers: list[Callable[[str, str], list[str]]] = []


def register_adviser(advise: Callable[[str, str], list[str]]) -> None:
    """Have `advise(text, source)` say what to add to the text of an exception that came up in a piece of source."""
    if advise not in _advisers:
        _advisers.append(advise)


LOCATED = "__fly_located__"
"""Attribute of the exceptions that `locate_error` gave a place: the excepthook leaves the library's frames out."""


def locate_error(error: BaseException) -> None:
    """Add the user's line to the text of an exception that came up while that line was traced.

    What the user's own code raises stays as it is, and so does what says its place already.
    """
    if isinstance(error, DSLCompileError) or getattr(error, LOCATED, False):
        return
    frames, by_library = _traced_frames(error)
    if not frames or not error.args or not isinstance(error.args[0], str):
        return
    of_python = isinstance(
        error, (TypeError, AttributeError, NameError, IndexError, ZeroDivisionError)
    ) and not _is_raised(error)
    if not by_library and not of_python:
        return
    setattr(error, LOCATED, True)
    if 'File "' not in error.args[0]:
        source = linecache.getline(frames[0].filename, frames[0].line)[max(0, frames[0].column - 1) :]
        hints = [hint for advise in _advisers for hint in advise(error.args[0], source)]
        text = "; ".join([error.args[0], *hints])
        error.args = (f"{text}\n" + "\n".join(_frame_lines(frames[0])), *error.args[1:])


def _is_raised(error: BaseException) -> bool:
    """Tell whether a `raise` statement of the user's made an exception, not an operation."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def explain_none(error: BaseException, absent: Sequence[str]) -> None:
    """Add to an exception of traced code that found a `None` which arguments were `None`.

    Args:
        error: what traced code raised.
        absent: the arguments, as text.
    """
    if not absent or not isinstance(error, (TypeError, AttributeError)) or getattr(error, LOCATED, False):
        return
    text = str(error)
    frames = _traced_frames(error)[0]
    if "NoneType" not in text or not frames:
        return
    setattr(error, LOCATED, True)
    names = " and ".join(absent)
    verb = "are" if len(absent) > 1 else "is"
    hint = f"{names} {verb} None: pass a value, or guard this line with `if ... is not None:`"
    error.args = (f"{text}. {hint}\n" + "\n".join(_frame_lines(frames[0])), *error.args[1:])


def explain_recursion(error: RecursionError) -> None:
    """Say which functions of the user's call each other without end."""
    names: list[str] = []
    frames: list[Frame] = []
    trace, inside = error.__traceback__, False
    while trace is not None:
        code = trace.tb_frame.f_code
        library = _trace.is_library.get(code.co_filename) or _trace._classify(code.co_filename)
        if inside and not library and not code.co_name.startswith(_trace.REGION_PREFIX):
            names.append(code.co_name)
            frames.append(Frame(code.co_filename, *_trace.position(code, trace.tb_lasti)))
        inside = inside or code is _trace.BOUNDARY
        trace = trace.tb_next
    again = next((i for i, name in enumerate(names) if name in names[:i]), None)
    if again is None or getattr(error, LOCATED, False):
        return
    start = names.index(names[again])
    cycle = " -> ".join([*names[start:again], names[again]])
    setattr(error, LOCATED, True)
    error.args = (
        f"recursion without end: {cycle}. A traced function is put in place of each call, and what is known only when "
        "the kernel runs cannot end that. Write a loop, or let an fx.Constexpr decide\n"
        + "\n".join(_frame_lines(frames[again])),
    )


def explain_lookup(error: KeyError) -> DSLCompileError | None:
    """Return the error for a dict that was indexed with a run-time value; `None` for any other `KeyError`."""
    key = error.args[0] if error.args else None
    is_static = getattr(key, "is_static", None)
    at_run_time = isinstance(key, ir.Value) or (callable(is_static) and not is_static())
    if at_run_time and not _is_raised(error):
        message = f"a dict is indexed with a run-time {type(key).__name__}: {NO_LOOKUP}"
        return DSLCompileError(Diagnostic(message, frames=tuple(_traced_frames(error)[0])))
    return None


def explain_raise(error: BaseException) -> None:
    """Note on what the user's code raises in a run-time branch or loop that it is raised while tracing."""
    if not hasattr(error, "add_note") or not _is_raised(error) or getattr(error, LOCATED, False):
        return
    codes = []
    trace = error.__traceback__
    while trace is not None:
        codes.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    if not codes or not codes[-1].co_name.startswith(_trace.REGION_PREFIX):
        return
    callers = [code.co_name for code in codes[:-1] if code.co_filename.startswith(_CONTROL)]
    if callers and callers[-1] in ("branch", "_counted_loop", "_leaving_loop", "run_time_while"):
        error.add_note(
            "This was raised while tracing: the condition around it is known only when the kernel runs, so that every "
            "trace comes here. For a check when the kernel runs write `assert condition, message` or fx.device_assert."
        )


def explain_caught(error: BaseException) -> DSLCompileError | None:
    """Return the error for an exception of the user's code that left a run-time branch or loop and was caught there.

    `None` for one that the library raised: what a trace refuses it refuses always, and trying something else is sound.
    """
    frames: list[Frame] = []
    library = False
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        library = _trace.is_library.get(code.co_filename) or _trace._classify(code.co_filename)
        if not library:
            frames.insert(0, Frame(code.co_filename, *_trace.position(code, trace.tb_lasti)))
        trace = trace.tb_next
    if library or not _is_raised(error):
        return None
    return DSLCompileError(
        Diagnostic(
            f"this {type(error).__name__} was raised and caught while tracing: the condition around the `raise` is "
            "known only when the kernel runs, so that each trace comes here, and the `except` would run for every "
            "thread. Write the case as an `else` branch; a check when the kernel runs is `assert condition, message`",
            frames=tuple(frames),
        )
    )


def error_of_mlir(error: Any) -> DSLCompileError:
    """Return what MLIR refused while tracing (an attribute or a type that cannot be) as an error at the user's line."""
    found = [str(one.message) for one in error.error_diagnostics] or [str(error)]
    return DSLCompileError(
        Diagnostic(f"this operation cannot have these arguments: {found[0]}", frames=tuple(_traced_frames(error)[0]))
    )


def _traced_frames(error: BaseException) -> tuple[list[Frame], bool]:
    """Return the user's frames of an exception, innermost first, and whether code of the library raised it.

    Frames outside of a trace do not count.
    """
    frames: list[Frame] = []
    inside = library = False
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        library = _trace.is_library.get(code.co_filename) or _trace._classify(code.co_filename)
        if inside and not library:
            frames.insert(0, Frame(code.co_filename, *_trace.position(code, trace.tb_lasti)))
        inside = inside or code is _trace.BOUNDARY
        trace = trace.tb_next
    return frames, library


def location_chain(location: Any) -> list[SourceFrame]:
    """Return the frames of an MLIR location, innermost first, with columns as MLIR has them."""
    return [SourceFrame(one.filename, one.line, one.column, one.column) for one in frames_of(location)]


def frames_of(location: Any) -> tuple[Frame, ...]:
    """Return the frames of an MLIR location, innermost first."""
    if location is None:
        return ()
    found: list[Frame] = []
    for filename, line, column in re.findall(r'"([^"]+)":(\d+):(\d+)', str(location)):
        frame = Frame(filename, int(line), int(column))
        if not found or found[-1] != frame:
            found.append(frame)
    return tuple(found)


# -- variables that run-time control flow left without a value ---------------------------------------------------------


class _Unbound(threading.local):
    def __init__(self) -> None:
        self.reasons: dict[str, tuple[str, Frame | None]] = {}


_unbound = _Unbound()


def note_unbound(name: str, reason: str, frame: Frame | None) -> None:
    """Remember why a variable has no value, for the `NameError` of a later read."""
    _unbound.reasons[name] = (reason, frame)


def forget_unbound() -> None:
    """Forget all reasons; a new tracing begins."""
    _unbound.reasons.clear()


# A region is a function of its own, so that the variable is a free one there.
_UNSET = r"free variable|referenced before assignment|local variable"


def explain_name_error(error: NameError) -> None:
    """Add to a `NameError` of traced code what took the value away."""
    quoted = re.search(r"'(\w+)'", str(error))
    if quoted is not None and quoted.group(1) not in _unbound.reasons and re.search(_UNSET, str(error)):
        error.args = (
            f"variable '{quoted.group(1)}' is read before it has a value. Give it one first: an accumulator of a "
            "run-time loop begins, for example, as fx.Float32(0.0)",
        )
        locate_error(error)
        return
    if quoted is None or quoted.group(1) not in _unbound.reasons:
        locate_error(error)
        return
    reason, frame = _unbound.reasons[quoted.group(1)]
    place = "" if frame is None else "\n" + "\n".join(_frame_lines(frame))
    error.args = (f"{error.args[0] if error.args else quoted.group(1)}: {reason}{place}", *error.args[1:])
