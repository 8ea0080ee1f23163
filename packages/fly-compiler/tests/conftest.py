# SPDX-License-Identifier: Apache-2.0
"""What all tests of the compiler share."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_numbers():
    """Random numbers are those of the test alone, whatever ran before it in this process."""
    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
