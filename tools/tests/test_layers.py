# SPDX-License-Identifier: Apache-2.0
"""The layer check passes on the tree, and fails when a forbidden import is planted."""

import shutil
import subprocess
from pathlib import Path

import pytest
from setup import lint


@pytest.fixture
def sources(tmp_path):
    """A copy of every package's sources that a test may spoil."""
    roots = []
    for root in lint.SOURCE_ROOTS:
        copy = tmp_path / root.parent.name / "src"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        roots.append(copy)
    return roots


def check(roots, tmp_path):
    command, env = lint.layers_command(roots, tmp_path / "stand-ins")
    return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)


def plant(roots, package, text):
    folder = next(root / "flydsl" / package for root in roots if (root / "flydsl" / package).is_dir())
    Path(folder, "planted.py").write_text(text)


def test_tree_keeps_the_layers(sources, tmp_path):
    done = check(sources, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("package", "text", "names"),
    [
        ("runtime", "import flydsl.compiler\n", "flydsl.runtime is not allowed to import flydsl.compiler"),
        ("runtime", "def late():\n    import torch\n", "flydsl.runtime is not allowed to import torch"),
        ("layout", "from flydsl._mlir import ir\n", "flydsl.layout is not allowed to import flydsl._mlir"),
        ("compiler", "from flydsl import kernels\n", "flydsl.compiler is not allowed to import flydsl.kernels"),
        ("compiler", "import flydsl.autotune\n", "flydsl.compiler is not allowed to import flydsl.autotune"),
        ("autotune", "from flydsl import kernels\n", "flydsl.autotune is not allowed to import flydsl.kernels"),
        ("autotune", "import flydsl.compiler\n", "flydsl.autotune is not allowed to import flydsl.compiler"),
        ("kernels", "from flydsl._mlir import ir\n", "flydsl.kernels is not allowed to import flydsl._mlir"),
        ("emulator", "import flydsl.runtime\n", "flydsl.emulator is not allowed to import flydsl.runtime"),
    ],
)
def test_planted_violation_is_caught(sources, tmp_path, package, text, names):
    plant(sources, package, text)
    done = check(sources, tmp_path)
    assert done.returncode != 0
    assert names in " ".join(done.stdout.split())
    assert "planted" in done.stdout
