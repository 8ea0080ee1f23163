# SPDX-License-Identifier: Apache-2.0
"""The best configurations of one function on disk: its part of the database in the cache folder.

What is wrong with a folder or file is said in the log, once; results then hold for this process.
"""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

from . import variables
from .config import Config
from .database import Database, Result, newest
from .files import faithful
from .key import Key
from .results import BEST, EVALUATED, ROLES

__all__ = ["DiskCache"]

_log = logging.getLogger("flydsl")
_said: set[tuple[Path, str]] = set()


class DiskCache:
    """The results of one function."""

    def __init__(self, function_name: str) -> None:
        self._name = function_name
        self._seen: tuple[Any, ...] | None = None

    @property
    def _database(self) -> Database:
        """That of the folder that the environment names now."""
        return Database(variables.CACHE_DIR.get())

    @property
    def path(self) -> Path:
        """The JSON file of the function; the database is beside it."""
        return self._database.file_of(self._name)

    def changes(self) -> dict[Key, Config]:
        """What is kept, if that is something else than at the last call."""
        database = self._database
        seen = (database.path, *database.state(self._name))
        if seen == self._seen or not any(seen[1:]):
            return {}
        self._seen = seen
        try:
            results = database.results(self._name)
        except (OSError, sqlite3.Error) as error:
            self._say(database, f"autotune: what is kept in {database.folder} is not used: {error}")
            return {}
        found = {}
        for key, one in newest(results).items():
            config = _config_of(one)
            if config is not None:
                found[key] = config
        return found

    def add(self, key: Key, config: Config, milliseconds: float, measure: str) -> None:
        """Write a result, beside those that other processes wrote (`Result` says what the arguments mean).

        A configuration that would not come back from the file as it is is not written.
        """
        entry = config.to_dict()
        if not faithful(entry):
            _log.warning("autotune: %r is not kept on disk: JSON does not preserve its values", config)
            return
        self._add(Result(self._name, key, entry, milliseconds, measure))

    def evaluations(self, key: Key) -> list[Result]:
        """What was evaluated for a key since the last result for it; of each configuration the newest comes last."""
        database = self._database
        try:
            results = [one for one in database.results(self._name, ROLES) if one.key == key]
        except FileNotFoundError:
            return []
        except (OSError, sqlite3.Error) as error:
            self._say(database, f"autotune: what is kept in {database.folder} is not used: {error}")
            return []
        ended = max((one.found for one in results if one.role == BEST), default="")
        found = sorted(
            (one for one in results if one.role == EVALUATED and one.found > ended), key=lambda one: one.found
        )
        return [one for one in found if _config_of(one) is not None]

    def add_evaluation(self, key: Key, config: Config, milliseconds: float | None, measure: str, error: str) -> None:
        """Write what one configuration took, or why it failed (None)."""
        text = error.encode(errors="backslashreplace").decode()  # a file's name in it may be no Unicode
        self._add(Result(self._name, key, config.to_dict(), milliseconds, measure, role=EVALUATED, error=text))

    def _add(self, result: Result) -> None:
        database = self._database
        try:
            database.add([result])
        except (OSError, sqlite3.Error) as error:
            path = database.file_of(self._name)
            self._say(database, f"autotune: {path} cannot be written ({error}): results hold for this process")

    @staticmethod
    def _say(database: Database, text: str) -> None:
        if (database.folder, text) not in _said:
            _said.add((database.folder, text))
            _log.warning("%s", text)


def _config_of(result: Result) -> Config | None:
    """The configuration of a row; a database that another program wrote may hold anything."""
    try:
        return Config.from_dict(result.config)
    except (TypeError, ValueError):
        return None
