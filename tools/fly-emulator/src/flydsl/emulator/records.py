# SPDX-License-Identifier: Apache-2.0
"""Predicts recorded launches: files of timings with the code objects that ran (`fly-emu predict --records`).

A record names its launches: the code object, the grid, the block, and each argument with its offset (a pointer with
the bytes, dtype and shape of its tensor; a scalar with its value; a struct as hexadecimal). `check_record` says what is
missing. Tensors are zero, but for those that decide what a workgroup reads: the routing of a mixture of experts, and
the page tables and lengths of paged attention.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, Module

_MOE_SHAPE = re.compile(r"t(\d+)-d(\d+)x(\d+)-e(\d+)k(\d+)")
_TILE_M = re.compile(r"tile_m=(\d+)")
_SCALARS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_PAGED = re.compile(r"\bpag(?:e|ed|es)\b|block[ _-]?tables?", re.IGNORECASE)
_PAGE_SIZE = re.compile(r"(?:page|block)s?[ _-]?(?:size)?(?: of|=|:)? ?(\d+)", re.IGNORECASE)
_LENGTH = re.compile(r"(?:context|kv|cache|sequence)s?[ _-]?(?:len(?:gth)?s?)?(?: of|=|:)? ?(\d+)", re.IGNORECASE)
_USUAL_PAGE = 16  # tokens, where a record does not say

# What each kind of argument has beside its kind and offset, and of what type that is.
_ARGUMENTS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "pointer": {"bytes": int},
    "scalar": {"size": int, "value": (int, float)},
    "struct": {"size": int, "hex": str},
}
_RECORD: dict[str, type] = {"arch": str, "device": dict, "launches": list}
_LAUNCH: dict[str, type] = {"object": str, "kernel": str, "grid_workgroups": list, "block": list, "args": list}


class RecordError(ValueError):
    """A record lacks something, or has something else in its place; the message names the field."""


def _check(where: str, found: object, fields: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise RecordError(f"{where} is {type(found).__name__}, not an object")
    for field, kind in fields.items():
        if field not in found:
            raise RecordError(f"{where} has no field {field!r}")
        if not isinstance(found[field], kind):
            expected = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
            raise RecordError(f"{where}: {field} is {type(found[field]).__name__}, not {expected}")
    return found


def _check_extents(where: str, extents: list[Any]) -> None:
    if not 1 <= len(extents) <= 3 or not all(isinstance(one, int) and one > 0 for one in extents):
        raise RecordError(f"{where} is {extents}, not one to three positive numbers")


def check_record(record: object) -> None:
    """Raise `RecordError` unless the record has what a prediction needs.

    Those are `arch`, `device.name`, and of each launch `object`, `kernel`, `grid_workgroups`, `block` and `args`. What
    else a record may have (`shape`, `work`, `timing`, `fill`) is used where it is there.
    """
    fields = _check("the record", record, _RECORD)
    _check("device", fields["device"], {"name": str})
    for field in ("work", "timing"):
        _check(field, fields.get(field, {}), {})
    if not fields["launches"]:
        raise RecordError("the record has no launches")
    for number, launch in enumerate(fields["launches"]):
        where = f"launch {number}"
        _check(where, launch, _LAUNCH)
        for field in ("grid_workgroups", "block"):
            _check_extents(f"{where}: {field}", launch[field])
        for index, argument in enumerate(launch["args"]):
            own = f"{where}, argument {index}"
            _check(own, argument, {"kind": str, "offset": int})
            if argument["kind"] not in _ARGUMENTS:
                raise RecordError(f"{own}: its kind is {argument['kind']!r}, not one of {', '.join(_ARGUMENTS)}")
            _check(own, argument, _ARGUMENTS[argument["kind"]])
            if argument["kind"] == "scalar" and argument["size"] not in _SCALARS:
                raise RecordError(f"{own}: a scalar of {argument['size']} bytes")


@dataclass(frozen=True)
class Routing:
    """Which expert each of `tokens` goes to: `top_k` different ones of `experts`, uniformly, in blocks of `tile`."""

    tokens: int
    experts: int
    top_k: int
    tile: int

    def arrays(self, slots: int, blocks: int) -> tuple[Any, Any, int]:
        """The sorted slots (token in the low 24 bits, which of its experts above), each block's expert, and how many
        slots are in use. Free slots hold the number of tokens."""
        import numpy as np

        random = np.random.default_rng(0)
        chosen = np.argsort(random.random((self.tokens, self.experts)), axis=1)[:, : self.top_k]
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
    shape = _MOE_SHAPE.search(str(record.get("shape", "")))
    tile = _TILE_M.search(str(record.get("work", {}).get("routing", "")))
    if shape is None or tile is None:
        return None
    tokens, _, _, experts, top_k = (int(group) for group in shape.groups())
    return Routing(tokens, experts, top_k, int(tile.group(1)))


def _fill_routing(routing: Routing, arguments: list[dict[str, Any]], tensors: dict[int, Any]) -> None:
    """Give the integer tensors of a routed kernel their contents: slots, experts of blocks, number of slots."""
    integers = [a for a in arguments if a["kind"] == "pointer" and a["dtype"] == "int32" and a["bytes"] > 0]
    if len(integers) < 3:
        return
    slots, experts, used = integers[0], integers[1], integers[-1]
    ids, owners, end = routing.arrays(slots["bytes"] // 4, experts["bytes"] // 4)
    tensors[slots["offset"]][:] = ids.view("u1")
    tensors[experts["offset"]][:] = owners.view("u1")
    tensors[used["offset"]][:8] = memoryview(struct.pack("<ii", end, routing.tokens))


@dataclass(frozen=True)
class Paging:
    """Pages of `page` tokens, `length` tokens for each sequence (None: as many as its row of pages holds)."""

    page: int
    length: int | None


def paging_of(record: dict[str, Any]) -> Paging | None:
    """How a record's cache is paged, by the text of `fill`, `work` and `shape`; None where they tell of no pages."""
    said = " ".join(str(record.get(field, "")) for field in ("fill", "shape", "work", "op"))
    if not _PAGED.search(said):
        return None
    page, length = _PAGE_SIZE.search(said), _LENGTH.search(said)
    return Paging(int(page[1]) if page else _USUAL_PAGE, int(length[1]) if length else None)


