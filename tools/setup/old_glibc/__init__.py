# SPDX-License-Identifier: Apache-2.0
"""What makes a native library run on systems that are older than this machine: an old glibc to link with.

The library is compiled as always and linked with stubs of glibc 2.28, which zig makes; so it asks for no symbol of a
later version. `newer_functions.c` has the few that this machine's libstdc++ and libgcc take from a newer one.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from pathlib import Path

from .. import debian, environments
from ..paths import cache_dir
from ..shell import SetupError, run

__all__ = ["PLATFORM", "link_folder"]

VERSION = "2.28"  # that of RHEL 8; Debian 10 and Ubuntu 20.04 have it or a later one
PLATFORM = f"manylinux_{VERSION.replace('.', '_')}_{platform.machine()}"
"""The platform tag of wheels whose libraries are linked so."""

_NEWER = Path(__file__).with_name("newer_functions.c")
# What the linker finds as -lNAME. Before 2.34 these are libraries of their own.
_LINKED = ("m", "pthread", "dl", "rt", "util", "resolv")


def link_folder() -> Path:
    """The folder to give to the linker with -L; made on first use.

    Raises:
        SetupError: on another processor than x86-64, or if zig made something else than expected.
    """
    if platform.machine() != "x86_64":
        raise SetupError(f"release wheels are built on x86-64 only, not on {platform.machine()}")
    lock = environments.LOCKS / "release.txt"
    made_from = hashlib.sha256(b"\0".join(file.read_bytes() for file in (lock, _NEWER, Path(__file__)))).hexdigest()
    folder = cache_dir() / f"glibc-{VERSION}-{made_from[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = Path(scratch, "made")
            made.mkdir()
            _stubs(Path(scratch), made)
            _newer_functions(made)
            names = ("libc.so.6", "libc_nonshared.a", "libnewer.a")
            rest = (path.name for path in sorted(made.glob("*.so.*")) if path.name not in {"libc.so.6", "libm.so.6"})
            (made / "libc.so").write_text(f"GROUP ( {' '.join(names)} AS_NEEDED ( {' '.join(rest)} ) )\n")
            try:
                made.rename(folder)
            except OSError:  # another process was faster
                if not folder.is_dir():
                    raise
    return folder


def _stubs(scratch: Path, made: Path) -> None:
    """The stubs, which zig makes for each link and keeps in its cache."""
    source = scratch / "empty.c"
    source.write_text("int flydsl_empty;\n")
    cache = scratch / "zig"
    run(
        [environments.environment("release") / "bin" / "python", "-m", "ziglang", "cc", "-target",
         f"x86_64-linux-gnu.{VERSION}", "-shared", "-fPIC", source, "-o", scratch / "empty.so"],
        what=f"making stubs of glibc {VERSION}",
        env={"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)},
    )  # fmt: skip
    for path in (*cache.glob("o/*/lib*.so.*"), *cache.glob("o/*/libc_nonshared.a")):
        shutil.copy(path, made)
    for name in _LINKED:
        stubs = [path.name for path in made.glob(f"lib{name}.so.*")]
        if len(stubs) != 1:
            raise SetupError(f"zig made {stubs or 'no stub'} of lib{name} for glibc {VERSION}, not one stub")
        os.symlink(stubs[0], made / f"lib{name}.so")


def _newer_functions(made: Path) -> None:
    compiled = made.parent / "newer_functions.o"
    run(
        [f"clang-{debian.LLVM}", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", _NEWER, "-o", compiled],
        what=f"compiling what glibc {VERSION} lacks",
    )
    run([f"llvm-ar-{debian.LLVM}", "rcs", made / "libnewer.a", compiled], what=f"compiling what glibc {VERSION} lacks")
