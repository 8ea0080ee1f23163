# SPDX-License-Identifier: Apache-2.0
"""The JSON note of an artifact (docs/artifact.md)."""

from __future__ import annotations

import json
import linecache
from collections.abc import Mapping, Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl.runtime.note import NO_HASH
from flydsl.trace.diagnostics import frames_of

from .backends import DeviceCode
from .cache.toolchain import package_versions
from .specs import ArgumentSpec
from .tracing import Compilation

__all__ = ["argument_effects", "argument_entries", "build_note"]


_EFFECTS, _MESSAGES = "fly.argument_effects", "fly.messages"  # what passes say of the program (docs/dialect/passes.md)


def argument_effects(module: ir.Module, entry: str) -> list[str]:
    """Return what happens to the memory behind each parameter of a host function: `read`, `may_write` or `write`.

    Args:
        module: after the pass `fly-argument-effects`, or any later one.
        entry: the name of the host function.
    """
    host = next(
        op
        for op in module.body.operations
        if _EFFECTS in op.operation.attributes and ir.StringAttr(op.operation.attributes["sym_name"]).value == entry
    )
    return [str(ir.StringAttr(one).value) for one in ir.ArrayAttr(host.operation.attributes[_EFFECTS])]


def argument_entries(
    arguments: Sequence[tuple[str, ArgumentSpec]], lowered: ir.Module, entry: str
) -> list[dict[str, Any]]:
    """Return the entries of the run-time arguments, in the order of the host function's slots.

    Args:
        arguments: names and specs.
        lowered: the program.
        entry: the name of its host function.
    """
    entries = [one for name, spec in arguments for one in spec.note(name)]
    for one, effect in zip(entries, argument_effects(lowered, entry), strict=False):  # a hidden stream has no entry
        if one["kind"] != "tensor":
            continue
        if effect == "read":
            one["access"] = "read"
        elif effect == "write":
            one["written"] = True
    return entries


def message_entries(lowered: ir.Module) -> list[dict[str, Any]]:
    """Return the entries of what a program prints and asserts, by number."""
    attributes = lowered.operation.attributes
    if _MESSAGES not in attributes:
        return []
    entries = []
    for one in map(ir.DictAttr, ir.ArrayAttr(attributes[_MESSAGES])):
        entry: dict[str, Any] = {name: str(ir.StringAttr(one[name]).value) for name in ("kind", "format")}
        entry["types"] = [str(ir.TypeAttr(type_).value) for type_ in ir.ArrayAttr(one["types"])]
        if "where" in one:
            entry["where"] = _where(one["where"])
        entries.append(entry)
    return entries


def _where(location: ir.Attribute) -> str:
    """Return file, line and source line of an assertion."""
    frames = frames_of(location)
    if not frames:
        return "unknown place"
    frame = frames[0]
    source = linecache.getline(frame.filename, frame.line).strip()
    return f'File "{frame.filename}", line {frame.line}' + (f"\n    {source}\n" if source else "")


def build_note(
    compilation: Compilation,
    lowered: ir.Module,
    device_code: Sequence[DeviceCode],
    arguments: list[dict[str, Any]],
    key: str,
) -> str:
    """Return the note as JSON text.

    Args:
        compilation: what was traced.
        lowered: the lowered module.
        device_code: what backends say of the device code in it, by target.
        arguments: entries of the run-time arguments.
        key: the cache key; a lookup compares it.
    """
    # Of several targets, what the first one's kernels use.
    resources: dict[str, Mapping[str, Any]] = {}
    for one in device_code:
        resources = {**one.kernels, **resources}
    kinds = {one.arch: one.kind for one in device_code if one.kind != "hsaco"}
    emitted = {kernel.name: kernel for kernel in compilation.kernels}
    kernels = []
    # The launcher numbers kernels as the code object's table does (by name), whatever the order of emission.
    for name, used in resources.items():
        kernel = emitted[name]
        block = kernel.scope.block_size
        kernels.append(
            {
                "name": kernel.name,
                "block": None if block is None else list(block),
                **used,
                "launches": kernel.launches,
            }
        )
    note = {
        "schema": 1,
        "name": compilation.entry,
        "entry": compilation.entry,
        "arguments": arguments,
        "kernels": kernels,
        "architectures": [one.arch for one in device_code],
        **({"device_code": kinds} if kinds else {}),
        "host_triple": "x86_64-unknown-linux-gnu",
        "toolchain": package_versions(),
        "source_hash": key,
        "file_hash": NO_HASH,
    }
    if compilation.recording is not None:
        note["ktrace"] = compilation.recording
    messages = message_entries(lowered)
    if messages:
        note["messages"] = messages
    if not any(one["kind"] == "stream" for one in arguments):
        note["hidden_stream"] = True
    return json.dumps(note, separators=(",", ":"))
