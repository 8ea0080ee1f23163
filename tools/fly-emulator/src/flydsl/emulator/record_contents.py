# SPDX-License-Identifier: Apache-2.0
"""What the tensors of a recorded launch hold, where that decides what its workgroups read.

Tensors are zero, but for the routing of a mixture of experts and the page tables and lengths of paged attention, which
a record's `shape`, `work` and `fill` describe. A record that tells of routing or pages in words that are not understood
is refused (`RecordError`); what is merely not said is assumed, and the assumption is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from flydsl.emulator.record_check import RecordError

_SAID_OF_PAGES = ("fill", "shape", "work", "op")
_PAGED = re.compile(r"\bpag(?:e|ed|es|ing)\b|block[ _-]?tables?", re.IGNORECASE)
_PAGE_SIZE = re.compile(
    r"(?:page|block)s?[ _-]?(?:size|len(?:gth)?)?(?: of|=|:)? ?(\d+)|\b(\d+) tokens (?:a|per) (?:page|block)",
    re.IGNORECASE,
)
# A number beside a word for length; "Hkv8" and "kv 8" are no lengths.
_LENGTH = re.compile(
    r"(?<![a-z])(?:(?:context|ctx|sequence|seq)[ _-]?(?:len(?:gth)?s?)?|(?:kv|cache)[ _-]?len(?:gth)?s?)"
    r"(?: of|=|:)? ?(\d+)",
    re.IGNORECASE,
)
_USUAL_PAGE = 16  # tokens, where a record does not say

_TOKENS = re.compile(r"(?<![a-z])t(?:okens?)?[ =:]?(\d+)", re.IGNORECASE)
_EXPERTS = re.compile(r"(?<![a-z])e(?:xperts?)?[ =:]?(\d+)", re.IGNORECASE)
_TOP_K = re.compile(r"(?<![a-z])(?:top[-_ ]?)?k[ =:]?(\d+)", re.IGNORECASE)
_TILE_M = re.compile(r"(?:tile|block)[_ ]?m ?[=:]? ?(\d+)", re.IGNORECASE)
_ROUTED = re.compile(r"\brout(?:ed|ing)\b|\btop[-_ ]?k\b", re.IGNORECASE)
_UNIFORM = re.compile(r"\buniform|\brandom\b|\brand\b|\bbalanced\b", re.IGNORECASE)

_INTEGERS = ("int32", "uint32", "int64", "uint64")
_INDICES = ("int32", "int64")  # unsigned ones are packed data, as a rule


@dataclass(frozen=True)
class Routing:
    """Which expert each of `tokens` goes to: `top_k` different ones of `experts`, uniformly, in blocks of `tile`."""

    tokens: int
    experts: int
    top_k: int
    tile: int

    def _choices(self) -> Any:
        """Each token's experts, tokens x top_k."""
        import numpy as np

        random = np.random.default_rng(0)
        return np.argsort(random.random((self.tokens, self.experts)), axis=1)[:, : self.top_k]

    def arrays(self, slots: int, blocks: int) -> tuple[Any, Any, int]:
        """The sorted slots (token in the low 24 bits, which of its experts above), each block's expert, and how many
        slots are in use. Free slots hold the number of tokens."""
        import numpy as np

        chosen = self._choices()
        ids = np.full(slots, self.tokens | self.top_k << 24, np.int32)
        experts = np.zeros(blocks, np.int32)
        end = 0
        for expert in range(self.experts):
            token, which = np.nonzero(chosen == expert)
            count = len(token)
            padded = -(-count // self.tile) * self.tile
            if count == 0 or end + padded > slots:
                continue
            ids[end : end + count] = token | which << 24
            experts[end // self.tile : (end + padded) // self.tile] = expert
            end += padded
        return ids, experts, end


def routing_of(record: dict[str, Any]) -> Routing | None:
    """The routing that a record describes; None for kernels without one."""
    told = str(record.get("work", {}).get("routing", ""))
    fill = str(record.get("fill", ""))
    if not told and not _ROUTED.search(fill):
        return None
    shape = str(record.get("shape", ""))
    numbers = [pattern.search(shape) for pattern in (_TOKENS, _EXPERTS, _TOP_K)]
    if not all(numbers):
        raise RecordError(
            f"the record tells of routing, and its shape {shape!r} not of tokens, experts and top-k (t16-e32k8)"
        )
    if not _UNIFORM.search(f"{told} {fill}"):
        raise RecordError(f"of routing only a uniform random one is known, and the record says {told or fill!r}")
    tokens, experts, top_k = (int(found[1]) for found in numbers if found is not None)
    if not 0 < top_k <= experts or tokens <= 0:
        raise RecordError(f"the shape {shape!r} has {tokens} tokens that go to {top_k} of {experts} experts")
    tile = _TILE_M.search(told)
    return Routing(tokens, experts, top_k, int(tile[1]) if tile else 0)


def _integers(arguments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tensors of whole numbers of 32 and 64 bits, in the order of the arguments."""
    return [a for a in arguments if a["kind"] == "pointer" and a.get("dtype") in _INTEGERS and a["bytes"] > 0]


def _count(argument: dict[str, Any]) -> int:
    return int(argument["bytes"]) // (8 if str(argument["dtype"]).endswith("64") else 4)


def _put(argument: dict[str, Any], tensors: dict[int, Any], values: Any) -> None:
    """Write the numbers to the begin of the tensor, as many as it has room for."""
    import numpy as np

    target = tensors[argument["offset"]].view(np.dtype(argument["dtype"]))
    target[: len(values)] = values[: len(target)]


def fill_routing(routing: Routing, arguments: list[dict[str, Any]], tensors: dict[int, Any]) -> set[int]:
    """Give the integer tensors of a routed kernel their contents: sorted slots, the expert of each block of slots, the
    number of slots in use (and of tokens), or each token's experts. Returns the offsets of those that were filled.

    Slots and experts are known by their extents: so many slots make so many blocks.
    """
    integers = _integers(arguments)
    tiles = (routing.tile,) if routing.tile else (16, 32, 64, 128, 256)
    filled: set[int] = set()
    pairs = (
        (slots, experts, tile)
        for i, slots in enumerate(integers)
        for experts in integers[i + 1 :]
        for tile in tiles
        if _count(experts) > 1 and -(-_count(slots) // tile) == _count(experts)
    )
    pair = next(pairs, None)
    if pair is not None:
        slots, experts, tile = pair
        placed = Routing(routing.tokens, routing.experts, routing.top_k, tile)
        ids, owners, end = placed.arrays(_count(slots), _count(experts))
        _put(slots, tensors, ids)
        _put(experts, tensors, owners)
        filled |= {slots["offset"], experts["offset"]}
        for used in integers:
            if used["offset"] not in filled and _count(used) <= 2:
                _put(used, tensors, [end, routing.tokens])
                filled.add(used["offset"])
    for choices in integers:
        if choices.get("shape") == [routing.tokens, routing.top_k] and choices["offset"] not in filled:
            _put(choices, tensors, routing._choices().reshape(-1))
            filled.add(choices["offset"])
    return filled


@dataclass(frozen=True)
class Paging:
    """Pages of `page` tokens, `length` tokens for each sequence (None: as many as its row of pages holds)."""

    page: int
    length: int | None


def paging_of(record: dict[str, Any]) -> Paging | None:
    """How a record's cache is paged, by the text of `fill`, `work` and `shape`; None where they tell of no pages."""
    said = " ".join(str(record.get(field, "")) for field in _SAID_OF_PAGES)
    if not _PAGED.search(said):
        return None
    page, length = _PAGE_SIZE.search(said), _LENGTH.search(said)
    size = int(page[1] or page[2]) if page else _USUAL_PAGE
    if size == 0:
        raise RecordError(f"pages of no tokens, by {said!r}")
    return Paging(size, int(length[1]) if length else None)


def _pool(arguments: list[dict[str, Any]], least: int) -> int | None:
    """How many pages there are: the first extent of the largest tensor of three or more; None where none has so many
    as the table."""
    pools = [
        a for a in arguments if a["kind"] == "pointer" and len(a.get("shape") or ()) >= 3 and a["shape"][0] >= least
    ]
    return int(max(pools, key=lambda a: int(a["bytes"]))["shape"][0]) if pools else None


def fill_pages(paging: Paging, arguments: list[dict[str, Any]], tensors: dict[int, Any]) -> set[int]:
    """Give the integer tensors of a kernel with paged memory their contents, and return the offsets of those.

    The one of two extents is the table, a row of pages for each sequence: all different, in random order, as after a
    while of serving. Of those with one extent, as long as the table has rows, hold lengths; one more, their sums.
    Without a table the longest of one extent lists the pages of all sequences (`_fill_list`).
    """
    import numpy as np

    integers = [a for a in _integers(arguments) if a.get("shape")]
    table = next((a for a in integers if len(a["shape"]) == 2), None)
    if table is None:
        return _fill_list(paging, integers, arguments, tensors)
    rows, columns = table["shape"]
    if rows * columns != _count(table):
        raise RecordError(
            f"the page table has {table['bytes']} bytes, and its shape {rows} x {columns} is of {table['dtype']}"
        )
    length = columns * paging.page if paging.length is None else min(paging.length, columns * paging.page)
    pages = np.random.default_rng(0).permutation(_pool(arguments, rows * columns) or rows * columns)
    _put(table, tensors, pages[: rows * columns])
    filled = {table["offset"]}
    for other in integers:
        if other is table or _count(other) not in (rows, rows + 1):
            continue
        sums = _count(other) == rows + 1
        _put(other, tensors, length * np.arange(rows + 1) if sums else np.full(rows, length))
        filled.add(other["offset"])
    return filled


def _fill_list(
    paging: Paging, integers: list[dict[str, Any]], arguments: list[dict[str, Any]], tensors: dict[int, Any]
) -> set[int]:
    """The same where pages stand in one list: the tensor beside it, shorter than it is, says where each sequence begins
    there (sums of pages). Another one as long has the sums of queries, one for each sequence; one that is shorter by
    one, how many tokens the last page of each holds."""
    import numpy as np

    flat = [a for a in integers if len(a["shape"]) == 1]
    pages = max(flat, key=_count, default=None)
    if pages is None:
        return set()
    at = flat.index(pages)
    begins = next((a for a in (*flat[at - 1 : at], *flat[at + 1 : at + 2]) if 2 <= _count(a) <= _count(pages)), None)
    if begins is None:
        return set()
    rows, most = _count(begins) - 1, _count(pages)
    each = most // rows if paging.length is None else min(-(-paging.length // paging.page), most // rows)
    if each == 0:
        return set()
    order = np.random.default_rng(0).permutation(_pool(arguments, most) or most)
    _put(pages, tensors, order[:most])
    _put(begins, tensors, each * np.arange(rows + 1))
    filled = {pages["offset"], begins["offset"]}
    last = paging.page if paging.length is None else (paging.length - 1) % paging.page + 1
    for other in flat:
        if other["offset"] not in filled and _count(other) in (rows, rows + 1):
            sums = _count(other) == rows + 1
            _put(other, tensors, np.arange(rows + 1) if sums else np.full(rows, last))
            filled.add(other["offset"])
    return filled


def _routing(record: dict[str, Any], assumed: list[str]) -> Routing | None:
    """As `routing_of`; where only the free text of `fill` tells of routing, what is not understood is assumed."""
    try:
        return routing_of(record)
    except RecordError as error:
        if record.get("work", {}).get("routing"):
            raise
        assumed.append(f"no tensor holds a routing: {error}")
        return None


def fill(record: dict[str, Any], tensors: list[dict[int, Any]]) -> list[str]:
    """Give the tensors of a record's launches (bytes, by the offset of their argument) their contents.

    Returns what was assumed because the record does not say it: also that nothing is routed or paged by its tensors,
    where its free text has such words and none of them fits. Raises `RecordError` where `work` tells of a routing that
    is not understood, or that none of its launches has tensors for.
    """
    assumed = [
        f"launch {number}: the tensor at {one['offset']} of the arguments is zero: its type is not said"
        for number, launch in enumerate(record["launches"])
        for one in launch["args"]
        if one["kind"] == "pointer" and one["bytes"] > 0 and "dtype" not in one
    ]
    if not any(_integers(launch["args"]) for launch in record["launches"]):
        if record.get("work", {}).get("routing"):
            assumed.append("the record tells of routing, and no launch has a tensor of whole numbers")
        return assumed  # nothing that is read decides what else is
    routing, paging = _routing(record, assumed), paging_of(record)
    found = False
    for number, (launch, own) in enumerate(zip(record["launches"], tensors, strict=True)):
        filled: set[int] = set()
        if routing is not None:
            filled = fill_routing(routing, launch["args"], own)
        elif paging is not None:
            filled = fill_pages(paging, launch["args"], own)
        found |= bool(filled)
        assumed += [
            f"launch {number}: the {one['dtype']} at {one['offset']} of the arguments is zero: nothing is said of it"
            for one in _integers(launch["args"])
            if one["dtype"] in _INDICES and one["offset"] not in filled
        ]
    if not found and routing is not None:
        missing = "the record tells of routing, and no launch has a tensor of slots with one of blocks"
        if record.get("work", {}).get("routing"):
            raise RecordError(missing)
        assumed.append(missing)
    if not found and routing is None and paging is not None:
        assumed.append(
            "the record tells of pages, and no launch has a table of them (whole numbers, two extents) or a list with "
            "where each sequence begins in it"
        )
    if found and paging is not None and routing is None and paging.length is None:
        assumed.append("sequences are as long as their row of the page table has room for")
    return assumed
