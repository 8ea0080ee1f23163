# SPDX-License-Identifier: Apache-2.0
"""Containers that are compared many at once: each change of any of them is seen, and nothing else is one."""

from __future__ import annotations

from collections import deque

import pytest

from flydsl.call.watch import Watch


class Listed(list):
    """A container with a class of the user's."""


CHANGES = {
    "an item": lambda data: data["lists"][3].__setitem__(1, 99),
    "an equal item of another type": lambda data: data["lists"][0].__setitem__(1, True),
    "one more": lambda data: data["lists"][3].append(7),
    "one less": lambda data: data["lists"][3].pop(),
    "an item moves on to the next list": lambda data: data["lists"][4].insert(0, data["lists"][3].pop()),
    "an order": lambda data: data["lists"][3].reverse(),
    "a value": lambda data: data["mapping"].__setitem__("a", 2),
    "a key": lambda data: data["mapping"].__setitem__("b", data["mapping"].pop("a")),
    "a set": lambda data: data["set"].add(5),
    "a queue": lambda data: data["queue"].rotate(),
    "a subclass": lambda data: data["listed"].append(5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_containers(change):
    data = {
        "lists": [[one, one + 1] for one in range(40)],
        "mapping": {"a": 1},
        "set": {1, 2},
        "queue": deque([1, 2, 3]),
        "listed": Listed([1]),
    }

    def read():
        return data

    scope = {}
    same = eval("lambda: " + " and ".join(Watch([read]).tests(scope)), scope)
    assert same()
    data["mapping"]["a"] = data["mapping"]["a"]
    assert same()
    CHANGES[change](data)
    assert not same()
