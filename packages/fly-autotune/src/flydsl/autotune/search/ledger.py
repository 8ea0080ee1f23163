# SPDX-License-Identifier: Apache-2.0
"""What a search has evaluated, in the database: one that was killed goes on where it was."""

from __future__ import annotations

from ..config import Config
from ..disk_cache import DiskCache
from ..files import faithful
from ..key import Key
from .space import identity

__all__ = ["Ledger"]


class Ledger:
    """The evaluations of the search for one key that has not ended yet; a result that was written ends it."""

    def __init__(self, disk: DiskCache, key: Key, measure: str) -> None:
        self._disk, self._key, self._measure = disk, key, measure
        rows = disk.evaluations(key)
        self._known = {identity(Config.from_dict(one.config)): one for one in rows if one.measure == measure}

    def known(self, config: Config) -> tuple[float | None, str] | None:
        """The milliseconds and the error of an evaluation; None where there was none."""
        found = self._known.get(identity(config)) if config.pre_hook is None else None
        return None if found is None else (found.milliseconds, found.error)

    def record(self, config: Config, milliseconds: float | None, error: str = "") -> None:
        """Keep an evaluation, unless JSON would not preserve the configuration."""
        if config.pre_hook is None and faithful(config.to_dict()):
            self._disk.add_evaluation(self._key, config, milliseconds, self._measure, error)
