# SPDX-License-Identifier: Apache-2.0
"""Whether a compilation records events, into how large a buffer, and for which workgroups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flydsl.utils import env

__all__ = ["KtraceSettings", "blocks_text", "ktrace_settings"]

SLOT_BYTES = 32
SLOTS_PER_WAVE = 256
PARTITIONS = 64
_HEAD_SLOTS = 8  # of the head, and of the counter of each partition: 256 bytes
_FILTER = r"\s*(\d+\s*,\s*\d+\s*,\s*\d+|xcc:\d+|all)?\s*"


class KtraceSettings(NamedTuple):
    """How a program that records is compiled; the layout of its buffer follows from it.

    Attributes:
        capacity_slots: the number of the buffer's last slot.
        blocks: whose events are kept: `x,y,z` (one workgroup), `xcc:N` (one die), or all of them when empty.
        partitions: counters that waves are spread over, a power of two.
    """

    capacity_slots: int
    blocks: str = ""
    partitions: int = PARTITIONS

    @property
    def first_slot(self) -> int:
        """The slot where the records of the first wave begin."""
        return _HEAD_SLOTS * (self.partitions + 1)

    @property
    def most_waves(self) -> int:
        """How many waves have room."""
        return max(0, self.capacity_slots + 1 - self.first_slot) // SLOTS_PER_WAVE

    @property
    def buffer_bytes(self) -> int:
        """The size of the buffer."""
        return (self.capacity_slots + 1) * SLOT_BYTES


def ktrace_settings(hints: Mapping[str, Any]) -> KtraceSettings | None:
    """Return the settings that hints and environment ask for, `None` when nothing is recorded.

    The hint `ktrace` decides before `FLYDSL_KTRACE_ENABLE`, `ktrace_blocks` before `FLYDSL_KTRACE_BLOCKS`.

    Raises:
        ValueError: a variable or a filter that has no meaning.
        TypeError: a hint of the wrong type.
    """
    asked = hints.get("ktrace")
    if not (env.ktrace.enable if asked is None else asked):
        return None
    blocks = hints.get("ktrace_blocks")
    text = blocks_text(env.ktrace.blocks if blocks is None else blocks)
    return KtraceSettings(env.ktrace.buffer_bytes // SLOT_BYTES - 1, text)


def blocks_text(blocks: Any) -> str:
    """Return a filter of workgroups as the compiler's passes take it.

    Raises:
        ValueError: neither three numbers nor a text of one of the forms.
    """
    if blocks is None:
        return ""
    if isinstance(blocks, (tuple, list)) and len(blocks) == 3:
        if all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in blocks):
            return ",".join(map(str, blocks))
    elif isinstance(blocks, str) and re.fullmatch(_FILTER, blocks):
        text = re.sub(r"\s", "", blocks)
        return "" if text == "all" else text
    raise ValueError(
        f"ktrace blocks must be (x, y, z), 'x,y,z', 'xcc:N', 'all' or None, got {blocks!r}: the workgroups to record"
    )
