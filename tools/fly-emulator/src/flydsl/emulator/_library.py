# SPDX-License-Identifier: Apache-2.0
"""Where the shared library is, and its version."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_NAME = "libfly_emulator.so"


def library_path() -> str:
    """The path of ``libfly_emulator.so``.

    ``FLYDSL_EMULATOR_LIBRARY`` names another one (a development build). Raises `FileNotFoundError` that lists every
    place that was tried.
    """
    override = os.environ.get("FLYDSL_EMULATOR_LIBRARY")
    candidates = [Path(override)] if override else [Path(__file__).parent / "lib" / _NAME]
    for candidate in candidates:
        if candidate.is_file():
            return str(candidate.resolve())
    tried = ", ".join(str(candidate) for candidate in candidates)
    raise FileNotFoundError(f"the emulator's shared library is missing; tried {tried}. Reinstall fly-emulator.")


def include_path() -> str:
    """The folder that holds ``fly_emulator/extensions.h``."""
    return str(Path(__file__).parent / "include")


def version() -> str:
    """The version of the shared library, from the library itself."""
    function = ctypes.CDLL(library_path()).flyemu_version
    function.restype = ctypes.c_char_p
    value: bytes = function()
    return value.decode()
