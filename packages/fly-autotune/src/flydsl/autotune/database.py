# SPDX-License-Identifier: Apache-2.0
"""The results of tuning, of all functions, in one SQLite database: `<cache folder>/results.sqlite`.

A row is one finding (`results`). Rows are never changed, and each is named by a hash of all that is in it. So databases
of several machines are merged by putting their rows together, a row that the disk damaged is noticed, and of the
findings for one key the newest counts. What the key says stands in columns of its own too, for whoever asks in SQL:
source, tool chain, architecture, device, model of time (of predictions), shape and its class.

Writers hold `results.lock`; SQLite's own journal makes what a killed one left behind undone. A damaged database is put
aside, and a new one made of the rows that can still be read; the files `<function>.json` bring back the others.
"""

from __future__ import annotations

import itertools
import logging
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TypeVar

from . import mirror
from .files import exclusive, remove_abandoned
from .folder import UntrustedError, is_private, private_folder
from .results import BEST, COLUMNS, ROLES, DamagedError, Result, newest
from .schema import APPLICATION, PAGE, SCHEMA, VERSION, insert, migrate, schema_of, schema_of_version

__all__ = ["DamagedError", "Database", "Result", "newest"]

_log = logging.getLogger("flydsl")
_T = TypeVar("_T")

_TICK_NS = 50_000_000  # more than the clock of any file system takes to tell two changes apart
_PATIENCE = 30.0  # seconds for SQLite's own lock, which only a program that is no tuner could hold longer


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


