# SPDX-License-Identifier: Apache-2.0
"""What traced code may have read from Python, and whether it still is what it was (docs/cache.md)."""

from .reach import Reach
from .receiver import state_of
from .watch import Watch, source_digest

__all__ = ["Reach", "Watch", "source_digest", "state_of"]
