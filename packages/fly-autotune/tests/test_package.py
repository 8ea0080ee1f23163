# SPDX-License-Identifier: Apache-2.0
"""What the wheel offers, and what importing it does not do."""

import inspect
import subprocess
import sys

import flydsl.autotune


def test_public_names():
    assert flydsl.autotune.__all__ == [
        "Autotuner", "Config", "Problem", "Search", "Space", "autotune", "do_bench", "sweep",
    ]  # fmt: skip


def test_signatures():
    assert list(inspect.signature(flydsl.autotune.autotune).parameters) == [
        "configs", "key", "warmup", "rep", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook",
        "post_hook", "do_bench", "default", "artifact_name", "validate_hook", "select_config",
    ]  # fmt: skip
    signature = inspect.signature(flydsl.autotune.do_bench)
    assert {name: one.default for name, one in signature.parameters.items()} == {
        "fn": inspect.Parameter.empty, "warmup": 5, "rep": 25, "quantiles": None,
    }  # fmt: skip


def test_every_public_thing_is_documented():
    for name in flydsl.autotune.__all__:
        assert inspect.getdoc(getattr(flydsl.autotune, name))


def test_importing_it_imports_no_other_layer():
    code = (
        "import sys, flydsl.autotune; "
        "print([name for name in sys.modules if name.startswith(('torch', 'numpy', 'flydsl.compiler', 'flydsl.expr', "
        "'flydsl._mlir', 'flydsl.emulator'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == "[]\n"