class Database:
    """The database of a folder. A connection lives as long as a call: threads and forked processes share nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "results.sqlite"

    def file_of(self, function: str) -> Path:
        """The JSON file of a function; a name with separators does not lead out of the folder."""
        return self.folder / f"{function.replace('/', '_')}.json"

    def state(self, function: str) -> tuple[mirror.State | None, mirror.State | None]:
        """What changes when the results of a function do (or those of another)."""
        return mirror.state_of(self.path), mirror.state_of(self.file_of(function))

    def results(self, function: str | None = None, roles: Collection[str] = (BEST,)) -> list[Result]:
        """The findings for a function, or for all, in some roles.

        Those of its JSON file are taken over if the file is news.

        Raises:
            OSError: the folder is not there, cannot be used, or is not private.
            sqlite3.Error: the database cannot be used.
        """
        private_folder(self.folder, make=False)
        names = [path.stem for path in self.folder.glob("*.json")] if function is None else [function]

        def read(connection: sqlite3.Connection) -> tuple[list[Result], list[str]]:
            return list(_rows(connection, function, roles)), [one for one in names if self._is_news(connection, one)]

        found, news = self._reading(read)
        if not news:
            return found
        try:
            self._writing(lambda connection: self._take_over(connection, [Result(one, (), {}) for one in news]))
            found, _ = self._reading(read)
        except (OSError, sqlite3.Error):  # a folder that can only be read
            for one in news:
                found += self._unknown(one, found)
        return found

    def add(self, results: Iterable[Result]) -> int:
        """Write findings beside those that others wrote; returns how many of them were new.

        One for a key that has a newer finding (by the clock of another machine) is dated right behind it: what is
        added last counts.

        Raises:
            OSError: the folder cannot be written, or is not private.
            sqlite3.Error: the database cannot be written.
        """
        given = list(results)

        def write(connection: sqlite3.Connection) -> int:
            self._take_over(connection, given)
            return self._insert(connection, [_dated(connection, one) for one in given])

        return self._writing(write)

    def merge(self, results: Iterable[Result]) -> int:
        """Put findings of another database beside these, as they are; returns how many were new.

        Raises:
            OSError, sqlite3.Error: as `add`.
        """
        given = list(results)

        def write(connection: sqlite3.Connection) -> int:
            self._take_over(connection, given)
            return self._insert(connection, given)

        return self._writing(write)

    def remove(self, results: Iterable[Result]) -> int:
        """Forget findings; returns how many there were.

        Raises:
            OSError, sqlite3.Error: as `add`.
        """
        given = list(results)

        def write(connection: sqlite3.Connection) -> int:
            self._take_over(connection, given)
            before = connection.total_changes
            connection.executemany("DELETE FROM result WHERE digest = ?", [(one.digest,) for one in given])
            removed = connection.total_changes - before
            self._write_files(connection, given)
            return removed

        return self._writing(write)

    # -- inside of a transaction ---------------------------------------------------------------------------------------

    def _insert(self, connection: sqlite3.Connection, results: list[Result]) -> int:
        added = insert(connection, results)
        self._write_files(connection, results)
        return added

    def _write_files(self, connection: sqlite3.Connection, results: Iterable[Result]) -> None:
        """Write the JSON files of the functions of some results, and remember how they look.

        A process that is killed in between leaves a file that is news, and whose results are taken over again.
        """
        for function in {one.function for one in results if one.role == BEST}:
            latest = newest(_rows(connection, function, (BEST,)))
            mirror.write(self.file_of(function), {key: one.config for key, one in latest.items()})
            self._remember(connection, function)

    def _remember(self, connection: sqlite3.Connection, function: str) -> None:
        path = self.file_of(function)
        state = mirror.state_of(path)
        if state is not None:
            connection.execute("INSERT OR REPLACE INTO mirror VALUES (?, ?, ?, ?)", (path.stem, *state))

    def _is_news(self, connection: sqlite3.Connection, function: str) -> bool:
        path = self.file_of(function)
        state = mirror.state_of(path)
        query = "SELECT inode, bytes, changed FROM mirror WHERE function = ?"
        return state is not None and connection.execute(query, (path.stem,)).fetchone() != state

    def _take_over(self, connection: sqlite3.Connection, results: Iterable[Result]) -> None:
        """Add what JSON files have and the database does not: they are of an older version, or were put back."""
        for function in {one.function for one in results}:
            if self._is_news(connection, function):
                insert(connection, self._unknown(function, _rows(connection, function)))
                self._remember(connection, function)

    def _unknown(self, function: str, known: Iterable[Result]) -> list[Result]:
        """Findings of the JSON file for keys that have none; their time is before all others."""
        try:
            _check_file(self.file_of(function))
        except UntrustedError as error:
            _log.warning("autotune: a file of results is not read: %s", error)
            return []
        keys = {one.key for one in known if one.function == function and one.role == BEST}
        read = mirror.read(self.file_of(function))
        return [Result(function, key, config) for key, config in read.items() if key not in keys]

    # -- connections ---------------------------------------------------------------------------------------------------

    def _reading(self, read: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run a function on a connection; where the database is damaged, on the one that is made of it."""
        try:
            with self._connection(make=False) as connection:
                return read(connection)
        except FileNotFoundError:  # nothing was written yet
            with closing(sqlite3.connect(":memory:")) as empty:
                empty.executescript(SCHEMA)
                return read(empty)
        except DamagedError:
            with exclusive(self._lock):
                self._heal()
        with self._connection(make=False) as connection:
            return read(connection)

    def _writing(self, write: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run a function in a transaction that no other writer is in."""
        private_folder(self.folder, make=True)
        with exclusive(self._lock):
            remove_abandoned(self.folder)
            try:
                return self._transaction(write)
            except DamagedError:
                self._heal()
            return self._transaction(write)

    def _transaction(self, write: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._connection(make=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = write(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        self._remember_checked(mirror.state_of(self.path))
        return result

    def _remember_checked(self, state: mirror.State | None) -> None:
        """Do not check the structure again while the file is in a state that was checked.

        One that changed just now may change again and have the same time.
        """
        if state is not None and state[2] < time.time_ns() - _TICK_NS:
            _checked[self.path] = state
        else:
            _checked.pop(self.path, None)

    @property
    def _lock(self) -> Path:
        return self.folder / "results.lock"

    @contextmanager
    def _connection(self, *, make: bool) -> Iterator[sqlite3.Connection]:
        """A connection to the file.

        Raises:
            FileNotFoundError: there is no file, and `make` is false.
            UntrustedError: the file is not one that this user wrote here, or of a newer version.
            DamagedError: it is damaged.
        """
        for path in (self.path, self._journal):
            _check_file(path)
        if make:
            with suppress(FileExistsError):  # SQLite would make it with other permissions, and follow a link
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        elif not self.path.exists():
            raise FileNotFoundError(self.path)
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as connection:
                version = self._check(connection, make=make)
                if version == VERSION:
                    yield connection
                elif make:
                    migrate(connection)
                    yield connection
                else:  # whoever only reads leaves the file as it is: the folder may be one that cannot be written
                    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
                        connection.backup(copy)
                        migrate(copy)
                        yield copy
        except UnicodeDecodeError as error:  # what SQLite says of the damage quotes the bytes
            raise DamagedError(str(error)) from error
        except sqlite3.DatabaseError as error:
            if self._is_damage(error):
                raise DamagedError(str(error)) from error
            raise

    def _is_damage(self, error: sqlite3.DatabaseError) -> bool:
        """Whether the file is what is wrong, not the disk, the memory or another process."""
        if "readonly" in str(error):  # bytes of the header say so too
            return os.access(self.path, os.W_OK) and os.access(self.folder, os.W_OK)
        return not any(reason in str(error) for reason in ("locked", "full", "I/O", "unable to open", "interrupted"))

    def _check(self, connection: sqlite3.Connection, *, make: bool) -> int:
        """The version of the file's format, which is written if there is nothing yet."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        schema = schema_of(connection)
        if not schema and application == 0:
            if not make:
                raise FileNotFoundError(self.path)
            connection.executescript(SCHEMA)
            return VERSION
        if application == APPLICATION + version and version > VERSION:
            raise UntrustedError(
                f"{self.path} was written by a newer fly-autotune (its format is {version}, this one knows {VERSION})"
            )
        ours = version in range(1, VERSION + 1) and application == APPLICATION + version
        if not ours or schema != schema_of_version(version):
            raise DamagedError("it is not a database of fly-autotune")
        state = mirror.state_of(self.path)
        if _checked.get(self.path) != state:
            words = [word for (word,) in connection.execute("PRAGMA integrity_check(1)")]
            if words != ["ok"]:
                raise DamagedError(words[0])
            self._remember_checked(state)
        return int(version)

    @property
    def _journal(self) -> Path:
        return self.path.with_name(f"{self.path.name}-journal")

    def _heal(self) -> None:
        """Put a damaged database aside, and make a new one of what can still be read. The lock is held."""
        _checked.pop(self.path, None)  # the check was wrong, or something has changed without another time
        try:
            with self._connection(make=True) as connection:
                all(_rows(connection, None))
                connection.execute("DELETE FROM result WHERE 0")  # a bit of the header may forbid to write
            return  # another process was faster
        except DamagedError as damage:
            reason = damage
        saved = _salvaged(self.path)
        aside = next(path for path in map(self._aside, range(1, 1 << 30)) if not path.exists())
        # The journal first: it is of the old file, and SQLite would apply it to a new one.
        with suppress(FileNotFoundError):
            os.replace(self._journal, aside.with_name(f"{aside.name}-journal"))
        os.replace(self.path, aside)
        _log.warning(
            "autotune: %s is damaged (%s): %d of its results were read and are kept; it is now %s",
            self.path,
            reason,
            len(saved),
            aside.name,
        )
        self._transaction(lambda connection: insert(connection, saved))

    def _aside(self, number: int) -> Path:
        return self.folder / f"results.damaged-{number}.sqlite"


_checked: dict[Path, mirror.State | None] = {}
"""The databases whose structure was checked, as they were then."""


def _dated(connection: sqlite3.Connection, result: Result) -> Result:
    """The result with its time: now, but behind all findings for its key."""
    when = result.found or _now()
    query = "SELECT max(found) FROM result WHERE function = ? AND key = ?"
    (latest,) = connection.execute(query, result.row()[:2]).fetchone()
    if latest and latest >= when:
        when = (datetime.fromisoformat(latest) + timedelta(microseconds=1)).isoformat(timespec="microseconds")
    return replace(result, found=when)


def _rows(connection: sqlite3.Connection, function: str | None, roles: Collection[str] = ROLES) -> Iterator[Result]:
    where, values = ("", ()) if function is None else (" WHERE function = ?", (function,))
    for row in connection.execute(f"SELECT {COLUMNS} FROM result{where} ORDER BY id", values):
        result = Result.of_row(row)
        if result.role in roles:
            yield result


def _check_file(path: Path) -> None:
    """Refuse a file that others may write to, and what is no file (SQLite would follow a link)."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(facts.st_mode):
        raise UntrustedError(f"{path} is not a regular file: remove it")
    if not is_private(facts):
        raise UntrustedError(f"others may write to {path}: `chmod go-w {path}` after looking at it, or remove it")


def _salvaged(path: Path) -> list[Result]:
    """The rows of a damaged database that are as they were written.

    They are looked for from both ends up to a bad page, in the file and in a copy with the first page of a new one:
    that page has no rows, only the header and the schema, which are the same in all databases.
    """
    found: dict[str, Result] = {}
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".salvage-") as scratch:
        copy, new = Path(scratch, "copy"), Path(scratch, "new")
        with closing(sqlite3.connect(new)) as connection:
            connection.executescript(SCHEMA)
        first, content = bytearray(new.read_bytes()[:PAGE]), path.read_bytes()
        first[28:32] = (len(content) // PAGE).to_bytes(4, "big")  # pages of the file
        copy.write_bytes(first + content[PAGE:])
        for one, order in itertools.product((path, copy), ("ASC", "DESC")):
            with (
                suppress(sqlite3.Error, UnicodeDecodeError),
                closing(sqlite3.connect(one, isolation_level=None)) as connection,
            ):
                connection.text_factory = lambda text: text.decode(errors="replace")
                for row in connection.execute(f"SELECT {COLUMNS} FROM result NOT INDEXED ORDER BY id {order}"):
                    with suppress(DamagedError):
                        result = Result.of_row(row)
                        found[result.digest] = result
    return sorted(found.values(), key=lambda result: result.found)
