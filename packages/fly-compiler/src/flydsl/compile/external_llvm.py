# SPDX-License-Identifier: Apache-2.0
"""Device code from another LLVM: `FLYDSL_COMPILE_LLVM_DIR=<prefix>` runs `<prefix>/bin/mlir-opt` for the last step.

The tool gets a module with the device part alone and runs `gpu-module-to-binary`; what comes back takes its place.
`llvm_options` hints become flags of its command line.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flydsl._mlir import ir

from .content_hash import file_hash

__all__ = ["ExternalLLVMError", "external_llvm_fingerprint", "run_external_binary"]

_TIMEOUT = 600.0


class ExternalLLVMError(RuntimeError):
    """The external LLVM is not there, or failed; the text has its command and output."""


def tool(prefix: str) -> Path:
    """Return the `mlir-opt` below a prefix.

    Raises:
        ExternalLLVMError: there is none that can be run.
    """
    path = Path(prefix).expanduser() / "bin" / "mlir-opt"
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ExternalLLVMError(
            f"FLYDSL_COMPILE_LLVM_DIR={prefix}: there is no program {path}. Set it to the prefix of an LLVM with MLIR, "
            "or unset it to compile with the LLVM of this wheel"
        )
    return path


def external_llvm_fingerprint(prefix: str) -> str:
    """Return a hash of the tool's content; it is part of every cache key."""
    return file_hash(tool(prefix))


def run_external_binary(
    module: ir.Module,
    text: str,
    *,
    prefix: str,
    environment: Callable[[Path], dict[str, str]],
    options: Mapping[str, Any] | None = None,
) -> None:
    """Replace the `gpu.module` of a lowered module by the `gpu.binary` that the external tool makes of it.

    Args:
        module: as before `gpu-module-to-binary`.
        text: that pass, as the pass manager's text.
        prefix: of the LLVM.
        environment: gives the tool's environment variables; it may put files in the folder that it gets.
        options: LLVM options: name to bool, int or text.

    Raises:
        ExternalLLVMError: the tool is not there, fails, or gives something else.
    """
    program = tool(prefix)
    (device,) = (op.operation for op in module.body.operations if op.operation.name == "gpu.module")
    flags = [
        f"--{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in (options or {}).items()
    ]
    source = "module attributes {gpu.container_module} {\n" + device.get_asm(enable_debug_info=True) + "\n}\n"
    with tempfile.TemporaryDirectory(prefix="flydsl-llvm-") as folder:
        path = Path(folder) / "device.mlir"
        path.write_text(source, encoding="utf-8")
        command = [str(program), f"--pass-pipeline=builtin.module({text})", *flags, str(path)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIMEOUT,
                env=environment(Path(folder)),
            )
        except subprocess.TimeoutExpired:
            raise ExternalLLVMError(f"{' '.join(command)} took more than {_TIMEOUT:.0f} s") from None
    if done.returncode != 0:
        raise ExternalLLVMError(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr.strip()}")
    _replace(module, device, done.stdout, program)


def _replace(module: ir.Module, device: ir.Operation, text: str, program: Path) -> None:
    try:
        made = ir.Module.parse(text, module.context)
        (binary,) = (op.operation for op in made.body.operations if op.operation.name == "gpu.binary")
    except (ir.MLIRError, ValueError) as error:
        raise ExternalLLVMError(f"{program} gave no device binary that this version understands: {error}") from None
    binary.move_before(device)
    device.erase()
