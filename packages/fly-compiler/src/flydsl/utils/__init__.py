# SPDX-License-Identifier: Apache-2.0
"""Settings and logging of the compiler."""

from . import env
from .logger import log

__all__ = ["env", "log"]
