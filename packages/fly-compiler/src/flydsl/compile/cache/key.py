# SPDX-License-Identifier: Apache-2.0
"""What names an artifact: the program that was traced, with everything that a pass can see of it."""

from __future__ import annotations

import hashlib
import io
import re

from flydsl._mlir import ir

__all__ = ["digest_of", "module_digest"]


def digest_of(*texts: str) -> str:
    """Return the hash of some texts, each set off from the next."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


# A cell of a notebook gets another name each time that it runs; in its line tables that says nothing to anybody.
_CELL = re.compile(r"[^\"]*/ipykernel_\d+/\d+\.py|<ipython-input-\d+-\w+>")
_CELL_MARKS = (b"/ipykernel_", b"<ipython-input-")


def module_digest(module: ir.Module) -> str:
    """Return a hash of a module: of its bytecode, which has operations, types, attributes and source locations.

    Equal programs have equal bytecode in every process, and writing it takes a fraction of the time of a text. Programs
    from notebooks are hashed as text, in which the names of cells are made equal.
    """
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    bytecode = file.getvalue()
    if any(mark in bytecode for mark in _CELL_MARKS):
        text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
        bytecode = _CELL.sub("<cell>", text).encode("utf-8", "surrogatepass")
    return hashlib.sha256(bytecode).hexdigest()
