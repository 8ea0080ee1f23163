# SPDX-License-Identifier: Apache-2.0
"""The layer check passes on the tree, and fails when a forbidden import is planted."""

import shutil
import subprocess
from pathlib import Path

import pytest
from setup import dynamic_imports, lint
from setup.paths import ROOT


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """A copy of every package's sources."""
    roots = []
    for root in lint.SOURCE_ROOTS:
        copy = tmp_path_factory.mktemp(root.parent.name) / "src"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        roots.append(copy)
    return roots


@pytest.fixture
def sources(copies):
    """The copies; what a test plants in them goes when it ends."""
    yield copies
    for root in copies:
        for planted in root.rglob("planted*.py"):
            planted.unlink()


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
        (
            "layout/algebra",
            "def late():\n    from ..pictures import show\n",
            "flydsl.layout.algebra is not allowed to import flydsl.layout.pictures",
        ),
        ("compiler", "from flydsl import kernels\n", "flydsl.compiler is not allowed to import flydsl.kernels"),
        ("compiler", "import flydsl.autotune\n", "flydsl.compiler is not allowed to import flydsl.autotune"),
        (
            "trace",
            "def late():\n    from flydsl.expr.values import numeric\n",
            "flydsl.trace is not allowed to import flydsl.expr.values",
        ),
        (
            "expr/ops",
            "from flydsl.call import jit_function\n",
            "flydsl.expr.ops is not allowed to import flydsl.call",
        ),
        ("autotune", "from flydsl import kernels\n", "flydsl.autotune is not allowed to import flydsl.kernels"),
        ("autotune", "import flydsl.compiler\n", "flydsl.autotune is not allowed to import flydsl.compiler"),
        ("kernels", "from flydsl._mlir import ir\n", "flydsl.kernels is not allowed to import flydsl._mlir"),
        (
            "kernels",
            "def late():\n    from flydsl._mlir.dialects import gpu\n",
            "flydsl.kernels is not allowed to import flydsl._mlir",
        ),
        (
            "kernels",
            "class Nested:\n    def late(self):\n        import flydsl._mlir._mlir_libs._mlirPasses as passes\n",
            "flydsl.kernels is not allowed to import flydsl._mlir",
        ),
        ("kernels", "from .common import planted_there\n", "No cycles are allowed in flydsl.kernels"),
        ("emulator", "import flydsl.runtime\n", "flydsl.emulator is not allowed to import flydsl.runtime"),
    ],
)
def test_planted_violation_is_caught(sources, tmp_path, package, text, names):
    plant(sources, package, text)
    if "planted_there" in text:
        folder = next(root for root in sources if (root / "flydsl" / "kernels").is_dir())
        (folder / "flydsl" / "kernels" / "common" / "planted_there.py").write_text("from .. import planted\n")
    done = check(sources, tmp_path)
    assert done.returncode != 0
    assert names in " ".join(done.stdout.split())
    assert "planted" in done.stdout


def test_tree_imports_nothing_by_name_that_it_may_not(sources):
    assert dynamic_imports.violations(sources, ROOT / ".importlinter") == []


@pytest.mark.parametrize(
    ("package", "text", "said"),
    [
        (
            "kernels/common",
            "import importlib\n\ndef late():\n    return importlib.import_module('flydsl._mlir.ir')\n",
            "flydsl.kernels is not allowed to import flydsl._mlir",
        ),
        (
            "kernels/common",
            "from importlib import import_module as load\nir = load('..._mlir.ir', __package__)\n",
            "flydsl.kernels is not allowed to import flydsl._mlir",
        ),
        ("runtime", "ir = __import__('flydsl.expr')\n", "flydsl.runtime is not allowed to import flydsl.expr"),
        (
            "runtime",
            "import importlib\ntorch = importlib.import_module('torch')\n",
            "flydsl.runtime is not allowed to import torch",
        ),
        (
            "trace",
            "import importlib\nops = importlib.import_module('flydsl.expr.ops.math')\n",
            "flydsl.trace is not allowed to import flydsl.expr.ops",
        ),
        (
            "autotune",
            "import importlib\n\ndef of(part):\n    return importlib.import_module(f'flydsl.kernels.{part}')\n",
            "flydsl.autotune is not allowed to import flydsl.kernels",
        ),
        (
            "kernels",
            "import importlib\nir = importlib.import_module('flydsl.' + '_mlir.ir')\n",
            "the name of the module that is imported is computed",
        ),
        (
            "kernels",
            "import importlib\n\ndef of(part):\n    return importlib.import_module(f'flydsl.{part}')\n",
            "the name of the module that is imported is computed",
        ),
        (
            "kernels",
            "import importlib\nNAME = 'flydsl._mlir'\nir = importlib.import_module(NAME)\n",
            "the name of the module that is imported is computed",
        ),
    ],
)
def test_planted_import_by_name_is_caught(sources, package, text, said):
    plant(sources, package, text)
    (found,) = dynamic_imports.violations(sources, ROOT / ".importlinter")
    assert "planted.py" in found
    assert said in found


def test_a_module_may_compute_names_of_its_own_package(sources):
    plant(sources, "kernels", "import importlib\n\ndef of(part):\n    importlib.import_module(f'{__name__}.{part}')\n")
    assert dynamic_imports.violations(sources, ROOT / ".importlinter") == []
