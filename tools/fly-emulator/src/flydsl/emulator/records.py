# SPDX-License-Identifier: Apache-2.0
"""Predicts recorded launches: files of timings with the code objects that ran (`fly-emu predict --records`).

A record names its launches: the code object, the grid, the block, and each argument with its offset (a pointer with
the bytes, dtype and shape of its tensor; a scalar with its value; a struct as hexadecimal). `record_check` says what is
missing, `record_contents` what tensors hold.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.record_check import SCALARS, RecordError, check_record
from flydsl.emulator.record_contents import fill

_BEHIND = 2 << 20  # bytes behind each tensor that a launch may reach, as it may on a device, whose pages are as large
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
                    begin, end = address - argument.get("at", 0), address + argument["bytes"]
                    for first, last, name in ((begin, end, "argument at"), (end, end + _BEHIND, "behind argument at")):
                        emulator.call(
                            "flyemu_register_memory",
                            ctypes.c_void_p(first),
                            ctypes.c_size_t(last - first),
                            0,
                            f"{name} {offset}".encode(),
                        )
                        registered.append(first)
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


_NO_RESERVE = 0x4000  # Linux's MAP_NORESERVE, which mmap names from Python 3.11 on


def _tensors(launch: dict[str, Any]) -> dict[int, Any]:
    """Zeros for each pointer of a launch, by its offset; a tensor that begins inside of its memory ("at") does here.

    Pages that nobody writes take no memory, and none is set aside for them: a device's tensors may be larger than this
    machine's memory.
    """
    import numpy as np

    out = {}
    for argument in launch["args"]:
        if argument["kind"] == "pointer":
            before, size = argument.get("at", 0), argument["bytes"]
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
            try:
                memory = mmap.mmap(-1, before + size + _BEHIND, flags=flags)
            except (OSError, OverflowError) as error:
                where = f"{launch['kernel']}: no room for the {size} bytes at {argument['offset']} of the arguments"
                raise RecordError(f"{where}: {error}") from error
            out[argument["offset"]] = np.frombuffer(memory, np.uint8)[before : before + size]
    return out


_WARM = re.compile(r"\b(?:same|warm|reus\w*)\b", re.IGNORECASE)
_COLD = re.compile(r"\b(?:cold|flush\w*|rotat\w*)\b", re.IGNORECASE)


def is_warm(record: dict[str, Any]) -> bool:
    """Whether a record's iterations reuse their buffers, so that the caches hold what fits of them."""
    told = str(record.get("timing", {}).get("cache", ""))
    return bool(_WARM.search(told)) and not _COLD.search(told)


def device_of(emulator: Emulator, record: dict[str, Any]) -> tuple[str, list[str]]:
    """The modelled device that a record means, and what was assumed for it.

    That is the one that the record names ("AMD Instinct MI325X"), or that has the compute units and the bandwidth of
    its device (`cus`, `hbm_tbs`); else the first of its architecture, which is assumed to be like it. For an
    architecture without a model it is that, which `Emulator.set_prediction` refuses.
    """
    stated, arch = record["device"], record["arch"]
    of_arch = {name: model for name, model in emulator.device_models().items() if model["arch"] == arch}
    for name in of_arch:
        if name.lower() in stated["name"].lower():
            return name, []
    of_a_unit = 2 if arch.startswith("gfx1") else 1  # a workgroup processor has two compute units
    for name, model in of_arch.items():
        facts = model["facts"]
        theirs = {"cus": facts["units"]["value"] * of_a_unit, "hbm_tbs": facts["hbm_gbs"]["value"] / 1e3}
        if all(stated.get(fact) == value for fact, value in theirs.items()):
            return name, []
    if not of_arch:
        return arch, []
    first = next(iter(of_arch))
    return first, [f"the device {stated['name']!r}, which is not modelled, is like the {first}"]


@dataclass(frozen=True)
class RecordedLaunches:
    """The launches of a record, each with its module (loaded inside of the block) and its prediction."""

    launches: list[tuple[Module, dict[str, Any]]]
    assumed: list[str]
    """What the record does not say of its tensors, or the model not of its device, and was assumed."""


@contextlib.contextmanager
def predicted_launches(emulator: Emulator, record: dict[str, Any], objects: Path) -> Iterator[RecordedLaunches]:
    """Predict the launches of a record."""
    out: list[tuple[Module, dict[str, Any]]] = []
    device, assumed = device_of(emulator, record)
    tensors = [_tensors(launch) for launch in record["launches"]]
    assumed += fill(record, tensors)
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


def other_kernels(emulator: Emulator, record: dict[str, Any]) -> float:
    """Seconds of the kernels that a record's time includes and its objects do not: torch's sum over the experts of a
    token, as what it reads and writes at the share of HBM's peak that the model's streams reach, and a launch."""
    shape = _MOE_SUM.search(str(record.get("shape", "")))
    if "torch.sum over top-k" not in str(record.get("timing", {}).get("kernels", "")) or shape is None:
        return 0.0
    device, _ = device_of(emulator, record)
    of_device = emulator.device_models()[device]
    peak, constants = of_device["facts"]["hbm_gbs"]["value"] * 1e9, of_device["constants"]
    tokens, model, top_k = (int(group) for group in shape.groups())
    half = 2
    moved = tokens * model * half * (top_k + 1)
    return float(moved / (peak * constants["hbm_efficiency"]) + constants["launch_ns"] * 1e-9)


_ASSUMED_ERROR = 0.6  # relative, of launches whose tensors are not as the record's were, for all that is known


def predict_record(emulator: Emulator, record: dict[str, Any], objects: Path) -> dict[str, Any]:
    """The predicted time of a record in microseconds, its error bar, its bound, the terms behind them, and what was
    assumed of its tensors.

    Raises `RecordError` for a record that lacks something or describes what is not understood, `OSError` where its code
    object cannot be read, and `EmulatorError` where its launch fails or its architecture is not emulated.
    """
    record = check_record(record)
    with predicted_launches(emulator, record, objects) as found:
        predictions = [prediction for _, prediction in found.launches]
    other = other_kernels(emulator, record) * 1e6
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
