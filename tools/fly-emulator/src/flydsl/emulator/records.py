# SPDX-License-Identifier: Apache-2.0
"""Predicts recorded launches: files of timings with the code objects that ran (`fly-emu predict --records`).

A record names its launches: the code object, the grid, the block, and each argument with its offset (a pointer with
the bytes, dtype and shape of its tensor; a scalar with its value; a struct as hexadecimal). `record_check` says what is
missing, `record_contents` what tensors hold.
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
from flydsl.emulator.record_check import SCALARS, check_fields, check_record
from flydsl.emulator.record_contents import fill

_MOE_SUM = re.compile(r"t(\d+)-d(\d+)x\d+-e\d+k(\d+)")  # tokens, extent of the model, experts of a token


@contextlib.contextmanager
def _arguments(emulator: Emulator, launch: dict[str, Any], tensors: dict[int, Any]) -> Iterator[bytes]:
    """The packed arguments of a launch, with its tensors (by offset) registered while the block runs."""
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
                    before = argument.get("at", 0)
                    emulator.call(
                        "flyemu_register_memory",
                        ctypes.c_void_p(address - before),
                        ctypes.c_size_t(before + argument["bytes"]),
                        0,
                        f"argument at {offset}".encode(),
                    )
                    registered.append(address - before)
            elif argument["kind"] == "struct":
                packed[offset : offset + argument["size"]] = bytes.fromhex(argument["hex"])
            elif isinstance(argument["value"], float):
                struct.pack_into("<f" if argument["size"] == 4 else "<d", packed, offset, argument["value"])
            else:
                mask = (1 << 8 * argument["size"]) - 1
                struct.pack_into(SCALARS[argument["size"]], packed, offset, argument["value"] & mask)
        yield bytes(packed)
    finally:
        for address in registered:
            emulator.library.flyemu_unregister_memory(ctypes.c_void_p(address))


def _tensors(launch: dict[str, Any]) -> dict[int, Any]:
    """Zeros for each pointer of a launch, by its offset; a tensor that begins inside of its memory ("at") does here."""
    import numpy as np

    pointers = [a for a in launch["args"] if a["kind"] == "pointer"]
    return {a["offset"]: np.zeros(a.get("at", 0) + a["bytes"], np.uint8)[a.get("at", 0) :] for a in pointers}


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


@dataclass(frozen=True)
class RecordedLaunches:
    """The launches of a record, each with its module (loaded inside of the block) and its prediction."""

    launches: list[tuple[Module, dict[str, Any]]]
    assumed: list[str]
    """What the record does not say of its tensors, and was assumed."""


@contextlib.contextmanager
def predicted_launches(emulator: Emulator, record: dict[str, Any], objects: Path) -> Iterator[RecordedLaunches]:
    """Predict the launches of a record."""
    out: list[tuple[Module, dict[str, Any]]] = []
    device = device_of(emulator, record)
    tensors = [_tensors(launch) for launch in record["launches"]]
    assumed = fill(record, tensors)
    with contextlib.ExitStack() as stack:
        for launch, own in zip(record["launches"], tensors, strict=True):
            module = emulator.load((objects / launch["object"]).read_bytes())
            stack.callback(module.unload)
            emulator.set_prediction(device, sampled=True, warm=is_warm(record))
            stack.callback(emulator.set_prediction, None)
            with _arguments(emulator, launch, own) as packed:
                module.kernel(launch["kernel"]).launch_packed(
                    launch["grid_workgroups"], launch["block"], packed, lds=launch.get("dynamic_lds", 0)
                )
            out.append((module, emulator.prediction()))
        yield RecordedLaunches(out, assumed)


_HOST_LAUNCH_US = 38.0  # what the host takes for a launch, where a record's time includes it: 33 to 45 are published


def host_launch(record: dict[str, Any]) -> float:
    """Microseconds below which a record's time cannot be: where it was taken around launches one after the other, the
    host's for one launch, which go on while the device is busy with another."""
    return _HOST_LAUNCH_US if "INCLUDES host launch cost" in str(record.get("timing", {}).get("method", "")) else 0.0


_STREAM_SHARE = 0.75  # of the peak of HBM that a plain sum kernel reaches; assumed


def other_kernels(record: dict[str, Any]) -> float:
    """Seconds of the kernels that a record's time includes and its objects do not: torch's sum over the experts of a
    token, as what it reads and writes at the bandwidth of a stream."""
    shape = _MOE_SUM.search(str(record.get("shape", "")))
    if "torch.sum over top-k" not in str(record.get("timing", {}).get("kernels", "")) or shape is None:
        return 0.0
    check_fields("device", record["device"], {"hbm_tbs": (int, float)})
    tokens, model, top_k = (int(group) for group in shape.groups())
    half = 2
    moved = tokens * model * half * (top_k + 1)
    return moved / (float(record["device"]["hbm_tbs"]) * 1e12 * _STREAM_SHARE) + 3e-6


_ASSUMED_ERROR = 0.6  # relative, of launches whose tensors are not as the record's were, for all that is known


def predict_record(emulator: Emulator, record: dict[str, Any], objects: Path) -> dict[str, Any]:
    """The predicted time of a record in microseconds, its error bar, its bound, the terms behind them, and what was
    assumed of its tensors.

    Raises `RecordError` for a record that lacks something or describes what is not understood, `OSError` where its code
    object cannot be read, and `EmulatorError` where its launch fails or its architecture is not emulated.
    """
    check_record(record)
    with predicted_launches(emulator, record, objects) as found:
        predictions = [prediction for _, prediction in found.launches]
    other = other_kernels(record) * 1e6
    longest = max(predictions, key=lambda one: one["time_us"])
    time = max(host_launch(record), sum(one["time_us"] for one in predictions) + other)
    error = max(longest["error"], _ASSUMED_ERROR if found.assumed else 0.0)
    return {
        "predicted_us": time,
        "error_us": time * error,
        "bound": "launch" if time == host_launch(record) else longest["bound"],
        "other_kernels_us": other,
        "host_launch_us": host_launch(record),
        "assumed": found.assumed,
        "launches": predictions,
    }
