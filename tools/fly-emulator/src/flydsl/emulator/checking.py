# SPDX-License-Identifier: Apache-2.0
"""Waits and wait states of a code object, checked on every path through its code without running it.

from flydsl.emulator import check_code

for kernel in check_code(path.read_bytes()):
    assert not kernel.findings, kernel
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl.emulator.code_objects import code_objects_in, is_host_file
from flydsl.emulator.device import Emulator

__all__ = ["CodeFinding", "KernelCheck", "check_code"]


@dataclass(frozen=True)
class CodeFinding:
    """What some path through a kernel does wrong.

    `kind` is "wait" (a register is used before its load has arrived), "barrier" (LDS accesses may be outstanding at an
    ``s_barrier``) or "hazard" (wait states are missing). `other_…` is the earlier instruction that `instruction` does
    not wait for. `source` is "file:line", empty without line information.
    """

    kind: str
    what: str
    location: str
    instruction: str
    source: str
    other_location: str
    other_instruction: str
    other_source: str

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.what}\n"
            f"  at {self.source or self.location}: {self.instruction}\n"
            f"  behind {self.other_source or self.other_location}: {self.other_instruction}"
        )


@dataclass(frozen=True)
class KernelCheck:
    """What was looked at in a kernel, and what was found.

    `instructions`: that some path reaches; of them `unknown` ones were not understood, and behind `calls` (calls, and
    jumps through registers) nothing is followed. `loads_to_lds` are loads straight to LDS: whether they are waited for
    depends on where they go, which only a run can tell (the ``wait`` sanitizer).
    """

    name: str
    arch: str
    instructions: int
    unknown: int
    waits: int
    barriers: int
    matrix: int
    loads_to_lds: int
    calls: int
    findings: tuple[CodeFinding, ...]

    @property
    def unchecked(self) -> list[str]:
        """What the check cannot vouch for in this kernel, in words."""
        notes = []
        if self.unknown:
            notes.append(f"{self.unknown} instructions that are not understood")
        if self.calls:
            notes.append(f"what lies behind {self.calls} calls or jumps through registers")
        if self.loads_to_lds:
            notes.append(f"waits for {self.loads_to_lds} loads straight to LDS (run it with the wait sanitizer)")
        return notes

    def __str__(self) -> str:
        text = (
            f"{self.name} ({self.arch}): {self.instructions} instructions, {self.waits} waits, "
            f"{self.barriers} barriers, {self.matrix} matrix instructions: {len(self.findings)} findings"
        )
        text += "".join(f"\n  not checked: {note}" for note in self.unchecked)
        return text + "".join("\n" + str(finding) for finding in self.findings)


def check_code(image: bytes, arch: str = "") -> list[KernelCheck]:
    """Check every kernel of a code object, an offload bundle, or an artifact with code objects in it.

    `arch` chooses that of a bundle. Registers must not be used, nor overwritten, before their load has arrived; writes
    to LDS and reads of it must have ended at barriers; instructions must keep the wait states that gfx942 and gfx950 do
    not insert. The result has an entry for each kernel, without findings where all is well.

    Raises:
        EmulatorError: it is no code object, or none of an architecture that is emulated.
        ValueError: a host file without a code object in it.
    """
    emulator = Emulator()
    images = list(code_objects_in(image)) if is_host_file(image) else [image]
    if not images:
        raise ValueError("a program or library of the host without a code object in it")
    return [_kernel(kernel, found["arch"]) for one in images for found in [emulator.check(one, arch)]
            for kernel in found["kernels"]]  # fmt: skip


def _kernel(value: dict[str, Any], arch: str) -> KernelCheck:
    findings = tuple(CodeFinding(**finding) for finding in value["findings"])
    return KernelCheck(**{**value, "findings": findings, "arch": arch})
