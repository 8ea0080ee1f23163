# SPDX-License-Identifier: Apache-2.0
"""Source locations: call-site chains of users' frames, and what has a plain one."""

from tracing import kernel

import flydsl.expr as fx
from flydsl.trace.context import REGION_PREFIX, call_traced


def helper(x):
    fx.printf("x={}", x)
    fx.SharedAllocator().allocate(fx.Float32)
    return x * 3


def locations(text, op):
    """Return the resolved location of each operation named `op`."""
    table = dict(line.split(" = ", 1) for line in text.splitlines() if line.startswith("#loc"))

    def resolve(name):
        found = table.get(name, name)
        for other in sorted(table, key=len, reverse=True):
            if other in found and other != name:
                found = found.replace(other, resolve(other))
        return found

    return [resolve(line.rsplit("loc(", 1)[1].rstrip(")")) for line in text.splitlines() if f" {op}" in line]


def trace(body):
    with kernel("i32") as k:
        call_traced(body, fx.Int32(k.args[0]))
        return k.ir(locations=True)


def test_operations_of_helpers_have_their_callers():
    def body(x):
        helper(x)

    text = trace(body)
    (product,) = locations(text, "arith.muli")
    first = helper.__code__.co_firstlineno
    assert "callsite" in product
    assert f'test_locations.py":{first + 3}:' in product
    assert f'test_locations.py":{body.__code__.co_firstlineno + 1}:' in product


def test_what_becomes_a_symbol_has_one_frame():
    text = trace(lambda x: helper(x))
    for op in ("fly.make_ptr", "fly.print"):
        (found,) = locations(text, op)
        assert "callsite" not in found
        assert 'test_locations.py":' in found


def test_regions_of_a_function_are_not_callers():
    def body(x):
        def region():
            return x + 5

        region.__code__ = region.__code__.replace(co_name=REGION_PREFIX + "_then")
        region()

    (found,) = locations(trace(body), "arith.addi")
    assert "callsite" not in found
    assert f'test_locations.py":{body.__code__.co_firstlineno + 2}:' in found
