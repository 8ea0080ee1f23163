# SPDX-License-Identifier: Apache-2.0
"""The tests of this folder share nothing with the user's cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    """No test sees artifacts of another, nor the user's."""
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))
