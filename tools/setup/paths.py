# SPDX-License-Identifier: Apache-2.0
"""Where things are: the repository, and the caches that outlive a clone."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "packages"
BUILD = ROOT / "build"  # native build trees and wheels of this clone


def cache_dir() -> Path:
    """The folder shared by all clones of this user: bootstrap tools, LLVM's binding sources, ccache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "flydsl-dev"
    path.mkdir(parents=True, exist_ok=True)
    return path
