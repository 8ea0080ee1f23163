# SPDX-License-Identifier: Apache-2.0
"""What builds and ships wheels is pinned with hashes, from wherever it is fetched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from setup import wheels
from setup.environments import LOCKS, groups

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(.*)$")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(lock: Path) -> dict[str, list[str]]:
    """The hashes of each requirement of a lock; of one that has several versions, those of all."""
    found: dict[str, list[str]] = {}
    for entry in lock.read_text().replace("\\\n", " ").splitlines():
        if entry.strip() and not entry.startswith("#"):
            name, version = entry.split()[0].split("==")
            assert re.fullmatch(r"[0-9][A-Za-z0-9.+!]*", version), entry
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)", entry)
            assert hashes, f"{lock.name}: {name} has no hash"
            found.setdefault(canonical(name), []).extend(hashes)
    return found


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_everything_is_pinned(lock: Path) -> None:
    found = pinned(lock)
    assert groups()[lock.stem]
    for requirement in groups()[lock.stem]:
        match = REQUIREMENT.match(requirement)
        assert match is not None
        assert canonical(match[1]) in found, f"run tools/dev lock: {requirement}"


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_no_index_is_named(lock: Path) -> None:
    """Everybody's own index serves; what it serves is known by its hash."""
    assert not re.search(r"://|index|find-links|trusted-host|@", lock.read_text())


@pytest.mark.parametrize("package", wheels.ALL.values(), ids=lambda package: package.name)
def test_the_build_systems_of_the_packages_are_pinned(package: wheels.Package) -> None:
    text = (package.folder / "pyproject.toml").read_text()
    section = re.search(r"^\[build-system\]\n(.*?)^build-backend", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    required = [canonical(name) for name in re.findall(r'"([A-Za-z0-9._-]+?)[><=,0-9. ]*"', section[1])]
    assert required
    assert set(required) <= set(pinned(LOCKS / "build.txt"))
