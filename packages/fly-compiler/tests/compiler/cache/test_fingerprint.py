# SPDX-License-Identifier: Apache-2.0
"""What a compilation depends on in Python: every change is seen, nothing else is."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

import pytest

import flydsl.compiler as flyc
from flydsl.compiler.cache.fingerprint import fingerprint, state_key

_SERIAL = iter(range(10_000))

PROGRAM = """
import flydsl.compiler as flyc
import flydsl.expr as fx

SIZE = {size}
TABLE = {table}

class Tool:
    factor = {factor}
    def scale(self, x):
        return x * {scale}

TOOL = Tool()

def helper(x):
    return inner(x) + {helper}

def inner(x):
    return x

@flyc.kernel
def kernel(x: fx.Int32):
    y = helper(x) + TABLE[0]

@flyc.jit
def launch(n: fx.Int32):
    kernel(TOOL.scale(n)).launch(grid=(SIZE,))

def unrelated(x):
    return {unrelated}
"""

DEFAULTS = {"size": 4, "table": [1, 2], "factor": 1, "scale": 2, "helper": 3, "unrelated": 5}


def program(**changes):
    name = f"<program-{next(_SERIAL)}>"
    text = PROGRAM.format(**{**DEFAULTS, **changes})
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def digest(namespace):
    return fingerprint(namespace["launch"].original).digest


@pytest.mark.parametrize("change", [{"size": 5}, {"table": [1, 3]}, {"factor": 2}, {"scale": 4}, {"helper": 4}])
def test_a_change_in_anything_reached_changes_the_hash(change):
    assert digest(program()) != digest(program(**change))


def test_what_is_not_reached_does_not_matter():
    assert digest(program()) == digest(program(unrelated=6))


def test_an_attribute_is_not_a_global_of_the_same_name():
    namespace = program()
    namespace["SIZE"] = namespace["TABLE"] = 1
    names = {one.name for one in fingerprint(namespace["launch"].original).names}
    assert names == {"kernel", "TOOL", "SIZE", "helper", "TABLE", "inner"}
    namespace["scale"] = namespace["launch"] = open  # TOOL.scale and .launch are attributes
    assert not any(one.name in ("scale", "launch") for one in fingerprint(namespace["kernel"].func).names)


def test_closure_values_count():
    def make(size, helper):
        def launch(n):
            return helper(n) + size

        return launch

    def one(n):
        return n

    def two(n):
        return n + 1

    digests = {fingerprint(make(*values)).digest for values in [(1, one), (2, one), (1, two)]}
    assert len(digests) == 3
    assert fingerprint(make(1, one)).digest == fingerprint(make(1, one)).digest


def test_lambdas_on_one_line_differ():
    def make(operation):
        def launch(n):
            return operation(n)

        return launch

    first, second = (make(one) for one in (lambda x: x + 1, lambda x: x - 1))
    assert fingerprint(first).digest != fingerprint(second).digest


def test_recursion_ends():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert len(fingerprint(even).digest) == 64


def test_drift_is_noticed():
    namespace = program()
    found = fingerprint(namespace["launch"].original)
    assert not any(one.changed() for one in found.names)
    namespace["TABLE"].append(3)
    assert [one.name for one in found.names if one.changed()] == ["TABLE"]
    namespace["TABLE"].pop()
    namespace["SIZE"] = 4.0
    assert [one.name for one in found.names if one.changed()] == ["SIZE"]
    namespace["SIZE"] = 4
    namespace["helper"] = namespace["inner"]
    assert [(one.name, one.code) for one in found.names if one.changed()] == [("helper", True)]


def test_values_without_a_hash_keep_the_result_in_the_process():
    handle = open(__file__)  # noqa: SIM115
    try:

        def launch(n):
            return handle, n

        assert any("closure variable 'handle'" in one for one in fingerprint(launch).opaque)
    finally:
        handle.close()


@dataclass
class Config:
    tile: int
    name: str = "a"


def test_state_of_instances():
    assert state_key(Config(1)) == state_key(Config(1))
    assert state_key(Config(1)) != state_key(Config(2))


def test_library_functions_are_the_toolchains_business():
    def launch(n):
        return flyc.from_dlpack(n)

    assert all(one.name != "from_dlpack" for one in fingerprint(launch).names)
