# SPDX-License-Identifier: Apache-2.0
"""Pictures: right contents in every form, legible colours, sensible sizes, clear errors."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError, parse
from flydsl.layout.atoms import (
    make_tiled_copy_tv,
    make_tiled_mma,
    matrix_instruction,
    mfma,
    universal_copy,
)
from flydsl.layout.pictures import PALETTE, bank_map, color_of, divide, ink_on, ownership, show
from flydsl.layout.pictures.palette import luminance

COPY = make_tiled_copy_tv(universal_copy(64, 16), Layout("(4,8):(8,1)"), Layout("(1,4):(4,1)"))
PICTURES = {
    "1-D": show(Layout("8:2")),
    "2-D": show(Layout("((2,2),8):((1,16),2)")),
    "coordinates": show(fl.make_identity_layout((3, 4))),
    "swizzled": show(parse("S<2,0,3> o 0 o (8,8):(8,1)")),
    "divide": divide(Layout("(8,12):(12,1)"), (4, 6)),
    "divide by a layout": divide(Layout("(4,2,3):(2,1,8)"), Layout("4:2")),
    "banks": bank_map(Layout("(8,64):(64,1)"), 16, compare=parse("S<3,3,3> o 0 o (8,64):(64,1)")),
    "atom": ownership(mfma(16, 16, 16, "f16")),
    "copy": ownership(COPY),
    "tiled mma": ownership(make_tiled_mma(mfma(16, 16, 16, "f16"), Layout((2, 2, 1))), operand="A"),
    "instruction": ownership(matrix_instruction("gfx942", "v_mfma_f32_4x4x4_16b_f16"), operand="A"),
    "bare": ownership(Layout(((2, 4), 4), ((16, 1), 4)), (4, 8)),
}


def svg_texts(svg):
    return [e.text for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", PICTURES)
class TestForms:
    def test_svg_is_well_formed_and_holds_every_cell(self, name):
        picture = PICTURES[name]
        texts = svg_texts(picture.svg())
        for grid in picture.grids:
            assert grid.title in texts
            for row in grid.rows:
                for cell in row:
                    assert cell is None or set(cell.lines) <= set(texts)

    def test_svg_stays_inside_its_frame(self, name):
        root = ET.fromstring(PICTURES[name].svg())
        width, height = float(root.get("width")), float(root.get("height"))
        for e in root.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 <= float(e.get("x")) <= width
            assert 0 <= float(e.get("y")) <= height
        for e in root.iter("{http://www.w3.org/2000/svg}path"):
            for x, y in re.findall(r"M(\d+) (\d+)", e.get("d")):
                assert 0 <= int(x) <= width
                assert 0 <= int(y) <= height

    def test_html_is_standalone(self, name):
        page = PICTURES[name].html()
        tags = []

        class Tags(HTMLParser):
            def handle_starttag(self, tag, attrs):
                tags.append(tag)
                assert not {"src", "href"} & {k for k, _ in attrs}

        Tags().feed(page)
        assert tags[0] == "html"
        assert "svg" in tags
        assert "script" not in tags

    def test_text_has_one_line_per_row(self, name):
        picture = PICTURES[name]
        lines = picture.text().splitlines()
        for grid in picture.grids:
            for row in grid.rows:
                want = [w for c in row if c is not None for line in c.lines for w in line.split()]
                assert any(line.split("|", 1)[-1].replace("|", " ").split() == want for line in lines)

    def test_tikz_is_balanced(self, name):
        tikz = PICTURES[name].tikz()
        assert tikz.count(r"\begin{tikzpicture}") == tikz.count(r"\end{tikzpicture}") == 1
        body = re.sub(r"\\[{}]", "", tikz)
        assert body.count("{") == body.count("}")
        for color in set(re.findall(r"\[(fly\d+)\]", tikz)):
            assert f"\\definecolor{{{color}}}" in tikz


class TestContents:
    def test_cells_are_the_layout(self):
        a = Layout("((2,2),8):((1,16),2)")
        grid = show(a).grids[0]
        assert [[int(c.lines[0]) for c in row] for row in grid.rows] == [[a(i, j) for j in range(8)] for i in range(4)]
        assert grid.row_breaks == {2}

    def test_more_modes_go_into_the_columns(self):
        a = Layout("(2,3,4):(12,4,1)")
        grid = show(a).grids[0]
        assert [int(c.lines[0]) for c in grid.rows[1]] == [a(1, j, k) for k in range(4) for j in range(3)]

    def test_ownership_names_thread_and_value(self):
        tv = mfma(16, 16, 16, "f16").layout_C_tv
        grid = ownership(mfma(16, 16, 16, "f16")).grids[0]
        for t in range(64):
            for v in range(4):
                n, m = divmod(tv(t, v), 16)
                assert grid.rows[m][n].lines == (f"T{t}", f"V{v}")

    def test_shared_elements_say_how_many_hold_them(self):
        grid = PICTURES["tiled mma"].grids[0]
        assert grid.rows[0][0].lines == ("T0+1", "V0")

    def test_elements_that_nobody_holds_are_gaps(self):
        grid = ownership(Layout((4, 1), (1, 0)), (4, 2)).grids[0]
        assert grid.rows[0][1] is None

    def test_divide_colours_agree(self):
        before, after = PICTURES["divide"].grids
        color = {c.lines: c.color for row in before.rows for c in row}
        assert all(color[c.lines] == c.color for row in after.rows for c in row)
        assert before.row_breaks == {4}
        assert before.col_breaks == {6}

    def test_bank_map(self):
        plain, swizzled = PICTURES["banks"].grids
        assert len({row[0].lines for row in plain.rows}) == 1  # a column lies in one bank
        assert len({row[0].lines for row in swizzled.rows}) == 8

    def test_large_layouts_are_cut_on_request(self):
        grid = show(Layout((1 << 20, 1 << 20)), max_rows=4, max_cols=3).grids[0]
        assert (len(grid.rows), len(grid.rows[0])) == (4, 3)


class TestLegibility:
    def test_text_has_contrast_on_every_colour(self):
        for color in PALETTE:
            a, b = sorted((luminance(color), luminance(ink_on(color))), reverse=True)
            assert (a + 0.05) / (b + 0.05) >= 4.5

    @pytest.mark.parametrize("deficiency", ["protanopia", "deuteranopia", "tritanopia"])
    def test_the_first_eight_differ_for_colour_blind_eyes(self, deficiency):
        # Viénot / Brettel style matrices in linear RGB, from the published simulations (Machado et al. 2009, full).
        matrices = {
            "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
            "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
            "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
        }
        seen = [simulated(c, matrices[deficiency]) for c in PALETTE[:8]]
        for i, a in enumerate(seen):
            for b in seen[:i]:
                assert sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5 > 0.03

    def test_64_by_64_is_small_enough_and_has_a_readable_font(self):
        svg = show(Layout("(64,64):(64,1)")).svg()
        assert len(svg) < 400_000
        assert "11px" in svg
        cells = [t for t in svg_texts(svg) if t == "4095"]
        assert cells

    def test_the_sequence_repeats(self):
        assert color_of(65) == color_of(1)

    @pytest.mark.parametrize("banks", [32, 64])
    def test_every_bank_has_a_colour_of_its_own(self, banks):
        picture = bank_map(Layout((1, banks)), 32, banks=banks)
        fills = dict(re.findall(r"[.](c[0-9]+){fill:(#[0-9a-f]{6})}", picture.svg()))
        cells = re.findall(r'<path class="(c[0-9]+)"', picture.svg())
        assert len({fills[name] for name in cells}) == banks
        colors = dict(re.findall(r"definecolor{(fly[0-9]+)}{HTML}{([0-9A-F]{6})}", picture.tikz()))
        assert len({colors[name] for name in re.findall(r"fill\[(fly[0-9]+)\]", picture.tikz())}) == banks


def simulated(color, matrix):
    linear = []
    for at in (1, 3, 5):
        c = int(color[at : at + 2], 16) / 255
        linear.append(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
    return [sum(m * c for m, c in zip(row, linear)) for row in matrix]


class TestNotebook:
    def test_layouts_show_themselves(self):
        a = Layout("(4,8):(8,1)")
        assert a._repr_svg_().startswith("<svg")
        assert "<svg" in a._repr_html_()
        assert "<svg" in fl.composition(fl.Swizzle(2, 0, 3), a)._repr_html_()
        assert COPY._repr_svg_().startswith("<svg")
        assert show(a)._repr_svg_() == a._repr_svg_()

    def test_symbolic_layouts_show_their_text(self):
        assert parse("(M,8):(8,1)")._repr_svg_() is None
        assert parse("(M,8):(8,1)")._repr_html_() == "<code>(M,8):(8,1)</code>"

    def test_huge_layouts_show_their_corner(self):
        html = Layout((1 << 30, 1 << 10))._repr_html_()
        assert "the first 64 x 64 shown" in html


class TestFiles:
    @pytest.mark.parametrize(
        ("suffix", "start"), [(".svg", "<svg"), (".html", "<!DOCTYPE"), (".tex", "%"), (".txt", "8:2")]
    )
    def test_written_by_suffix(self, tmp_path, suffix, start):
        path = show(Layout("8:2")).write(tmp_path / f"a{suffix}")
        assert path.read_text().startswith(start)

    def test_other_suffixes_are_refused(self, tmp_path):
        with pytest.raises(LayoutError, match=r"none of \.svg"):
            show(Layout(8)).write(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: show(Layout((1 << 10, 1 << 10))), "more than 16384"),
        (lambda: show(parse("(M,8):(8,1)")), "not static"),
        (lambda: show((4, 8)), "no layout"),
        (lambda: ownership(Layout((4, 2))), "give the shape"),
        (lambda: ownership(Layout((4, 2)), (2, 2)), "outside the tile"),
        (lambda: ownership(Layout(4), (2, 2)), "two modes"),
        (lambda: ownership(7), "no thread-value layout"),
        (lambda: ownership(COPY, side="left"), "'src' and 'dst'"),
        (lambda: bank_map(Layout(4), 0), "positive"),
    ],
)
def test_errors(call, words):
    with pytest.raises(LayoutError) as e:
        call()
    assert words in str(e.value)