def fill_pages(paging: Paging, arguments: list[dict[str, Any]], tensors: dict[int, Any]) -> None:
    """Give the integer tensors of a kernel with paged memory their contents.

    The one of two extents is the table, a row of pages for each sequence: all different, in random order, as after a
    while of serving. Of those with one extent, as long as the table has rows, hold lengths; one more, their sums.
    """
    import numpy as np

    integers = [
        a
        for a in arguments
        if a["kind"] == "pointer" and str(a.get("dtype")) in ("int32", "uint32") and a["bytes"] > 0 and a.get("shape")
    ]
    table = next((a for a in integers if len(a["shape"]) == 2), None)
    if table is None:
        return
    rows, columns = table["shape"]
    if rows * columns * 4 != table["bytes"]:
        raise RecordError(f"the page table has {table['bytes']} bytes, and its shape {rows} x {columns} is of int32")
    length = columns * paging.page if paging.length is None else min(paging.length, columns * paging.page)
    pages = np.random.default_rng(0).permutation(rows * columns).astype(np.int32)
    tensors[table["offset"]][:] = pages.view("u1")
    for other in integers:
        count = other["bytes"] // 4
        if other is not table and count in (rows, rows + 1):
            values = np.full(rows, length, np.int32) if count == rows else length * np.arange(rows + 1, dtype=np.int32)
            tensors[other["offset"]][:] = values.view("u1")


@contextlib.contextmanager
def _arguments(emulator: Emulator, record: dict[str, Any], launch: dict[str, Any]) -> Iterator[bytes]:
    """The packed arguments of a launch, with its tensors registered while the block runs."""
    import numpy as np

    tensors = {
        argument["offset"]: np.zeros(argument["bytes"], np.uint8)
        for argument in launch["args"]
        if argument["kind"] == "pointer"
    }
    routing = routing_of(record)
    if routing is not None:
        _fill_routing(routing, launch["args"], tensors)
    paging = paging_of(record)
    if routing is None and paging is not None:
        fill_pages(paging, launch["args"], tensors)
    size = max((a["offset"] + (8 if a["kind"] == "pointer" else a["size"]) for a in launch["args"]), default=0)
    packed = bytearray(size)
    registered: list[int] = []
    try:
        for argument in launch["args"]:
            offset = argument["offset"]
            if argument["kind"] == "pointer":
                tensor = tensors[offset]
                address = int(tensor.ctypes.data)
                struct.pack_into("<Q", packed, offset, address if argument["bytes"] else 0)
                if argument["bytes"]:
                    emulator.call(
                        "flyemu_register_memory",
                        ctypes.c_void_p(address),
                        ctypes.c_size_t(argument["bytes"]),
                        0,
                        f"argument at {offset}".encode(),
                    )
                    registered.append(address)
            elif argument["kind"] == "struct":
                packed[offset : offset + argument["size"]] = bytes.fromhex(argument["hex"])
            elif isinstance(argument["value"], float):
                struct.pack_into("<f" if argument["size"] == 4 else "<d", packed, offset, argument["value"])
            else:
                mask = (1 << 8 * argument["size"]) - 1
                struct.pack_into(_SCALARS[argument["size"]], packed, offset, argument["value"] & mask)
        yield bytes(packed)
    finally:
        for address in registered:
            emulator.library.flyemu_unregister_memory(ctypes.c_void_p(address))


