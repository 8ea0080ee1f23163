# SPDX-License-Identifier: Apache-2.0
"""The ``fly-layout`` command. Layouts are read as text; `fly-layout --help` lists the commands."""

from __future__ import annotations

import argparse
import json
import sys

import flydsl.layout as fl

from . import analysis, atoms, linear, pictures
from .errors import LayoutError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["main"]

_DIVIDES = ("logical", "zipped", "tiled", "flat")
_PRODUCTS = ("logical", "zipped", "tiled", "flat", "blocked", "raked")


class _Result:
    """What a command found: its text, the same as data, and a picture if there is one."""

    def __init__(self, text: str, data: dict[str, Any], picture: Callable[[], Any] | None = None) -> None:
        self.text = text
        self.data = data
        self.picture = picture


def _layout(text: str) -> Any:
    """A layout or composed layout; a bare shape is compact."""
    value = fl.parse(text)
    if isinstance(value, fl.LayoutLike):
        return value
    if isinstance(value, (tuple, int, fl.SymInt)):
        return fl.Layout(value)
    raise LayoutError(f"{text!r} is a {type(value).__name__}, not a layout")


def _tiler(text: str) -> Any:
    """A tile in brackets, an integer, or a layout."""
    value = fl.parse(text)
    if isinstance(value, tuple):
        raise LayoutError(f"{text!r} is a shape; write a tile as [4|8] or a layout as (4,8):(8,1)")
    return value


def _of_layout(layout: Any, **more: Any) -> _Result:
    def picture() -> Any:
        return pictures.show(layout)

    text = str(layout)
    return _Result(
        text, {"layout": text, "dialect": fl.to_dialect(layout), "size": _plain(layout.size()), **more}, picture
    )


def _plain(x: Any) -> Any:
    """JSON data: integers and tuples as they are, everything else as text."""
    if isinstance(x, tuple):
        return [_plain(e) for e in x]
    return x if isinstance(x, (int, float, bool)) or x is None else str(x)


# -- commands --------------------------------------------------------------------------------------------------------
def _show(a: argparse.Namespace) -> _Result:
    layout = _layout(a.layout)
    facts = {"rank": layout.rank, "depth": layout.depth, "cosize": _plain(layout.cosize())}
    result = _of_layout(layout, **facts)
    if layout.is_static:
        result.text = pictures.show(layout, max_rows=a.max, max_cols=a.max).text()
        result.picture = lambda: pictures.show(layout, max_rows=a.max, max_cols=a.max)
    return result


def _at(a: argparse.Namespace) -> _Result:
    layout, coord = _layout(a.layout), fl.parse_int_tuple(a.coord)
    if fl.has_none(coord):
        return _of_layout(fl.slice_(layout, coord))
    index = fl.crd2idx(coord, layout)
    return _Result(fl.text_of(index), {"index": _plain(index)})


def _coord(a: argparse.Namespace) -> _Result:
    layout, index = _layout(a.layout), fl.parse_int_tuple(a.index)
    found = fl.idx2crd(index, layout)
    return _Result(fl.text_of(found), {"coordinate": _plain(found), "linear": _plain(fl.get_1d_coord(index, layout))})


def _compose(a: argparse.Namespace) -> _Result:
    result = _layout(a.layouts[0]) if not a.layouts[0].lstrip().startswith("S<") or " o " in a.layouts[0] else None
    result = fl.parse(a.layouts[0]) if result is None else result
    for text in a.layouts[1:]:
        value = fl.parse(text)
        result = fl.composition(result, _layout(text) if isinstance(value, tuple) else value)
    return _of_layout(result)


def _divide(a: argparse.Namespace) -> _Result:
    layout, tiler = _layout(a.layout), _tiler(a.tiler)
    result = _of_layout(getattr(fl, f"{a.kind}_divide")(layout, tiler))
    result.picture = lambda: pictures.divide(layout, tiler)
    return result


def _product(a: argparse.Namespace) -> _Result:
    return _of_layout(getattr(fl, f"{a.kind}_product")(_layout(a.layout), _tiler(a.tiler)))


def _complement(a: argparse.Namespace) -> _Result:
    codomain = fl.parse_int_tuple(a.codomain) if a.codomain else None
    return _of_layout(fl.complement(_layout(a.layout), codomain))


