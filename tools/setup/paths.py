# SPDX-License-Identifier: Apache-2.0
"""Where things are: the repository, and the caches that outlive a clone."""

from __future__ import annotations

from pathlib import Path

from . import llvm_sources

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "packages"
BUILD = ROOT / "build"  # native build trees and wheels of this clone


def cache_dir() -> Path:
    """The folder shared by all clones of this user: bootstrap tools, LLVM's binding sources, ccache."""
    path = llvm_sources.default_cache()
    path.mkdir(parents=True, exist_ok=True)
    return path
