# SPDX-License-Identifier: Apache-2.0
"""MLIR's Python bindings with the dialects and passes of FlyDSL: `ir`, `passmanager`, `dialects`."""

try:
    # MLIR's own initialisation only logs when the second of these fails to load, and goes on without our dialects.
    from ._mlir_libs import _mlir as _mlir
    from ._mlir_libs import _site_initialize_0 as _site_initialize_0
except ImportError as error:
    from flydsl.dialect.doctor import explain

    raise ImportError(explain(error)) from error
