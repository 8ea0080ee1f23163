# SPDX-License-Identifier: Apache-2.0
"""Hints for exact registers, which need a patched LLVM backend; this one has none, and says so."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["sched_agpr", "sched_bank", "sched_sgpr", "sched_vgpr"]


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"rocdl.experimental.{what} needs an LLVM backend with exact-register scheduling, which this one is not; leave "
        "the hint out, or order the instructions with fx.rocdl.sched_group_barrier"
    )


def sched_bank(value: Any, bank: int, soft: bool = False) -> NoReturn:
    """Ask for a VGPR bank: `NotImplementedError`."""
    _refuse("sched_bank")


def sched_vgpr(value: Any, regnum: int, soft: bool = False) -> NoReturn:
    """Ask for a VGPR: `NotImplementedError`."""
    _refuse("sched_vgpr")


def sched_sgpr(value: Any, regnum: int, soft: bool = False) -> NoReturn:
    """Ask for an SGPR: `NotImplementedError`."""
    _refuse("sched_sgpr")


def sched_agpr(value: Any, regnum: int, soft: bool = False) -> NoReturn:
    """Ask for an AGPR: `NotImplementedError`."""
    _refuse("sched_agpr")
