# SPDX-License-Identifier: Apache-2.0
"""Methods of values find the functions that stand above them."""

import ast
from pathlib import Path

import pytest

import flydsl.expr
from flydsl.expr.values import above


def called_above():
    """The attributes of `above` that the sources of `flydsl.expr` read."""
    for file in Path(flydsl.expr.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "above":
                yield node.attr


def test_everything_that_methods_call_is_attached():
    names = set(called_above()) - {"attach"}
    assert len(names) > 15
    assert not [name for name in sorted(names) if not callable(getattr(above, name))]


def test_a_name_that_nobody_attached_is_an_error():
    with pytest.raises(AttributeError, match="nothing above has attached 'missing'"):
        _ = above.missing
