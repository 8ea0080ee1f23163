# SPDX-License-Identifier: Apache-2.0
"""The tables of the database of results, by version, and how those of an older version become those of this one."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable
from contextlib import closing

from .results import COLUMNS, DERIVED, Result

__all__ = ["APPLICATION", "PAGE", "SCHEMA", "VERSION", "insert", "migrate", "schema_of", "schema_of_version"]

VERSION = 2
APPLICATION = 0x464C5900  # "FLY", in the header of the file; its last byte is the version again, against damage
PAGE = 4096  # bytes of a page; the whole schema is on the first

_DERIVED = DERIVED.split(", ")
# Each version is the one before with statements behind it. So the tables have the same root pages in all, whether made
# or migrated: rows behind a damaged first page are read under the first page of a new database.
_STEPS = {
    1: (
        """CREATE TABLE result (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    function TEXT NOT NULL,
    key TEXT NOT NULL,
    config TEXT NOT NULL,
    milliseconds REAL,
    measure TEXT NOT NULL,
    found TEXT NOT NULL
)""",
        "CREATE INDEX by_function ON result (function)",
        "CREATE TABLE mirror (function TEXT PRIMARY KEY, inode INTEGER, bytes INTEGER, changed INTEGER)",
    ),
    2: tuple(f"ALTER TABLE result ADD COLUMN {name} TEXT" for name in ("role", "error", *_DERIVED)),
}


def _marks(version: int) -> tuple[str, ...]:
    return (f"PRAGMA application_id = {APPLICATION + version}", f"PRAGMA user_version = {version}")


def _script(version: int) -> str:
    steps = [statement for number in range(1, version + 1) for statement in _STEPS[number]]
    return ";\n".join((f"PRAGMA page_size = {PAGE}", "BEGIN IMMEDIATE", *steps, *_marks(version), "COMMIT")) + ";"


SCHEMA = _script(VERSION)


def schema_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The objects of a database, with the text that made each."""
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@functools.cache
def schema_of_version(version: int) -> list[tuple[str, str]]:
    """What `schema_of` gives for a version of the format."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_script(version))
        return schema_of(connection)


def migrate(connection: sqlite3.Connection) -> None:
    """Make a database of version 1 one of this version, with all its rows, in one transaction.

    Raises:
        DamagedError: a row is not what was written; then nothing is changed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone() == (1,):  # else another process was faster
            for statement in _STEPS[2]:
                connection.execute(statement)
            for number, *row in connection.execute(f"SELECT id, {COLUMNS} FROM result").fetchall():
                result = Result.of_row(tuple(row))
                values = dict(zip(("role", "error", *_DERIVED), (*result.row()[-2:], *result.derived()), strict=True))
                names = ", ".join(f"{name} = ?" for name in values)
                connection.execute(f"UPDATE result SET {names} WHERE id = ?", (*values.values(), number))
            for statement in _marks(VERSION):
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def insert(connection: sqlite3.Connection, results: Iterable[Result]) -> int:
    """Add rows that are not there yet; returns how many."""
    before = connection.total_changes
    values = [(*one.row(), *one.derived()) for one in results]
    names = f"{COLUMNS}, {DERIVED}"
    places = ", ".join("?" * len(names.split(", ")))
    connection.executemany(f"INSERT OR IGNORE INTO result ({names}) VALUES ({places})", values)
    return connection.total_changes - before
