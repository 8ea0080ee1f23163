# SPDX-License-Identifier: Apache-2.0
"""How the rotary embedding divides its work, and the division that it gives for the heads of a model."""

from __future__ import annotations

from dataclasses import dataclass

from ..common.arch import WRITTEN_FOR, architecture
from ..common.checks import chosen_config
from ..common.row_plan import MAX_THREADS


@dataclass(frozen=True)
class RopeConfig:
    """Threads of a workgroup; `rope_config` has the defaults.

    All heads of a token share what its position reads of the tables, so they share a workgroup: of several tokens as
    long as these have no more than `threads` together, else of one token with up to `most` threads. The heads of a
    token that needs more are divided among workgroups, each of which reads the tables.

    Raises ValueError unless both are multiples of the wave size up to 1024, `most` not below `threads`.
    """

    threads: int = 256
    most: int = 1024

    def __post_init__(self) -> None:
        for name in ("threads", "most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value % 64 or not 0 < value <= MAX_THREADS:
                raise ValueError(f"RopeConfig: {name} must be a multiple of 64 up to {MAX_THREADS}, got {value!r}")
        if self.most < self.threads:
            raise ValueError(f"RopeConfig: most ({self.most}) is below threads ({self.threads})")


@dataclass(frozen=True)
class RopePlan:
    """What a `RopeConfig` makes of `heads` heads of `lanes` threads each.

    A workgroup of `block` threads has `heads_each` heads of each of `tokens` tokens; `parts` of them make a token.
    """

    lanes: int
    tokens: int
    parts: int
    heads_each: int

    @property
    def span(self) -> int:
        """Threads of a token in a workgroup."""
        return self.heads_each * self.lanes

    @property
    def block(self) -> int:
        """Threads of a workgroup, a multiple of the wave size."""
        return -(-self.tokens * self.span // 64) * 64


def plan_rope(heads: int, lanes: int, config: RopeConfig = RopeConfig()) -> RopePlan:
    """The plan for tokens of `heads` heads, those of queries and of keys together, by `lanes` threads each."""
    if heads * lanes <= config.threads:
        return RopePlan(lanes, config.threads // (heads * lanes), 1, heads)
    parts = -(-heads * lanes // config.most)
    return RopePlan(lanes, 1, parts, -(-heads // parts))


# By predicted time, two workgroups of a token with many heads take 1 to 7 % less than one on gfx942 and gfx950
# (docs/benchmarks/rows.md); others were not looked at.
_DEFAULTS = dict.fromkeys(WRITTEN_FOR, RopeConfig()) | dict.fromkeys(("gfx942", "gfx950"), RopeConfig(256, 256))


def rope_config(config: RopeConfig | None = None) -> RopeConfig:
    """`config`, or where it is None the default of the target.

    Raises RuntimeError for a target that the library is not written for, TypeError for a `config` of another class.
    """
    return chosen_config(config, _DEFAULTS[architecture().name])
