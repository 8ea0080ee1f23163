# SPDX-License-Identifier: Apache-2.0
"""Names whose files are imported when one of them is first used."""

import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["flydsl.expr.nvgpu", "flydsl.expr.coop.universal"])
def test_names_are_found_and_no_others(module):
    names = importlib.import_module(module)
    assert all(hasattr(names, name) for name in names.__all__)
    assert dir(names) == sorted(names.__all__)
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing_like_that'"):
        _ = names.nothing_like_that


def test_a_file_is_imported_at_the_first_use_of_a_name():
    code = """
import sys
import flydsl.expr as fx
assert "flydsl.expr.nvgpu.warps" not in sys.modules
first = fx.nvgpu.elect_one
assert "flydsl.expr.nvgpu.warps" in sys.modules and "flydsl.expr.nvgpu.matrix" not in sys.modules
assert vars(fx.nvgpu)["elect_one"] is first
"""
    subprocess.run([sys.executable, "-c", code], check=True)
