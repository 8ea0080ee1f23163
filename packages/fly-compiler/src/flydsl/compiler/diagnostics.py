# SPDX-License-Identifier: Apache-2.0
"""Errors of compilations, in lines of the user's source."""

from flydsl.trace.diagnostics import *  # noqa: F403
from flydsl.trace.diagnostics import __all__ as _all

__all__ = sorted(["install_excepthook", *_all])
