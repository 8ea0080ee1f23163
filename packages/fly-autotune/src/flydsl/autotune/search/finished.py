# SPDX-License-Identifier: Apache-2.0
"""What workers of a sweep have finished, on their own disk: what is sent again is not done again.

A worker may die after an evaluation and before its answer arrived; the executor then sends the evaluation to another
one. Where that has the same cache folder (another process of the machine, or a shared disk), it finds the answer there:
`<cache folder>/sweeps/<name of the sweep>/<hash of the configuration>.json`. Folders of older sweeps are removed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import time
from pathlib import Path

from .. import variables
from ..config import Config
from ..files import faithful, read_file, write_json
from ..folder import private_folder
from .run import Outcome
from .space import identity

__all__ = ["Finished"]

_log = logging.getLogger("flydsl")
_KEPT = 7 * 86400.0  # seconds that the answers of a sweep are kept after its last one


class Finished:
    """The answers of one sweep on this machine. `sweep`: its name, the same for all of its workers."""

    def __init__(self, sweep: str) -> None:
        self._root = variables.CACHE_DIR.get() / "sweeps"
        self._folder = self._root / sweep

    def _path(self, config: Config) -> Path:
        return self._folder / f"{hashlib.sha256(identity(config).encode()).hexdigest()}.json"

    def known(self, config: Config) -> Outcome | None:
        """The answer of a worker that was asked for this before, if any."""
        if config.pre_hook is not None:  # which its identity does not tell
            return None
        try:
            private_folder(self._folder, make=False)
            found = json.loads(read_file(self._path(config), links=False))
            return Outcome(found["milliseconds"], found["error"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("autotune: what a worker of this sweep left in %s is not used: %s", self._folder, error)
            return None

    def record(self, config: Config, outcome: Outcome) -> None:
        """Keep an answer before it is given."""
        if config.pre_hook is not None or not faithful(config.to_dict()):
            return
        try:
            if not self._folder.exists():
                private_folder(self._root.parent, make=True)
                private_folder(self._root, make=True)
                self._forget_older()
            private_folder(self._folder, make=True)
            write_json(self._path(config), {"milliseconds": outcome.milliseconds, "error": outcome.error})
        except (OSError, ValueError) as error:
            _log.warning("autotune: if this worker dies, others do again what it did: %s", error)

    def _forget_older(self) -> None:
        oldest = time.time() - _KEPT
        for folder in self._root.iterdir():
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
