# SPDX-License-Identifier: Apache-2.0
"""What a suite runs: all of its tests, or the files that the command line names."""

import subprocess
from pathlib import Path

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


@pytest.mark.parametrize(("codes", "failed"), [((0, 5), 0), ((5, 5), 1), ((0, 1), 1)])
def test_what_is_named_may_run_on_the_first_architecture_only(commands, monkeypatch, codes, failed):
    (suite,) = (one for one in suites.ALL if one.name == "kernels")
    left = list(codes)

    def run(command, **_):
        code = left.pop(0)
        (report,) = (one.partition("=")[2] for one in command if one.startswith("--junitxml="))
        Path(report).write_text(f'<testsuites><testsuite tests="{int(code == 0)}"/></testsuites>')
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(suites.subprocess, "run", run)
    counts = suites.run(suite, ["packages/fly-kernels/tests/conftest.py"])
    assert (counts.passed, bool(counts.failed)) == (int(codes[0] == 0), bool(failed))


@pytest.mark.parametrize(("extra", "shares"), [([], ["4", "6"]), (["-k", "swizzle"], [None, None])])
def test_a_whole_run_of_kernels_takes_a_share_of_the_cases(commands, monkeypatch, extra, shares):
    (suite,) = (one for one in suites.ALL if one.name == "kernels")
    monkeypatch.delenv("FLYDSL_TEST_ONE_OF", raising=False)
    found = []

    def run(command, env, **_):
        found.append(env.get("FLYDSL_TEST_ONE_OF"))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(suites.subprocess, "run", run)
    suites.run(suite, extra)
    assert found == shares
