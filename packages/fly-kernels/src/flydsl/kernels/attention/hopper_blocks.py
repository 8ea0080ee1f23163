# SPDX-License-Identifier: Apache-2.0
"""Which block of query rows of which head a workgroup of attention for Hopper works on, and in which order.

Workgroups stay, and take a block in each round. Those that run at the same time have neighbouring blocks, of as few
heads as there are: what these read comes from memory once, and little at a time. Causal blocks come in groups of heads,
two blocks for each workgroup, those with most keys first, and workgroups take those of a group forwards and backwards
in turn, so that each has about as many keys; where a group ends, some have no block. Which head a block is of is found
by products with reciprocals, which the host function computes: divisions would stand between the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..common.language import fx

__all__ = ["BlockOrder"]

_L2_BYTES = 32 << 20  # of keys and values that are read at the same time


@dataclass(frozen=True)
class BlockOrder:
    """The order for one kind of problem.

    Attributes:
        rows: query rows of a block.
        kv_tile: keys of a tile.
        head_dim: elements of a head.
        heads_per_kv: query heads for one of keys.
        left, right: keys that a row sees before and behind its own, None for all (`AttentionVariant.bounds`).
        varlen: sequences of several lengths follow each other.
        workgroups: of the grid, at most.
    """

    rows: int
    kv_tile: int
    head_dim: int
    heads_per_kv: int
    left: int | None
    right: int | None
    varlen: bool
    workgroups: int

    @property
    def windowed(self) -> bool:
        """There are keys before those of a row."""
        return self.left is not None

    @property
    def ends(self) -> bool:
        """There are keys behind those of a row."""
        return self.right is not None

    @property
    def to_left(self) -> int:
        """Keys before its own that a row sees, where there are others."""
        return self.left or 0

    @property
    def to_right(self) -> int:
        """Keys behind its own that a row sees, where there are others."""
        return self.right or 0

    @property
    def uneven(self) -> bool:
        """Each block of a head has another number of keys: with the causal mask."""
        return self.ends and not self.windowed and not self.varlen

    def plan(
        self, batches: fx.Int32, heads: fx.Int32, seq_len: fx.Int32, seq_len_kv: fx.Int32
    ) -> tuple[fx.Int32, dict[str, fx.Int32], dict[str, fx.Int64]]:
        """In the host function: the grid, and the numbers and divisors that `work_of` is given."""
        pairs, blocks = batches * heads, (seq_len + (self.rows - 1)) // self.rows
        grid = fx.min(blocks * pairs, fx.Int32(self.workgroups))
        # What is divided by is never 0, also where there is nothing to do.
        workgroups = fx.max(grid, fx.Int32(1))
        together = self._heads_together(seq_len_kv, fx.max(blocks, fx.Int32(1)), pairs, workgroups)
        whole, rest = pairs // together, pairs % together
        sizes = {
            "batches": batches, "heads": heads, "rows": seq_len, "keys": seq_len_kv, "pairs": pairs, "blocks": blocks,
            "together": together, "rest": fx.max(rest, fx.Int32(1)), "group": together * blocks,
        }  # fmt: skip
        divided_by = ["heads", "together", "rest"]
        if self.uneven:
            of_group, of_rest = ((count * blocks + (workgroups - 1)) // workgroups for count in (together, rest))
            sizes |= {"rounds": whole * of_group + of_rest, "rounds_of_group": of_group}
            divided_by.append("rounds_of_group")
        else:
            sizes["rounds"] = (pairs * blocks + (workgroups - 1)) // workgroups
            divided_by.append("group")
        divisors = {name: _reciprocal(sizes[name]) for name in divided_by}
        return grid, sizes, divisors

    def work_of(
        self,
        round_: fx.Int32,
        sizes: dict[str, fx.Int32],
        divisors: dict[str, fx.Int64],
        starts: dict[str, fx.Tensor],
    ) -> tuple[Any, ...]:
        """Whether there is work in a round; batch, head, block; the sequence (its first row and its rows, of queries
        and of keys); the first and the last tile of keys; from which tile on there are keys behind those that a row
        sees, and up to which there are some before.

        Tiles go from the last to the first. There is always one.
        """
        pairs, blocks, heads, together = (sizes[one] for one in ("pairs", "blocks", "heads", "together"))
        workgroup, workgroups = fx.Int32(fx.block_idx.x), fx.Int32(fx.grid_dim.x)
        if self.uneven:
            of_group = _divided(round_, divisors["rounds_of_group"])
            place = (round_ % 2 == 0).select(workgroup, workgroups - 1 - workgroup)
            inside = (round_ - of_group * sizes["rounds_of_group"]) * workgroups + place
        else:
            index = round_ * workgroups + workgroup
            of_group = _divided(index, divisors["group"])
            inside = index - of_group * sizes["group"]
        first_pair = of_group * together
        # The last group has fewer heads.
        whole = first_pair + together <= pairs
        width = whole.select(together, sizes["rest"])
        there = (first_pair < pairs) & (inside < width * blocks)
        block = whole.select(_divided(inside, divisors["together"]), _divided(inside, divisors["rest"]))
        pair = first_pair + inside - block * width
        if self.ends and not self.windowed:
            block = blocks - 1 - block
        none = fx.Int32(0)
        batch = _divided(pair, divisors["heads"])
        sequence = none, sizes["rows"], none, sizes["keys"]
        if self.varlen:
            batch = fx.min(batch, sizes["batches"] - 1)  # behind the last there is none
            ends_of = [(starts[one][batch], starts[one][batch + 1]) for one in ("q", "kv")]
            sequence = tuple(one for begin, end in ends_of for one in (begin, end - begin))
            there = there & (block * self.rows < sequence[1])
        _, seq_len, _, seq_len_kv = sequence
        shift = seq_len_kv - seq_len
        high, plain, low, full = (
            (seq_len_kv + (self.kv_tile - 1)) // self.kv_tile,
            seq_len_kv // self.kv_tile,
            none,
            none,
        )
        stands = block * self.rows + shift  # the key that the first row stands at
        if self.ends:
            end = fx.max(fx.min(stands + (self.rows + self.to_right), seq_len_kv), none)
            high = (end + (self.kv_tile - 1)) // self.kv_tile
            plain = fx.min(plain, fx.max(stands + (self.to_right + 1), none) // self.kv_tile)
        if self.windowed:
            low = fx.max(stands - self.to_left, none) // self.kv_tile
            full = (fx.max(stands + (self.rows - 1 - self.to_left), none) + (self.kv_tile - 1)) // self.kv_tile
        tiles = low, fx.max(high, low + 1) - 1
        return there, (batch, pair - batch * heads, block), sequence, tiles, (plain, full)

    def _heads_together(self, seq_len_kv: Any, blocks: Any, pairs: Any, workgroups: Any) -> Any:
        """Heads of queries that are worked on together, a multiple of those of one head of keys."""
        count = fx.Int32(1)
        if self.uneven:
            # In two rounds each workgroup gets a block with many keys and one with few; what they read fits the L2.
            of_one = fx.max(fx.Int64(seq_len_kv) * (4 * self.head_dim), fx.Int64(1))
            fit = fx.Int32(fx.Int64(_L2_BYTES) // of_one)
            count = fx.max(fx.min(fit, 2 * workgroups // (blocks * self.heads_per_kv)), fx.Int32(1))
        return fx.max(fx.min(count * self.heads_per_kv, pairs), fx.Int32(1))


def _divided(number: Any, divisor: Any) -> Any:
    """number // what `_reciprocal` made the divisor of."""
    product = fx.Uint64(number) * fx.Uint64(divisor & 0xFFFFFFFF)
    return fx.Int32(product >> fx.Uint64(divisor >> 32))


def _reciprocal(number: Any) -> Any:
    """What a number below 2^31 is divided by another with: a factor, and behind it in 32 bits how far the product is
    shifted.

    With 2^L the least power of two that is not below the divisor d, ceil(2^(31 + L) / d) is off by less than 2^L of
    2^(31 + L), so that products with numbers below 2^31 have the right whole part.
    """
    log2 = fx.Int64(0)
    for bit in range(31):
        log2 = log2 + (number > (1 << bit)).select(fx.Int64(1), fx.Int64(0))
    shift, divisor = log2 + 31, fx.max(fx.Int64(number), fx.Int64(1))
    factor = ((fx.Int64(1) << shift) + (divisor - 1)) // divisor
    return factor | (shift << 32)
