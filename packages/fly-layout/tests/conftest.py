# SPDX-License-Identifier: Apache-2.0
"""Makes the helper modules of the tests importable, and sets hypothesis up."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "default",
    max_examples=80,
    deadline=None,
    derandomize=True,  # the same examples in every run: a gate is no place for luck
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=3000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
