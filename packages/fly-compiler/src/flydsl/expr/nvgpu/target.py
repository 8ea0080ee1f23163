# SPDX-License-Identifier: Apache-2.0
"""What the functions of this package ask of the target."""

from __future__ import annotations

from flydsl.trace import context as _trace

__all__ = ["require_hopper"]


def require_hopper(what: str) -> None:
    """Refuse `fx.nvgpu.<what>` unless the kernel is compiled for sm_90a.

    Raises:
        ValueError: it is compiled for another target, which the message names.
    """
    target = _trace.target()
    if target.name != "sm_90a":
        raise ValueError(f"fx.nvgpu.{what} needs sm_90a, but the kernel is compiled for {target.name}")
