# SPDX-License-Identifier: Apache-2.0
"""The registry of environment variables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flydsl.runtime import environment, variables
from flydsl.runtime.environment import choice, group, integer, path, register, string


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(environment, "_variables", dict(environment._variables))
    return


@pytest.mark.parametrize("text", ["1", "true", "Yes", "ON"])
def test_switch_on(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_RUN_ONLY", text)
    assert variables.RUN_ONLY.get() is True


def test_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variables.ENABLE_CACHE.get() is True
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "off")
    assert group("runtime").enable_cache is False
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "maybe")
    with pytest.raises(ValueError, match=r"FLYDSL_RUNTIME_ENABLE_CACHE='maybe': expected one of 1, true, yes, on, 0"):
        group("runtime").to_dict()
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "")
    assert variables.ENABLE_CACHE.get() is True


def test_other_layers_declare_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    level = register(
        integer("FLYDSL_COMPILE_TEST_LEVEL", default=2, least=0, most=3, group="compile", help="How hard to optimise.")
    )
    register(choice("FLYDSL_DEBUG_TEST_LOG", ("DEBUG", "INFO"), default="INFO", group="debug", help="What is said."))
    assert group("compile").test_level == 2
    monkeypatch.setenv("FLYDSL_COMPILE_TEST_LEVEL", "3")
    monkeypatch.setenv("FLYDSL_DEBUG_TEST_LOG", "debug")
    assert level.get() == 3
    assert group("debug").test_log == "DEBUG"
    assert "test_level" in dir(group("compile"))
    assert "an integer from 0 to 3 (default 2), now '3'" in group("compile").help()
    for text in ("4", "-1", "two", "1.0"):
        monkeypatch.setenv("FLYDSL_COMPILE_TEST_LEVEL", text)
        with pytest.raises(ValueError, match=r"FLYDSL_COMPILE_TEST_LEVEL=.*: expected an integer from 0 to 3"):
            level.get()


def test_declared_once() -> None:
    first = register(string("FLYDSL_TEST_NAME", group="test", help="A name."))
    assert register(string("FLYDSL_TEST_NAME", group="test", help="A name.")) is first
    with pytest.raises(ValueError, match=r"variable FLYDSL_TEST_NAME .* is declared already"):
        register(string("FLYDSL_TEST_NAME", group="test", help="Another meaning."))
    with pytest.raises(ValueError, match=r"is declared already, by FLYDSL_TEST_NAME"):
        register(string("FLYDSL_TEST_OTHER", attribute="name", group="test", help="The same attribute."))


def test_unknown_names() -> None:
    with pytest.raises(
        AttributeError, match=r"no environment variable 'no_such' in group 'runtime'; there are: .*cache"
    ):
        _ = group("runtime").no_such
    with pytest.raises(ValueError, match=r"no group of environment variables 'nothing'; there are: .*runtime"):
        group("nothing")


def test_paths_know_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = register(path("FLYDSL_TEST_DIR", default="~/x", group="test", help="A folder."))
    assert folder.get() == Path.home() / "x"
    monkeypatch.setenv("FLYDSL_TEST_DIR", str(tmp_path))
    assert folder.get() == tmp_path


def test_a_user_without_a_home_has_a_folder_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nobody(_: object) -> object:
        raise KeyError("no such user")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = register(path("FLYDSL_TEST_FOLDER", default="~/.flydsl/test", group="test", help="A folder."))
    assert folder.get() == tmp_path / f"flydsl-{os.geteuid()}" / ".flydsl" / "test"
    monkeypatch.setenv("FLYDSL_TEST_FOLDER", "~no-such-user/test")
    with pytest.raises(ValueError, match="FLYDSL_TEST_FOLDER='~no-such-user/test': expected a path"):
        folder.get()


def test_the_group_of_a_wheel_imports_what_its_entry_point_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "made_up_settings.py").write_text(
        "from flydsl.runtime.environment import register, string\n"
        "register(string('FLYDSL_MADE_UP_COLOUR', default='green', group='made_up', help='A colour.'))\n"
    )
    (tmp_path / "broken_settings.py").write_text("import there_is_no_such_module\n")
    wheel = tmp_path / "made_up-1.0.dist-info"
    wheel.mkdir()
    (wheel / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (wheel / "entry_points.txt").write_text(
        f"[{environment.ENTRY_POINTS}]\nmade_up = made_up_settings\nbroken = broken_settings\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert group("made_up").colour == "green"
    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
        group("broken")
