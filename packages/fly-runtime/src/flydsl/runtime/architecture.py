# SPDX-License-Identifier: Apache-2.0
"""Names of architectures, and the one that the environment asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from . import variables

_ARCH = re.compile(r"gfx[0-9a-f]{3,4}(-[a-z0-9_-]+)?(:[a-z]+[+-])*|sm_[0-9]{2,3}[af]?")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


_compiled_for: ContextVar[str | None] = ContextVar("flydsl_compiled_for", default=None)


@contextmanager
def compiling_for(arch: str) -> Iterator[None]:
    """Have `requested_arch` answer with an architecture, whatever the environment asks for, in a block of this thread.

    Raises ValueError for what is no architecture.
    """
    if not _ARCH.fullmatch(arch):
        raise ValueError(f"expected an architecture like gfx942 or sm_90a, got {arch!r}")
    token = _compiled_for.set(arch)
    try:
        yield
    finally:
        _compiled_for.reset(token)


def is_nvidia(arch: str) -> bool:
    """Whether an architecture is one of NVIDIA's: "sm_90a"."""
    return arch.startswith("sm_")


def processor(arch: str) -> str:
    """The processor of an architecture's name: "gfx942" of "gfx942:xnack-", "gfx1250" of "gfx1250-strict"."""
    return re.split("[:-]", arch, maxsplit=1)[0]


def _checked(arch: str, variable: str) -> str:
    if not _ARCH.fullmatch(arch):
        raise ValueError(f"environment variable {variable}={arch!r}: expected an architecture like gfx942 or sm_90a")
    return arch


def _from_version(text: str) -> str:
    """`gfx942` from ROCm's way of writing it, "9.4.2"; stepping and minor version are hexadecimal digits."""
    parts = _VERSION.fullmatch(text)
    if parts is None:
        return _checked(text, variables.HSA_OVERRIDE.name)
    major, minor, stepping = (int(part) for part in parts.groups())
    if minor > 15 or stepping > 15:
        raise ValueError(f"environment variable {variables.HSA_OVERRIDE.name}={text!r}: expected gfx942 or 9.4.2")
    return f"gfx{major}{minor:x}{stepping:x}"


def requested_arch() -> str | None:
    """The architecture that the environment asks for, or None.

    `ARCH` and `FLYDSL_GPU_ARCH` mean the same; `HSA_OVERRIDE_GFX_VERSION` counts when neither is set. Raises ValueError
    for a value that is no architecture, and when the first two are both set and differ.
    """
    found = _compiled_for.get()
    if found is not None:
        return found
    arch, gpu_arch = variables.ARCH.get(), variables.GPU_ARCH.get()
    if arch and gpu_arch and arch != gpu_arch:
        raise ValueError(
            f"environment variables ARCH={arch!r} and FLYDSL_GPU_ARCH={gpu_arch!r} mean the same thing but differ: "
            "set one of them, or both to the same architecture"
        )
    if arch:
        return _checked(arch, "ARCH")
    if gpu_arch:
        return _checked(gpu_arch, "FLYDSL_GPU_ARCH")
    override = variables.HSA_OVERRIDE.get()
    return _from_version(override) if override else None
