# SPDX-License-Identifier: Apache-2.0
"""The functions of the language under an established module path; all are names of `flydsl.expr`."""

from .established.forward import forward

__getattr__ = forward(__name__)
