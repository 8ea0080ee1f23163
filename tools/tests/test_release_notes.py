# SPDX-License-Identifier: Apache-2.0
"""Release notes are the section of the version in the package's changelog."""

from __future__ import annotations

from pathlib import Path

import pytest
from setup import wheels
from setup.release_notes import release_notes
from setup.shell import SetupError


def package(folder: Path, changelog: str) -> Path:
    (folder / "pyproject.toml").write_text('[project]\nname = "fly-x"\nversion = "0.2.0"\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    return folder


def test_only_the_section_of_the_version(tmp_path: Path) -> None:
    text = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- New.\n  - Part.\n\n## 0.1.0\n\n- Old.\n"
    assert release_notes("fly-x", package(tmp_path, text)) == "# fly-x 0.2.0\n\n- New.\n  - Part.\n"


@pytest.mark.parametrize("text", ["", "## 0.2.0\n\n## 0.1.0\n- Old.\n", "## 0.2.01\n- Another.\n", "### 0.2.0\n- x\n"])
def test_a_version_without_a_section_is_not_released(tmp_path: Path, text: str) -> None:
    with pytest.raises(SetupError, match=r"CHANGELOG\.md: says nothing of version 0\.2\.0"):
        release_notes("fly-x", package(tmp_path, text))


@pytest.mark.parametrize("one", wheels.ALL.values(), ids=lambda one: one.name)
def test_every_package_has_notes(one: wheels.Package) -> None:
    assert len(release_notes(one.name, one.folder)) > 100
