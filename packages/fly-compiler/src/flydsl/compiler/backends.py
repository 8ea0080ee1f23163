# SPDX-License-Identifier: Apache-2.0
"""Compile backends."""

from flydsl.compile.backends import *  # noqa: F403
from flydsl.compile.backends import __all__ as __all__
