# SPDX-License-Identifier: Apache-2.0
"""The textual grammar: spellings, canonical form, and errors for everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import layouts

from flydsl.layout import LayoutError, ParseError, parse, parse_int_tuple, parse_tile, text_of, to_dialect

CANONICAL = [
    "7", "-3", "?", "?{i64}", "?{div=8}", "?{i64 div=8}", "?{div=-24}", "1E0", "2E1E3", "?{div=2}E1E0", "*",
    "(4)", "(4,?):(1,4)", "(4,(2,3)):(1,(12,4))", "(4,?{div=8}):(1,?{i64 div=4})",
    "S<2,0,3>", "CS<2,0,[0, 1],1,[1]>", "CS<2,0,[],1,[]>",
    "S<2,0,3> o 0 o (8,8):(8,1)", "8:1 o 0 o 4:1 o 2 o 2:1", "S<1,0,2> o 0 o [8:1 o 1 o 4:1]",
    "CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)",
    "[4|8]", "[*|6]", "[(2,2):(1,4)|3]", "[[2|2]|6]", "coord_tensor<(0,?), (4,8):(1E0,1E1)>",
    "(M,8):(8,1)", "(M{div=8},N{i64 div=4 extent=64}):(1,M{div=8})", "{M*8}:1", "({ceil_div(M,4)},4):(1,{(M+1)*8})",
]  # fmt: skip


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_texts_read_and_print_alike(text):
    assert text_of(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("?{}", "?"), ("?{i32}", "?"), ("?{div=1}", "?"), ("*E0", "0E0"), ("1 E0", "1E0"), ("007", "7"),
        (" ( 4 , 8 ) : ( 8 , 1 ) ", "(4,8):(8,1)"), ("(4,):(1,)", "(4):(1)"),
        ("(_4,_8):(_8,_1)", "(4,8):(8,1)"), ("1@0", "1E0"), ("2@1@0", "2E0E1"), ("(_,3)", "(*,3)"),
        ("Sw<3,4,3> o 0 o 8:1", "S<3,4,3> o 0 o 8:1"), ("S<2,0,3> o 0 o [8:1]", "S<2,0,3> o 0 o 8:1"),
        ("[ 4 | 8 ]", "[4|8]"), ("[4]", "[4]"), ("!", None),
    ],
)  # fmt: skip
def test_other_spellings(text, canonical):
    if canonical is None:
        with pytest.raises(ParseError):
            parse(text)
    else:
        assert text_of(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected"), ("()", 2, "expected an integer"), ("+4", 1, "expected an integer"), ("[]", 2, "expected"),
        ("(1,?{div=4 i64})", 12, "attributes"), ("?{i16}", 3, "attributes"), ("1E0F", 4, "mode number"),
        ("1E0 E1", 5, "end of the text"), ("(4,8", 5, "')'"), ("(4,8):", 7, "expected an integer"), ("4:1:2", 4, "end"),
        ("(4,8):(8)", 1, "not congruent"), ("S<2,0>", 6, "','"), ("S<2,0,3> o (8,8):(8,1)", 17, "'o'"),
        ("0x10", 2, "end of the text"), ("(4 8)", 4, "','"), ("[(4)|8]", 2, "tile mode"), ("[4,8]", 3, "'|'"),
        ("S<-1,0,3>", 1, "negative"), ("?{extent=4}", 12, "no name"), ("{M*}", 4, "expected an integer"),
        ("{min(M)}", 8, "2 operands"),
    ],
)  # fmt: skip
def test_errors_show_the_place(text, column, words):
    with pytest.raises(ParseError) as e:
        parse(text)
    assert words in str(e.value)
    assert e.value.position + 1 == column
    assert str(e.value).endswith("^")


def test_bad_types_and_depth_do_not_crash():
    with pytest.raises(LayoutError, match="no text"):
        parse(7)
    with pytest.raises(ParseError, match="levels of nesting"):
        parse("(" * 5000)
    with pytest.raises(ParseError, match="levels of nesting"):
        parse("[" * 5000)
    with pytest.raises(ParseError, match="4000 digits"):
        parse("9" * 5000)


@given(st.text(alphabet="()[]{}<>:,|*?EScow0123456789-_@div=i64 Mmin+ceil", max_size=30))
def test_any_text_parses_or_is_refused(text):
    for reader in (parse, parse_int_tuple, parse_tile):
        try:
            value = reader(text)
        except ParseError:
            continue
        assert isinstance(text_of(value), str)


@given(layouts())
def test_layouts_read_back(a):
    assert parse(str(a)) == a
    assert parse(to_dialect(a)) == a


def test_the_dialect_form_has_no_names():
    assert to_dialect(parse("(M{div=8},8):(8,{M{div=8}*4})")) == "(?{div=8},8):(8,?{div=32})"
