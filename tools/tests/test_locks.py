# SPDX-License-Identifier: Apache-2.0
"""What builds and ships wheels is pinned with hashes, from wherever it is fetched."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path

import pytest
from setup import environments, wheels
from setup.environments import LOCKS, groups
from setup.shell import SetupError

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


# -- what is installed is what was pinned ------------------------------------------------------------------------------


def wheel(folder: Path, name: str) -> str:
    """Put a wheel of nothing into a folder, as an index would serve it; its hash."""
    path = folder / f"{name}-0.13.9-py3-none-any.whl"
    information = f"{name}-0.13.9.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.13.9\n")
        file.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{information}/RECORD", f"{information}/METADATA,,\n{information}/WHEEL,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that installers take wheels from, and no index; locks and environments lie beside it."""
    for name in ("wheels", "locks", "build"):
        (tmp_path / name).mkdir()
    environments.tools_bin()  # the real one
    monkeypatch.setattr(environments, "LOCKS", tmp_path / "locks")
    monkeypatch.setattr(environments, "BUILD", tmp_path / "build")
    monkeypatch.setattr(environments, "cache_dir", lambda: tmp_path / "cache")
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))  # what it knows by its hash it would not look at again
    return tmp_path


def test_an_environment_holds_only_what_has_the_pinned_hash(served: Path) -> None:
    digest = wheel(served / "wheels", "planted")
    lock = served / "locks" / "planted.txt"
    lock.write_text(f"planted==0.13.9 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SetupError, match=r"(?i)hash mismatch"):
        environments.environment("planted")
    folder = served / "build" / "environments" / "planted"
    assert not list(folder.glob("lib/python*/site-packages/planted*"))
    assert not (folder / "declared.txt").exists(), "the next call tries again"
    lock.write_text("planted==0.13.9\n")
    with pytest.raises(SetupError, match=r"(?i)hash"):
        environments.environment("planted")
    lock.write_text(f"planted==0.13.9 \\\n    --hash=sha256:{digest}\n")
    assert environments.environment("planted") == folder
    assert list(folder.glob("lib/python*/site-packages/planted*"))


def test_uv_is_installed_only_with_the_pinned_hash(served: Path) -> None:
    wheel(served / "wheels", "uv")
    (served / "locks" / "bootstrap.txt").write_text(f"uv==0.13.9 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SetupError, match="DO NOT MATCH THE HASHES"):
        environments.tools_bin.__wrapped__()
    (home,) = (served / "cache").iterdir()
    assert not (home / "installed.txt").exists(), "the next call tries again"
