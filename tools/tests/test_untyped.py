# SPDX-License-Identifier: Apache-2.0
"""The count of `Any` in public signatures."""

from setup import untyped

SOURCE = """
from typing import Any

def public(a: "Any", b: int, *, c: Any = None) -> Any: ...
def _private(a: Any) -> Any: ...
class Public:
    def method(self, x: Any) -> int: ...
    def _hidden(self, x: Any) -> Any: ...
class _Private:
    def method(self, x: Any) -> Any: ...
"""


def test_count(tmp_path):
    (tmp_path / "module.py").write_text(SOURCE)
    assert untyped.count(tmp_path) == 4


def test_more_than_recorded_is_said():
    assert untyped.too_many({"fly-a": 3, "fly-b": 2}, {"fly-a": 3, "fly-b": 4}) == []
    (said,) = untyped.too_many({"fly-a": 4}, {"fly-a": 3})
    assert said.startswith("fly-a: 4 parameters and results")
