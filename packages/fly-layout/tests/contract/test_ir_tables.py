# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the dialect's contract hold, except where it calls a behaviour a defect or a crash.

``differences.txt`` lists those exceptions with what happens here; ``docs/layout/differences.md`` explains them.
"""

from __future__ import annotations

import pytest
from contract.tables import expected_text, is_failure, layout_part, operand, rows

import flydsl.layout as fl

TABLES = rows("fly_ir_tables.txt")
DIFFERENCES = {(r.op, r.operands, r.attributes): r.expected for r in rows("differences.txt")}

# Rows whose operands or results are pointers and register files, which this library does not have.
NOT_HERE = {"make_fragment_like"}

THREAD_VALUE = {r.op for r in TABLES if r.op.startswith(("tiled_copy.", "tiled_mma.", "mma."))}  # tests/atoms has these


def compute(op: str, operands: tuple[str, ...], attributes: dict[str, str]) -> object:
    values = [operand(o) for o in operands]

    def integer(name: str) -> int:
        return int(attributes[name])

    def integers(name: str) -> list[int]:
        return [int(x) for x in attributes[name].strip("[]").split(",") if x.strip()]

    if op == "get":
        return fl.get(values[0], integers("mode"))
    if op in ("take", "group"):
        return getattr(fl, op)(values[0], integer("begin"), integer("end"))
    if op == "select":
        return fl.select(values[0], integers("indices"))
    if op in ("append", "prepend"):
        return getattr(fl, op)(*values, **({"n": integer("n")} if attributes else {}))
    if op == "slice":
        return fl.slice_(*values)
    if op == "recast_layout":
        return fl.recast_layout(values[0], integer("old_type_bits"), integer("new_type_bits"))
    if op == "get_leaves":
        return fl.get_leaves(values[0], dynamic_only=attributes.get("dynamicOnly") == "true")
    if op == "make_layout":
        return fl.Layout(*values)
    if op == "make_composed_layout":
        return fl.ComposedLayout(*values)
    if op == "get_shape":
        return values[0].shape
    if op in ("composed_get_inner", "composed_get_outer"):
        return getattr(values[0], op.removeprefix("composed_get_"))
    if op == "decomposition":
        return values[0].decomposition()
    return getattr(fl, op)(*values)


def shown(op: str, result: object, of_memref: bool) -> str:
    if op in ("elem_less", "equal"):
        return {True: "true", False: "false"}.get(result, "run-time test of the first leaf only")
    if op in ("get_leaves", "get_scalar"):
        leaves = result if isinstance(result, tuple) else (result,)
        none = "i0" if op == "get_scalar" else "i32"
        return " , ".join(none if x is None else f"i{getattr(x, 'width', 32)}" for x in leaves)
    return fl.to_dialect(layout_part(result) if of_memref else result)


CASES = [r for r in TABLES if r.op not in THREAD_VALUE | NOT_HERE and "ptr<" not in "".join(r.operands)]


@pytest.mark.parametrize("row", CASES, ids=str)
def test_example(row):
    expected = DIFFERENCES.get((row.op, row.operands, row.attributes), row.expected)
    attributes = dict(row.attributes)
    if is_failure(expected):
        with pytest.raises(fl.LayoutError) as caught:
            compute(row.op, row.operands, attributes)
        assert len(str(caught.value)) > 15
        return
    result = compute(row.op, row.operands, attributes)
    of_memref = any(o.startswith("memref<") for o in row.operands)
    assert shown(row.op, result, of_memref) == expected_text(expected).removesuffix(" (decided statically)")


def test_every_difference_is_a_row_of_the_tables():
    known = {(r.op, r.operands, r.attributes): r.expected for r in TABLES}
    for key, expected in DIFFERENCES.items():
        assert key in known, key
        assert known[key] != expected, key


def test_the_tables_are_there():
    assert len(CASES) > 600
