# SPDX-License-Identifier: Apache-2.0
"""The bench of compile times has every operator of the kernel library."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = {"gemm", "grouped_gemm"}  # by their main loops, in compile_cases/gemm.py


def test_every_operator_is_compiled() -> None:
    """By its name, which is in a text or is called."""
    library = ast.parse((ROOT / "packages/fly-kernels/src/flydsl/kernels/__init__.py").read_text())
    (table,) = [
        one.value
        for one in library.body
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id == "OPERATORS"
    ]
    operators = set(ast.literal_eval(table))
    assert operators >= PRODUCTS
    cases = ast.parse((ROOT / "tools/bench/compile_cases/operators.py").read_text())
    named = {one.attr for one in ast.walk(cases) if isinstance(one, ast.Attribute)}
    for one in ast.walk(cases):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            named.add(one.value.partition(" ")[0].partition(",")[0])
    assert operators - PRODUCTS <= named
