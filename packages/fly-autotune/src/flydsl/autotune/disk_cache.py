# SPDX-License-Identifier: Apache-2.0
"""The best configurations of one function on disk: `<cache folder>/<function name>.json`.

The file is a JSON object from the JSON text of a key (a list of texts) to a configuration's `to_dict()`. Anything else
in it is ignored, as is a file that cannot be read; the next result replaces it.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from . import variables
from .config import Config
from .files import exclusive, faithful, write_json
from .key import Key

__all__ = ["DiskCache"]

_log = logging.getLogger("flydsl")


class DiskCache:
    """The file of one function."""

    def __init__(self, function_name: str) -> None:
        # A lambda's name and the like are fine; only a separator would lead out of the folder.
        self._name = f"{function_name.replace('/', '_')}.json"
        self._seen: tuple[Path, int, int] | None = None

    @property
    def path(self) -> Path:
        """The file, in the folder that the environment names now."""
        return variables.CACHE_DIR.get() / self._name

    def changes(self) -> dict[Key, Config]:
        """What the file holds, if it is another than at the last call."""
        path = self.path
        try:
            facts = path.stat()
        except OSError:
            return {}
        seen = (path, facts.st_mtime_ns, facts.st_ino)
        if seen == self._seen:
            return {}
        self._seen = seen
        found = {}
        for text, entry in self._read(path).items():
            try:
                key = json.loads(text)
                if isinstance(key, list) and all(isinstance(part, str) for part in key):
                    found[tuple(key)] = Config.from_dict(entry)
            except (TypeError, ValueError):
                continue
        return found

    def add(self, key: Key, config: Config) -> None:
        """Write a result, beside those that other processes wrote.

        A configuration that would not come back from the file as it is, or a folder that cannot be written, is said in
        the log; the result holds for this process.
        """
        entry = config.to_dict()
        if not faithful(entry):
            _log.warning("autotune: %r is not kept on disk: JSON does not preserve its values", config)
            return
        path = self.path
        try:
            with exclusive(path):
                write_json(path, {**self._read(path), json.dumps(list(key)): entry})
        except OSError as error:
            _log.warning("autotune: %s cannot be written (%s): the result holds for this process", path, error)

    @staticmethod
    def _read(path: Path) -> dict[str, Any]:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}
