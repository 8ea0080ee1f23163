# SPDX-License-Identifier: Apache-2.0
"""Waves and events as the trace buffer holds them (docs: the fly_ktrace dialect), read into Python objects.

A wave has 256 slots of 32 bytes. The first says which wave it is and how many events it recorded, each of the others
is one event.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from flydsl.trace.event_names import name_of
from flydsl.trace.event_settings import SLOT_BYTES, SLOTS_PER_WAVE

__all__ = ["KINDS", "MOST_EVENTS", "TICKS_PER_SECOND", "Event", "Wave", "decode_wave"]

KINDS = ("mark", "range_push", "range_pop", "range_start", "range_stop")
MOST_EVENTS = SLOTS_PER_WAVE - 1
TICKS_PER_SECOND = 100_000_000
"""Of s_memrealtime on gfx942 and gfx950. The emulator counts executed instructions instead."""

_HEAD = struct.Struct("<8I")
_EVENT = struct.Struct("<QQIIII")
_PAYLOADS = ("<Q", "<q", "<f", "<d", "<Q")  # uint64, int64, float32, float64, bool
_BOOL = 4


@dataclass(frozen=True)
class Event:
    """One event of a wave.

    Attributes:
        name: as the kernel gave it; empty for the end of a range that was pushed.
        kind: one of `KINDS`.
        time: ticks of the device's constant clock.
        payload: the number that came with it, if any.
        hw_id: the register HW_ID: where in the compute unit the wave runs.
        xcc_id: the die.
        slot: absolute number of the record.
        token: of a `range_stop`: the slot of its start, 0 for a token that was never started.
    """

    name: str
    kind: str
    time: int
    payload: int | float | bool | None
    hw_id: int
    xcc_id: int
    slot: int
    token: int


@dataclass(frozen=True)
class Wave:
    """What one wave recorded.

    Attributes:
        block: the workgroup.
        wave: number of the wave in it.
        dispatch: which launch it belongs to: queue and number of the dispatch.
        events: in order.
        lost: events that found no room.
    """

    block: tuple[int, int, int]
    wave: int
    dispatch: tuple[int, int]
    events: tuple[Event, ...]
    lost: int


def decode_wave(data: bytes, first_slot: int) -> Wave:
    """Return the wave whose slots are `data`, the first of them being the buffer's slot `first_slot`."""
    count, packed, low, high, queue_low, queue_high, x, y = _HEAD.unpack_from(data)
    kept = min(count, MOST_EVENTS)
    events = tuple(_event(data, index + 1, first_slot) for index in range(kept))
    dispatch = (queue_low | queue_high << 32, low | high << 32)
    return Wave((x, y, packed >> 8), packed & 0xFF, dispatch, events, count - kept)


def _event(data: bytes, slot: int, first_slot: int) -> Event:
    time, bits, hw_id, xcc_id, tag, token = _EVENT.unpack_from(data, slot * SLOT_BYTES)
    number = tag & 0xFFFFFF
    return Event(
        name_of(number) if number else "",
        KINDS[tag >> 24 & 7],
        time,
        _payload(bits, tag >> 27 & 15) if tag >> 31 else None,
        hw_id,
        xcc_id,
        first_slot + slot,
        token,
    )


def _payload(bits: int, kind: int) -> Any:
    layout = _PAYLOADS[kind]
    value = struct.unpack_from(layout, bits.to_bytes(8, "little"))[0]
    return bool(value) if kind == _BOOL else value
