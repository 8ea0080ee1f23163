# SPDX-License-Identifier: Apache-2.0
"""Whether the environment asks for a search, which only fly-autotune can do."""

from __future__ import annotations

import os
from typing import TypeVar

__all__ = ["asked_tuner"]

Tuner = TypeVar("Tuner")
_ASKING = ("FLYDSL_AUTOTUNE", "FLYDSL_AUTOTUNE_CONFIG_DIR")


def asked_tuner(tuner: Tuner | None, instead: str) -> Tuner | None:
    """`tuner`, or None where fly-autotune is not installed and nobody asks for it.

    Raises:
        ImportError: a variable of the environment asks for it; `instead` says how to choose by hand.
    """
    if tuner is None:
        asked = [name for name in _ASKING if _is_asked(name)]
        if asked:
            raise ImportError(
                f"{asked[0]} asks for fly-autotune, which is not installed: pip install 'fly-kernels[autotune]'. Or "
                f"unset the variable, or choose a configuration: {instead}"
            )
    return tuner


def _is_asked(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in ("", "0", "false", "no", "off")
