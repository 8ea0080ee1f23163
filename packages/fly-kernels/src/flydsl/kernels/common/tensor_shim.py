# SPDX-License-Identifier: Apache-2.0
"""Calling launchers from code that keeps them."""

from __future__ import annotations

from typing import Any

__all__ = ["_run_compiled"]


def _run_compiled(exe: Any, *args: Any) -> Any:
    """Call a launcher; it compiles at the first call with arguments of a kind, and keeps what it compiled."""
    return exe(*args)
