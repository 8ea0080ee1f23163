# SPDX-License-Identifier: Apache-2.0
"""The buffer that kernels record into: one per device and size, made at the first call of a program that records."""

from __future__ import annotations

import struct

from flydsl.runtime import DeviceBuffer, current_device, synchronize_device
from flydsl.runtime.forks import new_lock
from flydsl.trace.event_settings import SLOT_BYTES, SLOTS_PER_WAVE, KtraceSettings

from .records import MOST_EVENTS, Wave, decode_wave

__all__ = ["TraceBuffer", "all_buffers", "buffer_for"]

_LAUNCHES = 4  # byte offset of the counter of launches
_COUNTER = 256  # bytes between the counters of the partitions, which begin there
_WAVE_BYTES = SLOTS_PER_WAVE * SLOT_BYTES


class TraceBuffer:
    """Device memory with the records of all launches since the last `reset`."""

    def __init__(self, settings: KtraceSettings) -> None:
        self.settings = settings
        self._memory = DeviceBuffer(settings.buffer_bytes)
        self.device_id = self._memory.device

    @property
    def address(self) -> int:
        """What kernels get."""
        return self._memory.address

    def launch_count(self) -> int:
        """Return how many kernels that record have run since the last reset."""
        synchronize_device()
        count: int = struct.unpack("<I", self._memory.read(_LAUNCHES, 4))[0]
        return count

    def claimed_waves(self) -> list[int]:
        """Return how many waves each partition was asked for."""
        synchronize_device()
        counters = self._memory.read(_COUNTER, _COUNTER * self.settings.partitions)
        return [struct.unpack_from("<I", counters, _COUNTER * index)[0] for index in range(self.settings.partitions)]

    def read_waves(self) -> list[Wave]:
        """Return the waves that recorded, in the order of their first events.

        Raises:
            RuntimeError: the buffer was too small for the waves, or a wave had more than 255 events.
        """
        waves = []
        refused = 0
        for partition, count in enumerate(self.claimed_waves()):
            for number in range(partition, partition + count * self.settings.partitions, self.settings.partitions):
                if number >= self.settings.most_waves:
                    refused += 1
                    continue
                slot = self.settings.first_slot + number * SLOTS_PER_WAVE
                waves.append(decode_wave(self._memory.read(slot * SLOT_BYTES, _WAVE_BYTES), slot))
        if refused:
            raise RuntimeError(
                f"the trace buffer has room for {self.settings.most_waves} waves, and {refused} more wanted to record. "
                "Make FLYDSL_KTRACE_BUFFER_BYTES larger, record fewer workgroups (FLYDSL_KTRACE_BLOCKS), or collect "
                "more often"
            )
        lost = [wave for wave in waves if wave.lost]
        if lost:
            one = lost[0]
            raise RuntimeError(
                f"wave {one.wave} of workgroup {one.block} recorded {MOST_EVENTS + one.lost} events; a wave has room "
                f"for {MOST_EVENTS}. Record fewer: every n-th iteration of a loop, or one range around it"
            )
        return sorted((wave for wave in waves if wave.events), key=lambda wave: wave.events[0].time)

    def reset(self) -> None:
        """Forget all records."""
        used = max(self.claimed_waves(), default=0) * self.settings.partitions
        slots = self.settings.first_slot + min(used, self.settings.most_waves) * SLOTS_PER_WAVE
        self._memory.clear(slots * SLOT_BYTES)


_lock = new_lock()
_buffers: dict[tuple[int, int, int], TraceBuffer] = {}


def buffer_for(settings: KtraceSettings) -> TraceBuffer:
    """Return the current device's buffer for programs of these settings, making it at the first use."""
    key = (current_device().index, settings.capacity_slots, settings.partitions)
    with _lock:
        if key not in _buffers:
            _buffers[key] = TraceBuffer(settings)
        return _buffers[key]


def all_buffers() -> list[TraceBuffer]:
    """Return the buffers of this process."""
    with _lock:
        return list(_buffers.values())
