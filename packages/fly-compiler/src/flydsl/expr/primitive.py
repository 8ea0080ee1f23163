# SPDX-License-Identifier: Apache-2.0
"""The functions of the language under a compatibility path; all are names of `flydsl.expr`."""

from .compat.forward import forward

__getattr__ = forward(__name__)
