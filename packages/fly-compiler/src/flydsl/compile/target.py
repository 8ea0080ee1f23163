# SPDX-License-Identifier: Apache-2.0
"""What is compiled for: the architecture, and the settings of the environment that change the result."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from threading import get_ident
from typing import Any, NamedTuple

from flydsl.frontend.control.audit import heard
from flydsl.utils import env

__all__ = ["Environment", "Settings", "environment", "environment_token", "settings"]

# Every variable that changes what a call does. `os.environ` encodes and decodes each access; a call that is compiled
# already has a budget of microseconds, so the bytes underneath are compared.
_VARIABLES = (
    "ARCH",
    "FLYDSL_GPU_ARCH",
    "HSA_OVERRIDE_GFX_VERSION",
    "FLYDSL_COMPILE_OPT_LEVEL",
    "FLYDSL_COMPILE_BACKEND",
    "FLYDSL_COMPILE_LLVM_DIR",
    "FLYDSL_PTXAS",
    "FLYDSL_DEBUG_ENABLE_DEBUG_INFO",
    "FLYDSL_DEBUG_MAX_LOC_DEPTH",
    "FLYDSL_EXTRA_SOURCE_DIRS",
    "COMPILE_ONLY",
    "FLYDSL_EMU_SANITIZE",
    "FLYDSL_KTRACE_ENABLE",
    "FLYDSL_KTRACE_BUFFER_BYTES",
    "FLYDSL_KTRACE_BLOCKS",
)
_raw: Any = getattr(os.environ, "_data", None)
_keys: tuple[Any, ...] = tuple(os.environ.encodekey(name) for name in _VARIABLES) if _raw is not None else ()


def environment_token() -> tuple[Any, ...]:
    """Return the present values of all variables that matter, as something to compare and hash."""
    return tuple(map(os.environ.get, _VARIABLES)) if _raw is None else tuple(map(_raw.get, _keys))


class Environment:
    """The variables that matter, as one number, with a test that they are what they were.

    Reading and hashing them costs a quarter of a compiled call. Few are set, and the others being absent is one look-up
    each: to see that the environment is the last one costs half of that, and to see that nobody has set any variable
    since it was seen costs next to nothing.

    Attributes:
        last: the number of the environment that was seen last, and `heard.settings` then; -1 while a thread may not
            have finished with what it sets. It is replaced as a whole.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._values: Any = os.environ if _raw is None else _raw
        self._is_disjoint: Callable[[Iterable[Any]], bool] = self._values.keys().isdisjoint
        # Names that are not set, what gets the others, their values, and the number.
        self._known: tuple[tuple[Any, ...], Callable[[Any], Any], Any, int]
        self.last: tuple[int, int]
        self.number()

    def number(self) -> int:
        """Return the number of the present values; the same values have the same number."""
        token = environment_token()
        number = self._numbers.setdefault(token, len(self._numbers))
        found = list(zip(_VARIABLES if _raw is None else _keys, token, strict=True))
        absent = tuple(name for name, value in found if value is None)
        names, held = [name for name, _ in found if name not in absent], [value for value in token if value is not None]
        # What an itemgetter gives of one name is no tuple.
        get = operator.itemgetter(*names) if names else _nothing
        self._known = absent, get, held[0] if len(held) == 1 else tuple(held), number
        self.last = number, -1
        return number

    def is_still(self, number: int) -> bool:
        """Tell whether the environment is that of a number of `last`. Raises `KeyError` where a variable is gone."""
        settings = heard.settings  # before anything is looked at
        absent, get, held, known = self._known
        if known != number or not self._is_disjoint(absent) or get(self._values) != held:
            return False
        if heard.tried and _TELLS:
            heard.setting.discard(get_ident())
            if not heard.setting:
                self.last = number, settings
        return True


_TELLS = not hasattr(os, "reload_environ")
"""Python 3.14 has a function that changes `os.environ` without telling of it."""


def _nothing(_: Any) -> tuple[()]:
    return ()


environment = Environment()


class Settings(NamedTuple):
    """The environment's part of a compilation.

    `key` names everything that the artifact depends on, `backend` the compile backend.
    """

    arch: str
    opt_level: int
    debug_info: bool
    key: str
    compile_only: bool
    backend: str


def marks_uninitialised() -> bool:
    """Return whether the environment asks for the emulator's init sanitizer, which wants marks in the code."""
    return not {"init", "all"}.isdisjoint(os.environ.get("FLYDSL_EMU_SANITIZE", "").replace(" ", "").split(","))


def settings() -> Settings:
    """Return the settings that the environment asks for now.

    Raises:
        ValueError: a variable has a value that is not valid.
        RuntimeError: `FLYDSL_COMPILE_BACKEND` and `FLYDSL_RUNTIME_KIND` do not go together.
    """
    return _settings(environment_token())


@lru_cache(maxsize=64)
def _settings(token: tuple[Any, ...]) -> Settings:
    from flydsl.runtime import ensure_compile_runtime_compatible

    from .backends import compile_backend_name, get_backend
    from .cache.toolchain import extra_sources_hash

    backend = compile_backend_name()
    ensure_compile_runtime_compatible(backend)
    arch = get_backend().target.arch
    opt_level, debug_info = env.compile.opt_level, env.debug.enable_debug_info
    extra = extra_sources_hash(env.compile.extra_source_dirs) if env.compile.extra_source_dirs else ""
    llvm = ""
    if env.compile.llvm_dir:
        from .external_llvm import external_llvm_fingerprint

        llvm = external_llvm_fingerprint(env.compile.llvm_dir)
    assembler = ""
    if env.compile.ptxas:
        from .ptxas import ptxas_fingerprint

        assembler = ptxas_fingerprint(env.compile.ptxas)
    # Kernels whose uninitialised registers are marked are other kernels than those that run otherwise.
    depth = env.debug.max_loc_depth if debug_info else 0
    key = repr((arch, opt_level, debug_info, depth, backend, llvm, assembler, extra, marks_uninitialised()))
    return Settings(
        arch,
        opt_level,
        debug_info,
        key,
        compile_only=env.compile.compile_only,
        backend=backend,
    )