def is_warm(record: dict[str, Any]) -> bool:
    """Whether a record's iterations reuse their buffers, so that the caches hold what fits of them."""
    return str(record.get("timing", {}).get("cache", "")).startswith("same")


def device_of(emulator: Emulator, record: dict[str, Any]) -> str:
    """The modelled device that a record names ("AMD Instinct MI325X"), else the best known one of its architecture."""
    name = record["device"]["name"].lower()
    for device, model in emulator.device_models().items():
        if device.lower() in name and model["arch"] == record["arch"]:
            return device
    return str(record["arch"])


@contextlib.contextmanager
def predicted_launches(
    emulator: Emulator, record: dict[str, Any], objects: Path
) -> Iterator[list[tuple[Module, dict[str, Any]]]]:
    """The launches of a record, each with its module (which stays loaded inside the block) and its prediction."""
    out: list[tuple[Module, dict[str, Any]]] = []
    device = device_of(emulator, record)
    with contextlib.ExitStack() as stack:
        for launch in record["launches"]:
            module = emulator.load((objects / launch["object"]).read_bytes())
            stack.callback(module.unload)
            emulator.set_prediction(device, sampled=True, warm=is_warm(record))
            stack.callback(emulator.set_prediction, None)
            with _arguments(emulator, record, launch) as packed:
                module.kernel(launch["kernel"]).launch_packed(
                    launch["grid_workgroups"], launch["block"], packed, lds=launch.get("dynamic_lds", 0)
                )
            out.append((module, emulator.prediction()))
        yield out


_HOST_LAUNCH_US = 38.0  # what the host takes for a launch, where a record's time includes it: 33 to 45 are published


def host_launch(record: dict[str, Any]) -> float:
    """Microseconds below which a record's time cannot be: where it was taken around launches one after the other, the
    host's for one launch, which go on while the device is busy with another."""
    return _HOST_LAUNCH_US if "INCLUDES host launch cost" in str(record.get("timing", {}).get("method", "")) else 0.0


_STREAM_SHARE = 0.75  # of the peak of HBM that a plain sum kernel reaches; assumed


def other_kernels(record: dict[str, Any]) -> float:
    """Seconds of the kernels that a record's time includes and its objects do not: torch's sum over the experts of a
    token, as what it reads and writes at the bandwidth of a stream."""
    shape = _MOE_SHAPE.search(str(record.get("shape", "")))
    if "torch.sum over top-k" not in str(record.get("timing", {}).get("kernels", "")) or shape is None:
        return 0.0
    _check("device", record["device"], {"hbm_tbs": (int, float)})
    tokens, model, _, _, top_k = (int(group) for group in shape.groups())
    half = 2
    moved = tokens * model * half * (top_k + 1)
    return moved / (float(record["device"]["hbm_tbs"]) * 1e12 * _STREAM_SHARE) + 3e-6


def predict_record(emulator: Emulator, record: dict[str, Any], objects: Path) -> dict[str, Any]:
    """The predicted time of a record in microseconds, its error bar, its bound, and the terms behind them.

    Raises `RecordError` for a record that lacks something, `OSError` where its code object cannot be read, and
    `EmulatorError` where its launch fails or its architecture is not emulated.
    """
    check_record(record)
    with predicted_launches(emulator, record, objects) as launches:
        predictions = [prediction for _, prediction in launches]
    other = other_kernels(record) * 1e6
    longest = max(predictions, key=lambda one: one["time_us"])
    time = max(host_launch(record), sum(one["time_us"] for one in predictions) + other)
    return {
        "predicted_us": time,
        "error_us": time * longest["error"],
        "bound": "launch" if time == host_launch(record) else longest["bound"],
        "other_kernels_us": other,
        "host_launch_us": host_launch(record),
        "launches": predictions,
    }
