# SPDX-License-Identifier: Apache-2.0
"""Locks of the packages are those of `flydsl.runtime.forks`: a process that was forked off can take them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}
HOME = ROOT / "packages/fly-runtime/src/flydsl/runtime/forks.py"


def locks_of(path: Path) -> list[str]:
    """Return where a file names a lock of Python's."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            named = {node.attr} & LOCKS if node.value.id == "threading" else set()
        elif isinstance(node, ast.ImportFrom) and node.module == "threading":
            named = {one.name for one in node.names} & LOCKS
        else:
            named = set()
        found += [f"{path.relative_to(ROOT)}:{node.lineno}: {one}" for one in named]
    return found


def test_no_lock_stays_locked_in_a_process_that_was_forked_off():
    sources = [one for one in ROOT.glob("packages/*/src/**/*.py") if one != HOME]
    assert len(sources) > 100
    assert [found for path in sources for found in locks_of(path)] == []
    assert locks_of(HOME)
