# SPDX-License-Identifier: Apache-2.0
"""What a suite runs: all of its tests, or the files that the command line names."""

import subprocess

import pytest
from setup import environments, suites, wheels


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The command lines that a run starts; nothing is built or run."""
    found = []

    def run(command, **_):
        found.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(wheels, "install", lambda *_, **__: tmp_path)
    monkeypatch.setattr(environments, "environment_variables", lambda: {"PATH": ""})
    monkeypatch.setattr(suites, "BUILD", tmp_path)
    monkeypatch.setattr(suites.subprocess, "run", run)
    return found


def layout():
    (suite,) = (one for one in suites.ALL if one.name == "layout")
    return suite


def test_options_narrow_the_whole_suite(commands):
    suites.run(layout(), ["-k", "swizzle"])
    assert "packages/fly-layout/tests" in commands[0]
    assert commands[0][-2:] == ["-k", "swizzle"]


def test_a_file_takes_the_place_of_the_whole_suite(commands):
    suites.run(layout(), ["packages/fly-layout/tests/conftest.py::some_test", "-x"])
    assert "packages/fly-layout/tests" not in commands[0]
    assert "packages/fly-layout/tests/conftest.py::some_test" in commands[0]


def test_a_path_that_does_not_exist_is_left_to_pytest(commands):
    suites.run(layout(), ["packages/fly-layout/tests/missing.py"])
    assert "packages/fly-layout/tests" in commands[0]