def _coalesce(a: argparse.Namespace) -> _Result:
    pattern = fl.parse_int_tuple(a.pattern) if a.pattern else None
    return _of_layout(fl.coalesce(_layout(a.layout), pattern))


def _inverse(a: argparse.Namespace) -> _Result:
    inverses = {"right": fl.right_inverse, "left": fl.left_inverse, "whole": fl.inverse}
    return _of_layout(inverses[a.kind](_layout(a.layout)))


def _recast(a: argparse.Namespace) -> _Result:
    return _of_layout(fl.recast_layout(_layout(a.layout), a.old_bits, a.new_bits))


def _banks(a: argparse.Namespace) -> _Result:
    layout = _layout(a.layout)
    r = analysis.bank_conflicts(layout, a.bits, a.width, arch=a.arch, operation=a.operation, wave=a.wave, banks=a.banks)
    data = {
        "cycles_per_access": r.cycles_per_access, "cycles": r.cycles, "fewest": r.fewest, "degree": r.degree,
        "banks": r.machine.banks, "width_bits": r.access.width_bits, "assumed": r.assumed,
    }  # fmt: skip
    return _Result(str(r), data, lambda: pictures.bank_map(layout, a.bits, banks=r.machine.banks))


def _coalescing(a: argparse.Namespace) -> _Result:
    r = analysis.coalescing(_layout(a.layout), a.bits, a.width, wave=a.wave, segment_bytes=a.segment)
    data = {"transactions": r.transactions, "fewest": r.fewest, "efficiency": r.efficiency}
    return _Result(str(r), {**data, "width_bits": r.access.width_bits, "segment_bytes": r.segment_bytes})


def _swizzle(a: argparse.Namespace) -> _Result:
    access = analysis.Access.of(_layout(a.layout), a.bits, a.width, operation=a.operation, wave=a.wave)
    r = analysis.propose_swizzle(access, arch=a.arch, banks=a.banks)
    data = {"swizzle": str(r.swizzle), "cycles_before": r.cycles_before, "cycles_after": r.cycles_after}
    return _Result(str(r), {**data, "conflict_free": r.is_conflict_free, "assumed": r.after[0].assumed})


def _overlap(a: argparse.Namespace) -> _Result:
    found = analysis.find_overlap(_layout(a.layout))
    if found is None:
        return _Result("injective", {"injective": True})
    witness = {"first": _plain(found.first), "second": _plain(found.second), "index": _plain(found.index)}
    return _Result(f"not injective: {found}", {"injective": False, **witness})


def _vector(a: argparse.Namespace) -> _Result:
    r = analysis.vectorization(_layout(a.layout), a.bits)
    return _Result(str(r), {"elements": r.elements, "bits": r.bits, "contiguous": r.contiguous, "reason": r.reason})


def _linear(a: argparse.Namespace) -> _Result:
    m = linear.to_linear(_layout(a.layout))
    rows = "\n".join(" ".join(map(str, row)) for row in m.matrix())
    text = f"bases {list(m.bases)}, rank {m.rank()}\n{rows}"
    return _Result(text, {"bases": list(m.bases), "shape": list(m.shape), "offset": m.offset, "rank": m.rank()})


def _mma(a: argparse.Namespace) -> _Result:
    if a.name is None:
        found = atoms.matrix_instructions(a.arch)
        text = "\n".join(f"{i.mnemonic}  wave{i.wave}  {'x'.join(map(str, i.shape_mnk))}" for i in found)
        return _Result(text, {"instructions": [i.mnemonic for i in found]})
    i = atoms.matrix_instruction(a.arch, a.name, a.wave)
    layouts = {x: str(i.layout_tv(x)) for x in "ABCD"}
    text = "\n".join([str(i), *[f"{x} {layout}" for x, layout in layouts.items()], f"source: {i.source}"])
    return _Result(text, {**layouts, "source": i.source}, lambda: pictures.ownership(i, operand=a.operand))


