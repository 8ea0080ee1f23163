# SPDX-License-Identifier: Apache-2.0
"""Fault injection: the n-th operation fails, n = 1, 2, 3, …, until a run has no n-th one; as SQLite tests itself.

`run(script)` starts a Python process with `shim.c` preloaded. In the process, `sweep(kind, operation, check)` does the
rest. Kinds:

- FILES: open, read, write, rename, mkdir, lock, map, … fail once, with the errno that is asked for.
- DISK: what a full disk makes fail (write, create, rename, …) fails from the n-th one on.
- MEMORY: allocations of loaded libraries (`library=`) fail once, those of `operator new` included.
- THREADS: starting a thread fails once.
- HIP: calls of the device library fail once (`run(script, hip=True)`).

After each failure the process must live, the exception be one that says what happened, and `check` (what must be true
of the files, and of the next call) hold.
"""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
FILES, DISK, MEMORY, THREADS, HIP = 1, 2, 3, 4, 5

EXPECTED = (OSError, MemoryError, RuntimeError, ImportError)
"""What an operation may raise whose environment fails. Anything else (TypeError, SystemError, …) is a bug of ours."""
_MOST = 20_000


def build(folder: Path) -> Path:
    """Compile the shims into a folder."""
    for name in ("shim", "hip_shim"):
        output = folder / f"{name}.so"
        command = ["cc", "-O1", "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", str(HERE / f"{name}.c")]
        # The C++ library, whose functions are wrapped, is to be behind the shim for everybody.
        libraries = ["-ldl", "-pthread", "-Wl,--no-as-needed", "-l:libstdc++.so.6"]
        subprocess.run([*command, "-o", str(output), *libraries], check=True)
    return folder


def run(
    shims: Path, script: str, *, hip: bool = False, timeout: float = 300, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python process that sweeps; its exit status is not 0 when anything was wrong."""
    environment = {**os.environ, **variables, "LD_PRELOAD": str(shims / "shim.so"), "PYTHONPATH": str(HERE)}
    if hip:
        from flydsl.runtime import current_device

        environment |= {"FLYDSL_HIP_LIBRARY": str(shims / "hip_shim.so"), "FAULT_HIP_LIBRARY": current_device().library}
    path = shims / f"script-{os.getpid()}.py"
    path.write_text(textwrap.dedent(script))
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def sweep(
    kind: int,
    operation: Callable[[], object],
    check: Callable[[], object],
    *,
    error: int = errno.EIO,
    library: str = "",
    step: int = 1,
    expected: tuple[type[BaseException], ...] = EXPECTED,
) -> Counter[str]:
    """Let each operation of a kind fail in turn, and return how often what came of it (an exception's name, or "").

    Args:
        kind: of the operations.
        operation: what is tried. It must do all its work anew each time.
        check: called after each failure; raises when something was lost, or the next call does not work.
        error: the errno.
        library: MEMORY: a part of the name of the library whose allocations fail.
        step: 1: every operation; more: every so many-th one.
        expected: what may be raised.

    Raises:
        AssertionError: there were no operations at all, or an exception of another kind came.
    """
    shim = ctypes.CDLL(None)
    if kind == MEMORY and not shim.fault_library(library.encode()):
        raise AssertionError(f"no library {library!r} is loaded")
    outcomes: Counter[str] = Counter()
    for number in range(1, _MOST, step):
        outcome = ""
        shim.fault_arm(kind, ctypes.c_long(number), error, int(kind == DISK))
        try:
            operation()
        except expected as caught:
            outcome = type(caught).__name__
        except BaseException as caught:
            shim.fault_disarm()
            raise AssertionError(f"operation {number}: {type(caught).__name__}: {caught}") from caught
        if not shim.fault_disarm():
            assert outcomes, "no operation of this kind was made"
            return outcomes
        try:
            check()
        except BaseException as caught:
            raise AssertionError(f"after operation {number} ({outcome or 'no error'}): {caught!r}") from caught
        outcomes[outcome] += 1
    raise AssertionError(f"more than {_MOST} operations")
