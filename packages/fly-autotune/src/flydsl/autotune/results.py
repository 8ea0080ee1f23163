# SPDX-License-Identifier: Apache-2.0
"""A row of the database of results: one finding, named by a hash of all that is in it."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from typing import Any

from .facts import facts_of
from .files import canonical_json
from .key import Key

__all__ = ["BEST", "EVALUATED", "ROLES", "DamagedError", "Result", "newest"]

BEST = "best"
"""The configuration that a search ended with: what a call gets."""
EVALUATED = "evaluated"
"""One configuration that a search tried: what a search that was ended goes on from."""
ROLES = (BEST, EVALUATED)

COLUMNS = "function, key, config, milliseconds, measure, found, digest, role, error"
"""Those that a finding is made of; the others only say what is in the key."""
DERIVED = "source, toolchain, architecture, device, model, shape, shape_class"


_LONGEST_NAME = 200
"""Bytes of a function's name, which is also that of its JSON file."""


class DamagedError(sqlite3.DatabaseError):
    """The file is a damaged database, or has rows that are not what was written."""


@dataclass(frozen=True)
class Result:
    """One finding.

    Attributes:
        function: the name of the function.
        key: what kind of call it is for.
        config: the configuration's `to_dict()`.
        milliseconds: what a call took; None where that was not written down (older versions did not), or it failed.
        measure: "device" (time between events), "predicted" (by the emulator), "own" (a `do_bench` of the user's
            own), "estimate" (issue cycles, which older versions went by), or "unknown".
        found: when: UTC, to the microsecond, in a form that sorts; empty where that was not written down.
        role: `BEST` or `EVALUATED`.
        error: why an evaluation failed.
    """

    function: str
    key: Key
    config: dict[str, Any]
    milliseconds: float | None = None
    measure: str = "unknown"
    found: str = ""
    role: str = BEST
    error: str = ""

    @functools.cached_property
    def digest(self) -> str:
        """The name of the row: a hash of everything in it."""
        return _digest(self._columns(), self.role, self.error)

    def _columns(self) -> tuple[Any, ...]:
        milliseconds = None if self.milliseconds is None else float(self.milliseconds)
        key, config = json.dumps(list(self.key)), canonical_json(self.config)
        return self.function, key, config, milliseconds, self.measure, self.found

    def row(self) -> tuple[Any, ...]:
        """The values of `COLUMNS`."""
        return (*self._columns(), self.digest, self.role, self.error)

    def derived(self) -> tuple[str, ...]:
        """The values of `DERIVED`."""
        said = facts_of(self.key)
        texts = (
            said.source, said.toolchain, said.architecture, said.device, said.model, said.shape, said.shape_class,
        )  # fmt: skip
        # An argument may be a text that is no Unicode, such as a file's name; `key` has it in JSON's escapes.
        return tuple(one.encode(errors="backslashreplace").decode() for one in texts)

    def _is_finding(self) -> bool:
        """Whether each value is of the kind that the class says: whoever reads it may rely on that."""
        texts = (self.function, self.measure, self.found, self.error, *self.key)
        return (
            all(isinstance(one, str) for one in texts)
            and 0 < len(self.function.encode()) <= _LONGEST_NAME
            and "\0" not in self.function
            and isinstance(self.config, dict)
            and (self.milliseconds is None or math.isfinite(self.milliseconds))
            and _is_time(self.found)
        )

    @staticmethod
    def of_row(row: tuple[Any, ...]) -> Result:
        """The inverse of `row`; a row that version 1 wrote has no role and no error.

        A right hash is not enough: another program may have written it, or somebody an export that was merged.

        Raises:
            DamagedError: it is not what was written, or no finding.
        """
        *columns, digest, role, error = row
        role, error = BEST if role is None else role, "" if error is None else error
        try:
            if role in ROLES and _digest(columns, role, error) == digest:
                function, key, config, milliseconds, measure, found = columns
                result = Result(
                    function, tuple(_JSON.decode(key)), _JSON.decode(config), milliseconds, measure, found, role, error
                )
                if result._is_finding() and result._columns() == tuple(columns):
                    result.__dict__["digest"] = digest  # it was just computed
                    return result
        except (TypeError, ValueError, OverflowError, RecursionError):
            pass
        raise DamagedError("a row is not what was written")


def _is_time(text: str) -> bool:
    """Whether a text is a time as `found` has it, or none. The last year is left out: something may come behind it."""
    if not text:
        return True
    time = datetime.fromisoformat(text)
    return time.utcoffset() == timedelta(0) and time.year < MAXYEAR and time.isoformat(timespec="microseconds") == text


def _digest(columns: Iterable[Any], role: str, error: str) -> str:
    # Version 1 knew one role and no errors: its rows keep their names.
    more = () if (role, error) == (BEST, "") else (role, error)
    return hashlib.sha256("\0".join(map(str, (*columns, *more))).encode()).hexdigest()


def _refuse(constant: str) -> Any:
    raise ValueError(f"JSON has no {constant}")


_JSON = json.JSONDecoder(parse_constant=_refuse)


def newest(results: Iterable[Result]) -> dict[Key, Result]:
    """The finding that counts for each key, of one function."""
    found: dict[Key, Result] = {}
    for one in results:
        known = found.get(one.key)
        if known is None or (known.found, known.digest) < (one.found, one.digest):
            found[one.key] = one
    return found