# -- arguments -------------------------------------------------------------------------------------------------------
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fly-layout",
        description="Layouts of GPU kernels: show them, calculate with them, see what they cost.",
        epilog="Layouts are written (4,(2,3)):(1,(12,4)) or S<3,3,3> o 0 o (64,64):(64,1); a shape alone is compact. "
        "Tiles are written [4|8]. Quote them for the shell.",
    )
    parser.add_argument("--version", action="version", version=f"fly-layout {fl.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], _Result], text: str) -> argparse.ArgumentParser:
        p = commands.add_parser(name, help=text, description=text)
        p.set_defaults(run=run)
        p.add_argument("--format", choices=("text", "json", "svg", "html", "tikz"), default="text", help="output form")
        p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
        return p

    def pattern(p: argparse.ArgumentParser, lds: bool) -> None:
        p.add_argument("layout", help="(lane, value) to element index")
        p.add_argument("--bits", type=int, default=16, help="width of an element (16)")
        p.add_argument("--width", type=int, help="width of one lane's access, by default the widest possible")
        p.add_argument("--wave", type=int, default=64, help="lanes of a wave (64)")
        if lds:
            p.add_argument("--arch", default="gfx942", help="gfx942, gfx950, gfx11, gfx12 or gfx1250")
            p.add_argument("--banks", type=int, help="32 or 64 instead of the architecture's")
            p.add_argument("--operation", choices=("read", "write"), default="read")

    p = command("show", _show, "draw a layout")
    p.add_argument("layout")
    p.add_argument("--max", type=int, default=64, help="draw at most so many rows and columns (64)")
    p = command("at", _at, "the index of a coordinate, or the slice where it has *")
    p.add_argument("layout")
    p.add_argument("coord")
    p = command("coord", _coord, "the coordinate of an index")
    p.add_argument("layout")
    p.add_argument("index")
    p = command("compose", _compose, "A after B (after C ...)")
    p.add_argument("layouts", nargs="+", metavar="layout")
    p = command("divide", _divide, "split a layout into tiles")
    p.add_argument("layout")
    p.add_argument("tiler")
    p.add_argument("--kind", choices=_DIVIDES, default="zipped")
    p = command("product", _product, "repeat a layout")
    p.add_argument("layout")
    p.add_argument("tiler")
    p.add_argument("--kind", choices=_PRODUCTS, default="logical")
    p = command("complement", _complement, "what a layout skips")
    p.add_argument("layout")
    p.add_argument("codomain", nargs="?")
    p = command("coalesce", _coalesce, "the same function with fewer modes")
    p.add_argument("layout")
    p.add_argument("pattern", nargs="?")
    p = command("inverse", _inverse, "the inverse of a layout")
    p.add_argument("layout")
    p.add_argument("--kind", choices=("right", "left", "whole"), default="right")
    p = command("recast", _recast, "the layout in elements of another width")
    p.add_argument("layout")
    p.add_argument("old_bits", type=int)
    p.add_argument("new_bits", type=int)
    pattern(command("banks", _banks, "LDS bank conflicts of an access pattern"), lds=True)
    p = command("coalescing", _coalescing, "memory transactions of an access pattern")
    pattern(p, lds=False)
    p.add_argument("--segment", type=int, default=64, help="bytes of a transaction (64)")
    pattern(command("swizzle", _swizzle, "propose the swizzle that removes bank conflicts"), lds=True)
    p = command("overlap", _overlap, "is it injective? with a witness if not")
    p.add_argument("layout")
    p = command("vector", _vector, "the widest vector that its elements can be moved in")
    p.add_argument("layout")
    p.add_argument("--bits", type=int, default=16, help="width of an element (16)")
    p = command("linear", _linear, "the layout as a bit matrix")
    p.add_argument("layout")
    p = command("mma", _mma, "who holds what in a matrix instruction; all of an architecture without a name")
    p.add_argument("arch")
    p.add_argument("name", nargs="?")
    p.add_argument("--wave", type=int)
    p.add_argument("--operand", choices=tuple("ABCD"), default="C", help="the operand to draw")
    return parser


def _rendered(result: _Result, form: str) -> str:
    if form == "text":
        return result.text + "\n"
    if form == "json":
        return json.dumps(result.data) + "\n"
    if result.picture is None:
        raise LayoutError(f"this command has no picture, so no {form}; use text or json")
    picture = result.picture()
    return str({"svg": picture.svg, "html": picture.html, "tikz": picture.tikz}[form]())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 for a bad argument, with the reason on standard error."""
    args = _parser().parse_args(arguments)
    try:
        output = _rendered(args.run(args), args.format)
        if args.output:
            with open(args.output, "w", encoding="utf-8") as file:
                file.write(output)
        else:
            sys.stdout.write(output)
    except (LayoutError, OSError) as e:
        print(f"fly-layout {args.command}: {e}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0
