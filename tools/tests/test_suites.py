# SPDX-License-Identifier: Apache-2.0
"""What a suite runs: all of its tests, or the files that the command line names."""

import subprocess
import threading
from pathlib import Path

import pytest
from setup import environments, suites, wheels
from setup.shell import SetupError


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
    assert commands[0][commands[0].index("-n") + 1] == str(suites.CORES)


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


@pytest.fixture
def whole(commands, monkeypatch):
    """Runs all suites, each of which passes after it called `during` with its command and its environment."""
    monkeypatch.setattr(suites.progress, "SIDE_BY_SIDE", False)
    monkeypatch.delenv("FLYDSL_TEST_ONE_OF", raising=False)

    def with_(during, cores=2, beside=lambda: "checked"):
        def run(command, env, stdout, **_):
            during(command, env)
            (report,) = (one.partition("=")[2] for one in command if one.startswith("--junitxml="))
            Path(report).write_text('<testsuites><testsuite tests="3" skipped="1"/></testsuites>')
            stdout.write(f"output of {Path(report).stem}\n")
            return subprocess.CompletedProcess(command, 0)

        monkeypatch.setattr(suites.subprocess, "run", run)
        return suites.run_all(beside, cores)

    return with_


def test_all_suites_run_on_each_architecture_with_their_shares(whole, capsys):
    found = []
    checked, counts = whole(
        lambda command, env: found.append(
            (Path(command[-1].partition("=")[2]).stem, env.get("FLYDSL_TEST_ONE_OF", "1"), env["FLYDSL_GPU_ARCH"])
        )
    )
    wanted = [
        (f"{one.name}-{architecture}", str(share), architecture)
        for one in suites.ALL
        for architecture, share in zip(one.architectures, one.one_of, strict=True)
    ]
    assert sorted(found) == sorted(wanted)
    assert checked == "checked"
    assert list(counts) == [one.name for one in suites.ALL]
    assert {name: one.passed for name, one in counts.items()} == {
        one.name: 2 * len(one.architectures) for one in suites.ALL
    }
    said = capsys.readouterr().out
    assert all(f"output of {name}\n" in said for name, _, _ in wanted)


@pytest.mark.parametrize(("cores", "beside_each_other", "workers"), [(1, 1, "1"), (2, 2, "1"), (8, 2, "4")])
def test_suites_run_two_at_a_time_on_half_of_the_cores(whole, cores, beside_each_other, workers):
    lock, running, most, processes = threading.Lock(), [], [], set()
    both = threading.Barrier(beside_each_other)

    def during(command, _):
        with lock:
            running.append(command)
            most.append(len(running))
            processes.add(command[command.index("-n") + 1])
        if len(most) <= beside_each_other:
            both.wait(timeout=60)
        with lock:
            running.remove(command)

    whole(during, cores)
    assert (max(most), processes) == (beside_each_other, {workers})


def test_what_cannot_be_set_up_ends_the_run(whole):
    def fails():
        raise SetupError("no compiler")

    began = []
    with pytest.raises(SetupError, match="no compiler"):
        whole(lambda command, _: began.append(command), beside=fails, cores=1)
    assert len(began) < sum(len(one.architectures) for one in suites.ALL)


def test_how_far_a_suite_is(tmp_path):
    log = tmp_path / "x.log"
    assert suites._progress(log) == ""
    log.write_text("..... [  3%]\n.... [ 45%]\n")
    assert suites._progress(log) == " (45%)"


def test_what_takes_longest_is_a_suite():
    assert {*suites._LONGEST} <= {one.name for one in suites.ALL}
