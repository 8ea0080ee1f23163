# SPDX-License-Identifier: Apache-2.0
"""What runs before a commit is what `tools/dev lint` runs."""

import re

from setup import debian, lint
from setup.paths import ROOT

CONFIGURATION = (ROOT / ".pre-commit-config.yaml").read_text()


def test_versions_are_those_of_the_lint_environment():
    pinned = set(re.findall(r'"(ruff==[\d.]+)"', CONFIGURATION))
    assert pinned == set(re.findall(r'"(ruff==[\d.]+)"', (ROOT / "pyproject.toml").read_text()))
    assert len(pinned) == 1
    assert f"clang-format-{debian.LLVM} -i" in CONFIGURATION


def test_the_same_files_are_formatted():
    pattern = re.findall(r"files: (\S+)", CONFIGURATION)[-1]
    for suffix in lint.CPP_SUFFIXES:
        assert re.search(pattern, f"folder/file{suffix}")
    assert not re.search(pattern, "file.py")
