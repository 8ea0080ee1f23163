# SPDX-License-Identifier: Apache-2.0
"""Events that kernels recorded: buffered, decoded, drawn and counted here.

Nothing is imported here before it is asked for: most processes record no events.
"""

from __future__ import annotations

from typing import Any

from flydsl.expr.ops import ktrace

__all__ = ["install"]


def _reader() -> Any:
    from . import capture

    return capture


def install() -> None:
    """Let `fx.ktrace.collect`, `summary` and `capture` read what kernels recorded."""
    ktrace.register_reader(_reader)
