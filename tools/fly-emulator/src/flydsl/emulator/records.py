# SPDX-License-Identifier: Apache-2.0
"""Predicts recorded launches: files of timings with the code objects that ran (`fly-emu predict --records`).

A record names its launches: the code object, the grid, the block, and each argument with its offset (a pointer with
the bytes, dtype and shape of its tensor; a scalar with its value; a struct as hexadecimal). Tensors are zero, but for
the routing of a mixture of experts, which decides what a workgroup reads.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, Module

_MOE_SHAPE = re.compile(r"t(\d+)-d(\d+)x(\d+)-e(\d+)k(\d+)")
_TILE_M = re.compile(r"tile_m=(\d+)")
_SCALARS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


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
    shape = _MOE_SHAPE.search(record["shape"])
    tile = _TILE_M.search(record["work"].get("routing", ""))
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
    size = max(a["offset"] + (8 if a["kind"] == "pointer" else a["size"]) for a in launch["args"])
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
    return str(record["timing"].get("cache", "")).startswith("same")


@contextlib.contextmanager
def predicted_launches(
    emulator: Emulator, record: dict[str, Any], objects: Path
) -> Iterator[list[tuple[Module, dict[str, Any]]]]:
    """The launches of a record, each with its module (which stays loaded inside the block) and its prediction."""
    out: list[tuple[Module, dict[str, Any]]] = []
    device = record["device"]["name"].split()[0]
    with contextlib.ExitStack() as stack:
        for launch in record["launches"]:
            module = emulator.load((objects / launch["object"]).read_bytes())
            stack.callback(module.unload)
            emulator.set_prediction(device, sampled=True, warm=is_warm(record))
            stack.callback(emulator.set_prediction, None)
            with _arguments(emulator, record, launch) as packed:
                module.kernel(launch["kernel"]).launch_packed(
                    launch["grid_workgroups"], launch["block"], packed, lds=launch["dynamic_lds"]
                )
            out.append((module, emulator.prediction()))
        yield out


_HOST_LAUNCH_US = 38.0  # what the host takes for a launch, where a record's time includes it: 33 to 45 are published


def host_launch(record: dict[str, Any]) -> float:
    """Microseconds below which a record's time cannot be: where it was taken around launches one after the other, the
    host's for one launch, which go on while the device is busy with another."""
    return _HOST_LAUNCH_US if "INCLUDES host launch cost" in record["timing"].get("method", "") else 0.0


_STREAM_SHARE = 0.75  # of the peak of HBM that a plain sum kernel reaches; assumed


def other_kernels(record: dict[str, Any]) -> float:
    """Seconds of the kernels that a record's time includes and its objects do not: torch's sum over the experts of a
    token, as what it reads and writes at the bandwidth of a stream."""
    shape = _MOE_SHAPE.search(record["shape"])
    if "torch.sum over top-k" not in str(record["timing"].get("kernels", "")) or shape is None:
        return 0.0
    tokens, model, _, _, top_k = (int(group) for group in shape.groups())
    half = 2
    moved = tokens * model * half * (top_k + 1)
    return moved / (float(record["device"]["hbm_tbs"]) * 1e12 * _STREAM_SHARE) + 3e-6


def predict_record(emulator: Emulator, record: dict[str, Any], objects: Path) -> dict[str, Any]:
    """The predicted time of a record in microseconds, its error bar, its bound, and the terms behind them."""
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
