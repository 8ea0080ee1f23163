# SPDX-License-Identifier: Apache-2.0
"""Enumerations of the AMD target."""

from __future__ import annotations

import enum

from ..ops.atom_types import SyncScope as _SyncScope
from ..values.address_space import register_target_space

__all__ = ["CacheModifier", "SyncScope", "TargetAddressSpace"]


class TargetAddressSpace(enum.Enum):
    """Address spaces that only AMD GPUs have."""

    BufferDesc = "#fly_rocdl.buffer_desc"

    @property
    def attribute_text(self) -> str:
        """The spelling inside a type."""
        return self.value


for _space in TargetAddressSpace:
    register_target_space(_space.attribute_text, _space)


class CacheModifier(enum.IntEnum):
    """Cache policy of buffer accesses."""

    Cached = 0
    NonTemporal = 2


class SyncScope(_SyncScope):
    """Synchronisation scopes of AMD GPUs; the `OneAs` forms order one address space only."""

    Agent = "agent"
    Workgroup = "workgroup"
    Wavefront = "wavefront"
    OneAs = "one-as"
    AgentOneAs = "agent-one-as"
    WorkgroupOneAs = "workgroup-one-as"
    WavefrontOneAs = "wavefront-one-as"
    SingleThreadOneAs = "singlethread-one-as"
