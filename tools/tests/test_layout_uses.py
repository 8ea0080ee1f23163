# SPDX-License-Identifier: Apache-2.0
"""The pages that count layout operations and list raw accesses are those of the sources as they are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import layout_uses


def test_the_pages_are_of_the_sources():
    for page, text in layout_uses.pages().items():
        assert page.read_text() == text, f"{page.name} is old: tools/bench/layout_uses.py --write"


def test_raw_accesses_are_found():
    text = """
def kernel(base, resource, i):
    x = fx.get_iter(base) + i
    y = (base + i).load()
    z = fx.rocdl.raw_ptr_buffer_load(resource, i)
    w = getattr(fx.rocdl, name)(y)
    fx.copy(atom, x, y)
    copy.copy(x)
"""
    assert sorted(layout_uses.found(text)) == [("layout", 7), ("raw", 3), ("raw", 4), ("raw", 5), ("raw", 6)]
