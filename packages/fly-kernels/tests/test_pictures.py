# SPDX-License-Identifier: Apache-2.0
"""The pictures in ``docs/kernels`` are what their script draws, and the pages show all of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "kernels"


@pytest.mark.once
@pytest.mark.skipif(not PAGES.is_dir(), reason="the pages are not beside this package")
def test_pictures_are_fresh_and_used():
    done = subprocess.run(
        [sys.executable, str(PAGES / "draw_kernels.py"), "--check"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.md"))
    used = set(re.findall(r"\(pictures/([\w-]+)\.svg\)", text))
    assert used == {one.stem for one in (PAGES / "pictures").glob("*.svg")}
