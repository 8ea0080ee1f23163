# SPDX-License-Identifier: Apache-2.0
"""Numbered files of what each stage made, for `FLYDSL_DUMP_IR` and `FLYDSL_DEBUG_DUMP_ASM`."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

from flydsl._mlir import ir
from flydsl.utils import env

from .backends import BaseBackend, DeviceTexts
from .tracing import Compilation

__all__ = ["Dumps", "annotated_isa", "wanted"]


def wanted() -> bool:
    """Tell whether the environment asks for dumps; the disk cache is neither read nor written then."""
    return bool(env.debug.dump_ir or env.debug.dump_asm)


_FILE = r'\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"'
_LINE = r"\s*\.loc\s+(\d+)\s+(\d+)"


def annotated_isa(isa: str) -> str:
    """Return assembly in which a comment, `; kernel.py:17  c[i] = x`, heads what each Python line became."""
    files: dict[str, str] = {}
    lines = []
    shown = None
    for line in isa.splitlines():
        declared = re.match(_FILE, line)
        if declared:
            folder, name = declared.group(2), declared.group(3)
            files[declared.group(1)] = f"{folder}/{name}" if folder and not name.startswith("/") else name
        place = re.match(_LINE, line)
        if place:
            where = (files.get(place.group(1), "?"), int(place.group(2)))
            if where != shown and where[1] > 0:
                source = linecache.getline(*where).strip()
                lines.append(f"; {Path(where[0]).name}:{where[1]}  {source}")
                shown = where
        lines.append(line)
    return "\n".join(lines) + "\n"


class Dumps:
    """The dump folder of one compilation: `<FLYDSL_DUMP_DIR>/<kernel, if there is exactly one, else function>/`."""

    def __init__(self, compilation: Compilation, backend: BaseBackend, opt_level: int) -> None:
        kernels = compilation.kernels
        name = kernels[0].name if len(kernels) == 1 else compilation.entry
        self.folder = Path(env.debug.dump_dir) / name
        self.every_stage = env.debug.dump_ir
        self._backend, self._hints, self._opt_level = backend, compilation.hints, opt_level
        self._number = 0
        self._texts: DeviceTexts

    def stage(self, name: str, module: ir.Module) -> None:
        """Write the module after a stage."""
        if self.every_stage:
            text = module.operation.get_asm(enable_debug_info=env.debug.enable_debug_info)
            self._write(name, ".mlir", text)
        self._number += 1

    def keep_device_code(self, module: ir.Module) -> None:
        """Generate device code once more with its texts; the module is as before the stage that makes it."""
        self._texts = self._backend.device_texts(module, hints=self._hints, opt_level=self._opt_level)

    def device_code(self) -> None:
        """Write LLVM IR and ISA, after the last stage."""
        if self.every_stage:
            self._write("llvm_ir", ".ll", self._texts.llvm_ir)
        self._number += 1
        self._write("final_isa", ".s", annotated_isa(self._texts.isa))

    def _write(self, name: str, suffix: str, text: str) -> None:
        stem = re.sub(r"[^0-9a-zA-Z]+", "_", name).lower()
        path = self.folder / f"{self._number:02d}_{stem}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"[flydsl.compile] dump {name} -> {path}")
