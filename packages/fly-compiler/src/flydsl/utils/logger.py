# SPDX-License-Identifier: Apache-2.0
"""The logger of the library, set up from `FLYDSL_DEBUG_LOG_*` on first use."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path

from . import env

__all__ = ["log"]


@lru_cache(maxsize=1)
def log() -> logging.Logger:
    """Return the logger named `flydsl`.

    Level, file and console come from `FLYDSL_DEBUG_LOG_LEVEL`, `FLYDSL_DEBUG_LOG_TO_FILE` and
    `FLYDSL_DEBUG_LOG_TO_CONSOLE`. Without either output it behaves as any library's logger: records go to the handlers
    of the application, warnings to standard error when it has none.
    """
    logger = logging.getLogger("flydsl")
    logger.setLevel(env.debug.log_level)
    formatter = logging.Formatter("%(asctime)s %(name)s %(levelname)s: %(message)s")
    if env.debug.log_to_file:
        path = Path(env.debug.log_to_file).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        to_file = logging.FileHandler(path, encoding="utf-8", delay=True)
        to_file.setFormatter(formatter)
        logger.addHandler(to_file)
    if env.debug.log_to_console:
        to_console = logging.StreamHandler()
        to_console.setFormatter(formatter)
        logger.addHandler(to_console)
    return logger
