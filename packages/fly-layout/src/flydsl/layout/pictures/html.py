# SPDX-License-Identifier: Apache-2.0
"""Pictures as HTML."""

from __future__ import annotations

from xml.sax.saxutils import escape

from .grid import Picture

__all__ = ["to_fragment", "to_html"]


def to_fragment(picture: Picture) -> str:
    """A ``figure`` element with the SVG inside."""
    return f'<figure style="margin:0;overflow:auto">{picture.svg()}</figure>'


def to_html(picture: Picture) -> str:
    """A standalone page: the picture, zoomable by the browser, and its text form for copying."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(picture.caption)}</title>"
        "<style>body{font-family:system-ui,sans-serif;margin:1.5rem;color:#111;background:#fff}"
        "figure{margin:0;overflow:auto}pre{overflow:auto;font-size:.85rem}</style></head><body>"
        f"{to_fragment(picture)}<details><summary>as text</summary><pre>{escape(picture.text())}</pre></details>"
        "</body></html>\n"
    )
