# SPDX-License-Identifier: Apache-2.0
"""MLIR's Python bindings with the dialects and passes of FlyDSL: `ir`, `passmanager`, `dialects`."""

import ctypes


def _refuse_subinterpreters() -> None:
    """The bindings keep one state per process; a second interpreter that loaded them would end it."""
    here, main = ctypes.pythonapi.PyInterpreterState_Get, ctypes.pythonapi.PyInterpreterState_Main
    here.restype = main.restype = ctypes.c_void_p
    if here() != main():
        raise ImportError(
            "FlyDSL's compiler works in the main interpreter of a process, not in a subinterpreter; use threads or "
            "processes instead"
        )


_refuse_subinterpreters()

try:
    # MLIR's own initialisation only logs when the second of these fails to load, and goes on without our dialects.
    from ._mlir_libs import _mlir as _mlir
    from ._mlir_libs import _site_initialize_0 as _site_initialize_0
except ImportError as error:
    from flydsl.dialect.doctor import explain

    raise ImportError(explain(error)) from error
