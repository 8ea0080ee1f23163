# SPDX-License-Identifier: Apache-2.0
"""Options of a trace, and the location of the code that is being traced."""

import threading

import pytest
from tracing import kernel

from flydsl.expr.meta import capture_user_location, dsl_loc_tracing, file_location, tracing_context, tracing_option


def test_options_are_visible_inside_only():
    assert tracing_option("tile") is None
    with tracing_context(None, tile=64):
        assert tracing_option("tile") == 64
    assert tracing_option("tile", 3) == 3


def test_inner_blocks_win_and_inherit():
    with tracing_context(None, tile=64, depth=2):
        with tracing_context(test_options_are_visible_inside_only, tile=32):
            assert (tracing_option("tile"), tracing_option("depth")) == (32, 2)
        assert tracing_option("tile") == 64


def test_none_is_a_value():
    with tracing_context(tile=64), tracing_context(tile=None):
        assert tracing_option("tile", 7) is None
        assert tracing_option("other", 9) == 9


def test_an_exception_leaves_the_block():
    with pytest.raises(KeyError), tracing_context(tile=1):
        raise KeyError
    assert tracing_option("tile") is None


def test_threads_have_options_of_their_own():
    seen = []
    with tracing_context(tile=1):
        thread = threading.Thread(target=lambda: seen.append(tracing_option("tile")))
        thread.start()
        thread.join()
    assert seen == [None]


def test_locations():
    with kernel():
        assert str(file_location("a.py", 3, 4)) == 'loc("a.py":3:4)'
        here = str(capture_user_location())
        assert "test_meta.py" in here

        @dsl_loc_tracing
        def made_at(loc=None):
            return str(loc)

        assert "test_meta.py" in made_at()
        assert made_at(loc=file_location("b.py", 1)) == 'loc("b.py":1:0)'
        assert dsl_loc_tracing(len)("abc") == 3
