# SPDX-License-Identifier: Apache-2.0
"""The C library of the runtime, through ctypes: loaded on first use, never at import."""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import DeviceError, LaunchError, OutOfMemoryError
from .forks import new_lock, undivided, watch_native_calls

SONAME = "libflydsl_runtime.so.0"
EMULATOR = "libfly_emulator.so"
_ROOT = Path(__file__).resolve().parent
OK, TYPE, VALUE, MEMORY, LAUNCH = 0, 1, 2, 4, 5  # FlyStatus

_OUTPUT = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_uint64)


def _write(text: Any, size: int) -> None:
    """Write what kernels printed to Python's standard output: a notebook, or a test, may have replaced it."""
    sys.stdout.write(ctypes.string_at(text, size).decode(errors="replace"))
    sys.stdout.flush()


_write_output = _OUTPUT(_write)

_lock = new_lock()
_library: ctypes.CDLL | None = None


def library_path() -> Path:
    """The runtime's C library, which artifacts and C++ programs link.

    Raises FileNotFoundError when this is a source tree that was not installed.
    """
    path = _ROOT / "lib" / SONAME
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: flydsl.runtime is imported from a source tree. Install the wheel "
            "(pip install fly-runtime) and take the source tree off PYTHONPATH."
        )
    return path


def include_dir() -> Path:
    """The folder to put on a C or C++ compiler's include path for `flydsl/runtime.h`."""
    return _ROOT / "include"


def _emulator_library() -> Path | None:
    """Where the wheel fly-emulator has its library; None when that wheel is not installed.

    Nothing of that wheel is imported: its library lies at a fixed place in it, as that of a vendor does on a machine.
    Raises FileNotFoundError when it does not, or when FLYDSL_EMULATOR_LIBRARY names no file.
    """
    found = importlib.util.find_spec("flydsl.emulator")
    if found is None:
        return None
    chosen = os.environ.get("FLYDSL_EMULATOR_LIBRARY")
    places = [chosen] if chosen else [f"{folder}/lib/{EMULATOR}" for folder in found.submodule_search_locations or ()]
    for place in places:
        if os.path.isfile(place):
            return Path(place).resolve()
    raise FileNotFoundError(
        f"the emulator's shared library is missing; tried {', '.join(places)}. "
        + ("FLYDSL_EMULATOR_LIBRARY names it" if chosen else "Reinstall fly-emulator (pip install fly-emulator)")
    )


def _watch_calls(library: ctypes.CDLL) -> None:
    """Have forks wait for other threads' calls of the library."""
    library.flydsl_fork_begin.argtypes = (ctypes.c_uint32, ctypes.c_void_p)
    library.flydsl_fork_begin.restype = None
    library.flydsl_fork_end.restype = None
    # Who has the interpreter is let in: the thread that forks needs it to go on.
    has_interpreter = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p)

    def begin(milliseconds: int) -> Callable[[], None]:
        library.flydsl_fork_begin(milliseconds, has_interpreter)
        end: Callable[[], None] = library.flydsl_fork_end
        return end

    watch_native_calls(begin)


def _open() -> ctypes.CDLL:
    # Global, so that an artifact's need for the soname is met by this very copy.
    library = ctypes.CDLL(str(library_path()), mode=ctypes.RTLD_GLOBAL)
    int32_pointer = ctypes.POINTER(ctypes.c_int32)
    signatures: dict[str, tuple[Any, ...]] = {
        "flydsl_artifact_check": (ctypes.c_void_p,),
        "flydsl_load_module": (ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)),
        "flydsl_load_ahead": (ctypes.c_void_p,),
        "flydsl_load_ptx_ahead": (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64),
        "flydsl_max_active_blocks": (
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.c_int64,
            ctypes.c_int64,
            int32_pointer,
        ),
        "flydsl_set_emulator_library": (ctypes.c_char_p,),
        "flydsl_set_emulated_devices": (ctypes.c_char_p,),
        "flydsl_device_count": (int32_pointer,),
        "flydsl_get_device": (int32_pointer,),
        "flydsl_set_device": (ctypes.c_int32,),
        "flydsl_describe": (ctypes.POINTER(ctypes.c_char_p),),
        "flydsl_synchronize": (ctypes.c_void_p,),
        "flydsl_synchronize_device": (),
        "flydsl_malloc": (ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint64),
        "flydsl_free": (ctypes.c_void_p,),
        "flydsl_copy": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64),
    }
    for name, arguments in signatures.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int32
    library.flydsl_set_output.argtypes = (_OUTPUT,)
    library.flydsl_set_output.restype = None
    library.flydsl_set_output(_write_output)
    _watch_calls(library)
    library.flydsl_finish_loading.restype = None
    library.flydsl_last_error.restype = ctypes.c_char_p
    library.flydsl_last_error_launched.restype = ctypes.c_int32
    library.flydsl_last_error_argument.restype = ctypes.c_int32
    library.flydsl_version.restype = ctypes.c_char_p
    emulator = _emulator_library()
    if emulator is not None:
        library.flydsl_set_emulator_library(str(emulator).encode())
    return library


def load() -> ctypes.CDLL:
    """The C library, opened once per process."""
    global _library
    if _library is None:
        with undivided(), _lock:
            if _library is None:
                _library = _open()
    return _library


def begin_loading(artifact: int | None) -> None:
    """Have an artifact loaded in a thread of the library's, or with None the driver's compiler.

    Whoever needs the result does the same and is told what fails. The process ends only when those threads are through.
    """
    _finishing().flydsl_load_ahead(artifact)


def begin_loading_ptx(arch: str, ptx: bytes) -> None:
    """The same for PTX that an artifact will hold, and take loaded."""
    _finishing().flydsl_load_ptx_ahead(arch.encode(), ptx, len(ptx))


@functools.cache
def _finishing() -> ctypes.CDLL:
    """The C library, with Python's end waiting for its threads."""
    library = load()
    atexit.register(library.flydsl_finish_loading)
    return library


def last_error() -> str:
    """The text of this thread's last failure."""
    text: bytes = load().flydsl_last_error()
    return text.decode(errors="replace")


def launched() -> bool:
    """Whether the call that failed last on this thread had given the device any work."""
    return bool(load().flydsl_last_error_launched())


def refused_argument() -> int:
    """The argument, from 0, that the call which failed last on this thread refused; -1 for none."""
    argument: int = load().flydsl_last_error_argument()
    return argument


def check(status: int) -> None:
    """Raise what a status of the C interface stands for (errors.py)."""
    if status == OK:
        return
    kinds = {TYPE: TypeError, VALUE: ValueError, MEMORY: OutOfMemoryError, LAUNCH: LaunchError}
    raise kinds.get(status, DeviceError)(last_error())
