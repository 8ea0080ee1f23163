# SPDX-License-Identifier: Apache-2.0
"""A prediction as a page of HTML: one file that needs nothing else, no script and no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flydsl.emulator.predicting import Prediction

_STYLE = """
:root { color-scheme: light dark; --bar: #3b6fb6; --of: #8884; --faint: #8886; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; overflow-wrap: anywhere; margin-bottom: .2rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
.time { font-size: 1.9rem; font-weight: 600; margin: .6rem 0 0; }
.note { opacity: .75; margin: .2rem 0; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid var(--faint); }
th, td { padding: .2rem .7rem .2rem 0; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.code { font-family: ui-monospace, monospace; font-size: .85rem; overflow-wrap: anywhere; }
td.bar { width: 34%; }
.whole { display: flex; height: .8rem; margin-top: .3rem; background: var(--of); overflow: hidden; }
.whole i { display: block; height: 100%; background: var(--bar); }
tr.bound td { font-weight: 600; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .35rem 0 1rem; }
"""
_COLOURS = (
    "#3b6fb6",
    "#d9822b",
    "#4a9d5b",
    "#c0504d",
    "#7f63b8",
    "#8c6d46",
    "#cf6fa8",
    "#777f88",
    "#a8a32c",
    "#36a2b3",
)
_WIDTH, _HEIGHT, _LEFT = 720, 150, 40  # of the chart, pixels


def prediction_page(prediction: Prediction) -> str:
    """The page: time with its error bar, bounds, occupancy over time, and where waves waited for what."""
    low, high = (prediction.seconds * 1e6 * (1 + sign * prediction.error) for sign in (-1, 1))
    occupancy = prediction.data["occupancy"]
    title = f"{prediction.kernel} on {prediction.device}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        '<p class="note">Predicted, not measured.</p>',
        f'<p class="time">{_us(prediction.seconds * 1e6)} &plusmn; {prediction.error:.0%}</p>',
        f"<p>{_us(low)} to {_us(high)}, as nine of ten timings of the calibration with this bound. "
        f"Bound by <b>{escape(prediction.bound)}</b>.</p>",
        f'<p class="note">Clock {prediction.data["clock_ghz"]:.2f} GHz; {occupancy["waves_per_simd"]} waves a SIMD, '
        f"limited by {escape(str(occupancy['limited_by']))}; {prediction.data['groups_per_unit']:.2f} workgroups a "
        "compute unit.</p>",
        *_bounds(prediction),
        *_occupancy(prediction),
        *_waits(prediction),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}: predicted</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _us(microseconds: float) -> str:
    return f"{microseconds:,.4g} &micro;s"


def _bar(shares: Iterable[tuple[str, float, str]]) -> str:
    """Parts of a whole: what each is, its share, its colour."""
    inner = "".join(
        f'<i style="width:{min(share, 1):.2%};background:{colour}" title="{escape(what)} {share:.0%}"></i>'
        for what, share, colour in shares
    )
    return f'<div class="whole">{inner}</div>'


def _bounds(prediction: Prediction) -> list[str]:
    rows = []
    for name, seconds in sorted(prediction.bounds.items(), key=lambda one: -one[1]):
        share = seconds / prediction.seconds
        busy = f"{prediction.busy[name]:.0%}" if name in prediction.busy else ""
        mark = ' class="bound"' if name == prediction.bound else ""
        rows.append(
            f'<tr{mark}><td>{escape(name)}</td><td class="n">{_us(seconds * 1e6)}</td><td class="n">{share:.0%}</td>'
            f'<td class="bar">{_bar([(name, share, "var(--bar)")])}</td><td class="n">{busy}</td></tr>'
        )
    return [
        "<h2>How far each bound is</h2>",
        '<p class="note">The time that the launch would take by one bound alone: a resource that is never idle; '
        "<i>latency</i>, each round as long as a workgroup alone on its compute unit; <i>launch</i>, no workgroups at "
        "all. <i>tail</i> is the time that a last round with less work costs.</p>",
        '<table><tr><th>bound</th><th class="n">alone</th><th class="n">of the time</th><th></th>'
        '<th class="n">busy</th></tr>',
        *rows,
        "</table>",
    ]


def _occupancy(prediction: Prediction) -> list[str]:
    waves = prediction.occupancy_over_time
    most = max(waves, default=0.0)
    if not most:
        return []
    step = (_WIDTH - _LEFT) / len(waves)
    points = [f"{_LEFT},{_HEIGHT}"]
    for i, count in enumerate(waves):
        y = _HEIGHT * (1 - count / most)
        points += [f"{_LEFT + i * step:.1f},{y:.1f}", f"{_LEFT + (i + 1) * step:.1f},{y:.1f}"]
    points.append(f"{_WIDTH},{_HEIGHT}")
    return [
        "<h2>Waves in flight over time</h2>",
        '<p class="note">Waves on a SIMD, mean of the device.</p>',
        f'<svg viewBox="0 -14 {_WIDTH} {_HEIGHT + 40}" width="100%" role="img" aria-label="waves on a SIMD over time">',
        f'<polygon points="{" ".join(points)}" fill="var(--bar)" fill-opacity=".55"/>',
        f'<path d="M{_LEFT},0 V{_HEIGHT} H{_WIDTH}" fill="none" stroke="currentColor"/>',
        f'<text x="{_LEFT - 6}" y="5" text-anchor="end">{most:.2g}</text>',
        f'<text x="{_LEFT - 6}" y="{_HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{_LEFT}" y="{_HEIGHT + 18}">0</text>',
        f'<text x="{_WIDTH}" y="{_HEIGHT + 18}" text-anchor="end">{_us(prediction.seconds * 1e6)}</text></svg>',
    ]


def _waits(prediction: Prediction) -> list[str]:
    waited = sum(prediction.stalled.values())
    if not waited:
        return ["<h2>What waves waited for</h2>", "<p>Nothing.</p>"]
    reasons = sorted(
        (name for name, cycles in prediction.stalled.items() if cycles), key=prediction.stalled.__getitem__
    )
    colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(reversed(reasons))}

    def shares(cycles: Mapping[str, int], whole: int) -> list[tuple[str, float, str]]:
        return [(name, cycles[name] / whole, colours[name]) for name in colours if cycles.get(name)]

    def row(cycles: Mapping[str, int], *cells: str) -> str:
        own = sum(cycles.values())
        text = ", ".join(f"{escape(name)} {share:.0%}" for name, share, _ in shares(cycles, own or 1) if share >= 0.005)
        code = "".join(f'<td class="code">{escape(cell)}</td>' for cell in cells)
        bar = _bar(shares(cycles, waited))
        return f'<tr><td class="n">{own / waited:.1%}</td>{code}<td class="bar">{bar}{text}</td></tr>'

    key = "".join(f'<i style="background:{colours[name]}"></i>{escape(name)} {share:.0%}'
                  for name, share, _ in shares(prediction.stalled, waited))  # fmt: skip
    return [
        "<h2>What waves waited for</h2>",
        '<p class="note">Shares of the cycles that waves waited, summed over waves of the busiest compute unit.</p>',
        _bar(shares(prediction.stalled, waited)),
        f'<p class="key">{key}</p>',
        "<h2>By source line</h2>",
        '<table><tr><th class="n">share</th><th>line</th><th>reasons</th></tr>',
        *(row(cycles, line) for line, cycles in prediction.stall_reasons),
        "</table>",
        "<h2>By instruction</h2>",
        '<table><tr><th class="n">share</th><th>address</th><th>instruction</th><th>line</th><th>reasons</th></tr>',
        *(
            row(one["stalled"], f"{one['address']:#x}", one["text"], one.get("source", ""))
            for one in prediction.stalled_instructions
        ),
        "</table>",
    ]
