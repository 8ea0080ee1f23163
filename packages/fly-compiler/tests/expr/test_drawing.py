# SPDX-License-Identifier: Apache-2.0
"""Pictures of what a kernel computes with: `fx.utils.draw` and its relatives."""

import io
import sys
from types import SimpleNamespace

import pytest
from tracing import kernel

import flydsl.expr as fx
import flydsl.layout as host
from flydsl.layout import atoms, pictures

SWIZZLED = "S<2,0,3> o 0 o (4,8):(8,1)"


def swizzled():
    return fx.make_composed_layout(fx.make_swizzle(2, 0, 3), fx.make_layout((4, 8), (8, 1)))


def tiled_copy():
    atom = fx.make_copy_atom(fx.UniversalCopy(32), fx.Float16)
    return fx.make_tiled_copy_tv(atom, fx.make_layout((4, 4), (4, 1)), fx.make_layout((1, 2), (2, 1)))


@pytest.mark.parametrize(
    ("make", "same"),
    [
        (lambda: fx.make_layout((2, 4), (4, 1)), "(2,4):(4,1)"),
        (lambda: fx.make_layout(((2, 2), 4), ((1, 8), 2)), "((2,2),4):((1,8),2)"),
        (swizzled, SWIZZLED),
        (lambda: fx.make_identity_layout((2, 3)), "(2,3):(1E0,1E1)"),
        (lambda: fx.make_view(0, fx.make_layout((2, 3), (3, 1))), "(2,3):(3,1)"),
    ],
)
def test_layouts_are_drawn_as_those_of_the_library(capsys, make, same):
    with kernel() as k:
        value = make()
        before = k.ir()
        fx.utils.draw(value)
        assert k.ir().count("\n") - before.count("\n") <= 1  # a tensor's layout is taken; nothing else is built
    assert capsys.readouterr().out == pictures.show(host.parse(same)).text() + "\n"


def test_tiled_copies_show_both_sides(capsys):
    with kernel():
        copy = tiled_copy()
        fx.utils.draw(copy)
        out = capsys.readouterr().out
        for side in ("src", "dst"):
            title = f"universal_copy, {side}\n"
            assert pictures.ownership(copy.described, side=side).text().partition("\n\n")[0] in out
            assert title in out
        fx.utils.draw(copy.atom)
        assert [f"{side}, (1,2):(1,1)" in capsys_line for side, capsys_line in _titles(capsys)] == [True, True]
        fx.utils.draw_tv(copy.layout_tv_tiled, (4, 8))
        assert "3 | T12 V0 T12 V1 T13 V0" in capsys.readouterr().out


def _titles(capsys):
    grids = capsys.readouterr().out.split("\n\n")
    return list(zip(("src", "dst"), (grid.splitlines()[0] for grid in grids), strict=False))


def test_mmas_show_their_operands():
    with kernel():
        mma = fx.make_tiled_mma(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        for value in (mma, mma.mma_atom, mma.described):
            grids = fx.utils.picture(value).grids
            assert [grid.title[0] for grid in grids] == ["A", "B", "C"]
            assert all(len(grid.rows) == len(grid.rows[0]) == 16 for grid in grids)
            cells = [" ".join(cell.lines) for row in grids[2].rows for cell in row]
            assert len(set(cells)) == 256  # 64 threads with 4 values each
            assert "T63 V3" in cells


def test_values_of_the_library_outside_of_a_trace(capsys):
    fx.utils.draw(host.make_layout((2, 2), (2, 1)))
    assert "1 | 2 3" in capsys.readouterr().out
    fx.utils.draw(fx.make_layout((2, 2), (2, 1)))
    assert "1 | 2 3" in capsys.readouterr().out
    instruction = atoms.matrix_instructions("gfx942")[0]
    assert len(fx.utils.picture(instruction).grids) == 3


def test_files(tmp_path):
    with kernel():
        for suffix, start in ((".svg", "<svg"), (".html", "<!DOCTYPE html>"), (".txt", SWIZZLED), (".tex", "")):
            fx.utils.draw(swizzled(), file=tmp_path / f"layout{suffix}")
            fx.utils.draw(swizzled(), file=str(tmp_path / f"text{suffix}"))
            text = (tmp_path / f"layout{suffix}").read_text()
            assert text
            assert text.startswith(start)
            assert text == (tmp_path / f"text{suffix}").read_text()
        opened = io.StringIO()
        fx.utils.draw_tv(tiled_copy().layout_tv_tiled, (4, 8), file=opened)
        assert opened.getvalue().startswith("<svg")
        with pytest.raises(ValueError, match=r"the suffix is none of \.svg"):
            fx.utils.draw(swizzled(), file=tmp_path / "layout.png")


@pytest.mark.parametrize("shell", ["notebook", "terminal"])
def test_notebooks_display_and_terminals_print(monkeypatch, capsys, shell):
    shown = []
    running = SimpleNamespace(kernel=object()) if shell == "notebook" else SimpleNamespace()
    display = SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: running, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with kernel():
        assert fx.utils.draw(swizzled()) is None
    printed = capsys.readouterr().out
    if shell == "terminal":
        assert (shown, printed[:5]) == ([], SWIZZLED[:5])
        return
    assert printed == ""
    (one,) = shown
    assert one._repr_svg_().startswith("<svg")
    assert "<svg" in one._repr_html_()


def test_parts_of_large_layouts():
    with kernel():
        large = fx.make_layout((1024, 1024), (1024, 1))
        with pytest.raises(ValueError, match=r"1024 x 1024 cells are more than 16384.*max_rows"):
            fx.utils.draw(large)
        assert len(fx.utils.picture(large, max_rows=4, max_cols=8).grids[0].rows) == 4


@pytest.mark.parametrize("function", ["draw", "draw_tv", "print_typst"])
def test_dynamic_layouts_have_no_picture(function):
    with kernel("i32") as k:
        layout = fx.make_layout((fx.Int32(k.args[0]), 4), (4, 1))
        more = ((4, 4),) if function == "draw_tv" else ()
        with pytest.raises(ValueError, match=r"only static layouts can be drawn; Layout<\(\?,4\):\(4,1\)> is known"):
            getattr(fx.utils, function)(layout, *more)
    with pytest.raises(ValueError, match="not static"):
        fx.utils.draw(host.make_layout((host.sym("n"), 4)))


def test_dynamic_composed_layouts_have_no_picture():
    with kernel("i32") as k:
        inner = fx.make_layout((fx.Int32(k.args[0]), 8), (8, 1))
        with pytest.raises(ValueError, match=r"ComposedLayout<S<2,0,3> o 0 o \(\?,8\)"):
            fx.utils.draw(fx.make_composed_layout(fx.make_swizzle(2, 0, 3), inner))


def test_what_has_no_picture():
    with kernel():
        with pytest.raises(TypeError, match="of a layout, tensor, atom or tiling, not of 'int'"):
            fx.utils.draw(3)
        for swizzle in (fx.make_swizzle(3, 3, 3), host.Swizzle(3, 3, 3)):
            with pytest.raises(TypeError, match="not of 'Swizzle'; compose it with a layout"):
                fx.utils.draw(swizzle)
        with pytest.raises(ValueError, match="lies outside the tile"):
            fx.utils.draw_tv(tiled_copy().layout_tv_tiled, (2, 8))
        with pytest.raises(ValueError, match="two modes"):
            fx.utils.draw_tv(fx.make_layout(4, 1), (2, 2))
