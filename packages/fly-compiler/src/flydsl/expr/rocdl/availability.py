# SPDX-License-Identifier: Apache-2.0
"""Whether the target has an instruction. Which chips have which is known by the dialect, which asks LLVM."""

from __future__ import annotations

from functools import lru_cache

from flydsl._mlir._mlir_libs._fly_emit import missing_instruction
from flydsl.trace import context as _trace

__all__ = ["check_instruction", "is_available"]

_missing = lru_cache(maxsize=1024)(missing_instruction)


def is_available(operation: str) -> bool:
    """Tell whether the target has the instruction of an op of ROCDL (`rocdl. ...`) or intrinsic (`llvm.amdgcn. ...`).

    One that the dialect does not know is taken to be there: code generation refuses it otherwise.
    """
    return _missing(operation, _trace.target().chip) is None


def check_instruction(operation: str, what: str = "") -> None:
    """Refuse an instruction that the target lacks.

    Args:
        operation: the op of ROCDL (`rocdl. ...`) or the intrinsic (`llvm.amdgcn. ...`).
        what: what the user called; by default the name of the instruction.

    Raises:
        ValueError: names what was asked for, what has it, the target, and what the target has instead.
    """
    arch = _trace.target()
    missing = _missing(operation, arch.chip)
    if missing is None:
        return
    needs, instead = missing
    name = what or operation.removeprefix("rocdl.").removeprefix("llvm.amdgcn.")
    has = f"; it has {instead}" if instead and not arch.nvidia else ""
    raise ValueError(f"{name} needs {needs}, but the kernel is compiled for {arch.name}{has}")
