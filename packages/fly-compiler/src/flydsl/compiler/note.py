# SPDX-License-Identifier: Apache-2.0
"""The JSON note of an artifact (docs/artifact.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .arguments.specs import ArgumentSpec
from .cache.toolchain import package_versions
from .hints import waves_per_eu
from .tracing import Compilation

__all__ = ["argument_entries", "build_note"]


def argument_entries(arguments: Sequence[tuple[str, ArgumentSpec]], read_only: Sequence[bool]) -> list[dict[str, Any]]:
    """Return the entries of the run-time arguments, in the order of the host function's slots.

    Args:
        arguments: names and specs.
        read_only: for each parameter of the host function, whether nothing writes to the memory behind it.
    """
    entries = [entry for name, spec in arguments for entry in spec.note(name)]
    for entry, only_read in zip(entries, read_only, strict=False):  # a hidden stream has no entry
        if entry["kind"] == "tensor" and only_read:
            entry["access"] = "read"
    return entries


def build_note(compilation: Compilation, objects: Sequence[Any], arguments: list[dict[str, Any]], key: str) -> str:
    """Return the note as JSON text.

    Args:
        compilation: the traced and lowered module.
        objects: the code objects, each with the resources of its kernels.
        arguments: entries of the run-time arguments.
        key: the cache key; a lookup compares it.
    """
    resources = {kernel.name: kernel for one in objects for kernel in one.kernels}
    wish = waves_per_eu(compilation.hints.get("waves_per_eu"))
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
                "vgpr": used.vgpr,
                "agpr": used.agpr,
                "sgpr": used.sgpr,
                "lds_bytes": used.lds_bytes,
                "scratch_bytes": used.scratch_bytes,
                "spills": used.vgpr_spills + used.sgpr_spills,
                "occupancy": used.occupancy,
                "launches": kernel.launches,
                "hints": {"waves_per_eu": None if wish is None else [x for x in wish if x is not None]},
            }
        )
    note = {
        "schema": 1,
        "name": compilation.entry,
        "entry": compilation.entry,
        "arguments": arguments,
        "kernels": kernels,
        "architectures": [one.arch for one in objects],
        "host_triple": "x86_64-unknown-linux-gnu",
        "toolchain": package_versions(),
        "source_hash": key,
    }
    if compilation.recording is not None:
        note["ktrace"] = compilation.recording
    if compilation.messages:
        note["messages"] = [one.entry() for one in compilation.messages]
    if not any(one["kind"] == "stream" for one in arguments):
        note["hidden_stream"] = True
    return json.dumps(note, separators=(",", ":"))
