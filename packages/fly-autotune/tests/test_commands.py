# SPDX-License-Identifier: Apache-2.0
"""`python -m flydsl.autotune`: results shown, merged from several machines, exported and forgotten."""

import json

import pytest

from flydsl.autotune import Config, autotune
from flydsl.autotune.__main__ import main
from flydsl.autotune.database import Database, Result
from flydsl.autotune.facts import Facts, facts_of
from flydsl.autotune.results import EVALUATED, ROLES


@pytest.fixture
def tuned(kernel, bench):
    made = autotune([Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(kernel)
    for n in (7, 8):
        made.resolve_config(None, n)
    return made


def test_facts_are_those_of_the_key(tuned):
    import numpy as np

    from flydsl.autotune import fingerprint, layers

    facts = facts_of(tuned._make_key((np.zeros((2, 3), np.float32), 8), {}))
    device = fingerprint.call_device({})
    assert (facts.shape, facts.dtypes) == ("8", "x:float32")
    assert facts.architecture == device.arch
    assert f"{facts.device}, model {facts.model}" == fingerprint.device_text(device)
    assert facts.model == layers.prediction_model() != ""
    assert facts.is_emulated is device.emulated
    assert facts.toolchain == fingerprint.toolchain_fingerprint()
    assert len(facts.source) == 64
    assert facts_of(("anything", "else")).device == ""


def test_show(tuned, capsys):
    capsys.readouterr()
    assert main(["show"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["function", "shape"]
    assert [row.split()[:2] for row in rows] == [["kernel", "7"], ["kernel", "8"]]
    assert all("BLOCK=2" in row and "3 (own)" in row for row in rows)
    assert main(["show", "kernel", "--json"]) == 0
    assert [one["shape"] for one in json.loads(capsys.readouterr().out)] == ["7", "8"]
    assert main(["show", "other", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["show", "--arch", "gfx1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("shape", "classed"),
    [("(5000, 64) 1 0", "(8192, 64) 1 0"), ("3 bf16 x7", "4 bf16 x7"), ("1.5 -3", "1.5 -3"), ("", "")],
)
def test_classes_of_shapes(shape, classed):
    assert Facts(shape=shape).shape_class == classed


def test_what_searches_tried_is_shown_and_forgotten_when_asked_for(tuned, cache_folder, tmp_path, capsys):
    database = Database(cache_folder)
    (key, *_) = [one.key for one in database.results()]
    database.add(
        Result("kernel", key, {"BLOCK": block}, time, "own", role=EVALUATED, error=error)
        for block, time, error in ((7, 1.0, ""), (8, 1.0, ""), (9, None, "E"))
    )
    assert main(["show", "kernel", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["show", "kernel", "--evaluated"]) == 0
    assert "FAILED: E" in capsys.readouterr().out
    assert main(["export", "--evaluated", "--out", str(tmp_path / "all.json")]) == 0
    other = tmp_path / "other"
    assert main(["--folder", str(other), "merge", str(tmp_path / "all.json")]) == 0
    assert sorted(one.config["BLOCK"] for one in Database(other).results(roles=[EVALUATED])) == [7, 8, 9]
    assert main(["--folder", str(other), "merge", str(cache_folder)]) == 0
    assert "5 results, 0 of them new" in capsys.readouterr().out
    assert main(["prune", "--evaluated"]) == 0
    assert "3 of 5 results forgotten" in capsys.readouterr().out
    assert len(database.results(roles=ROLES)) == 2


def test_nothing_is_kept(cache_folder, capsys):
    assert main(["show"]) == 0
    assert "nothing is kept" in capsys.readouterr().out
    assert not cache_folder.exists()


def test_an_export_is_the_same_every_time_and_can_be_merged(tuned, tmp_path, capsys):
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        assert main(["export", "--out", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    other = tmp_path / "other"
    assert main(["--folder", str(other), "merge", str(files[0])]) == 0
    assert "2 results, 2 of them new" in capsys.readouterr().out
    assert main(["--folder", str(other), "export", "--out", str(files[1])]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_folders_databases_and_files_of_older_versions_are_merged(cache_folder, tmp_path, capsys):
    for number, name in enumerate(("one", "two", "three")):
        Database(tmp_path / name).add([Result("kernel", ("axis", name), {"BLOCK": number}, 1.0, "device")])
    sources = [tmp_path / "one", tmp_path / "two" / "results.sqlite", tmp_path / "three" / "kernel.json"]
    assert main(["merge", *map(str, sources)]) == 0
    assert main(["merge", *map(str, sources)]) == 0  # again: nothing is there twice
    assert capsys.readouterr().out.count("1 results, 1 of them new") == 3
    assert sorted(one.config["BLOCK"] for one in Database(cache_folder).results()) == [0, 1, 2]


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"a": ' * 100_000,
        '[{"milliseconds": 1' + "0" * 400 + ', "function": "f", "config": {}, "measure": "", "found": "", "key": []}]',
        '[{"milliseconds": 1, "function": "f", "config": {}, "measure": "", "found": "never", "key": []}]',
        '[{"milliseconds": 1, "function": null, "config": {}, "measure": "", "found": "", "key": []}]',
        '[{"milliseconds": 1, "function": "f", "config": {}, "measure": "", "found": "", "key": [1]}]',
        "[7]",
    ],
    ids=["deep list", "deep object", "number", "time", "name", "key", "entry"],
)
def test_what_is_no_export_is_not_merged(cache_folder, tmp_path, content, capsys):
    (tmp_path / "export.json").write_text(content)
    assert main(["merge", str(tmp_path / "export.json")]) == 2
    assert f"python -m flydsl.autotune: {tmp_path / 'export.json'}: " in capsys.readouterr().err


def test_prune(tuned, cache_folder, bench, monkeypatch, capsys):
    database = Database(cache_folder)
    database.add([Result("kernel", database.results()[0].key, {"BLOCK": 1}, 1.0, "own")])
    database.merge([Result("kernel", ("old",), {"BLOCK": 1}, 1.0, "own", "2001-01-01T00:00:00.000000+00:00")])
    capsys.readouterr()
    for words, said, left in (
        (["--superseded", "--dry-run"], "1 of 4 results would be forgotten", 4),
        (["--superseded"], "1 of 4 results forgotten", 3),
        (["--older-than", "365"], "1 of 3 results forgotten", 2),
        (["--other-toolchains"], "0 of 2 results forgotten", 2),
        (["--older-than", "0"], "2 of 2 results forgotten", 0),
    ):
        assert main(["prune", *words]) == 0
        assert capsys.readouterr().out.strip() == said
        assert len(database.results()) == left


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prune"], "say what to forget"),
        (["merge", "missing.json"], "missing.json"),
        (["merge", "results.txt"], "neither a folder with a database nor a JSON file"),
        (["merge", "bad.json"], "not what `export` writes"),
        (["merge", "broken.json"], "broken.json"),
    ],
)
def test_what_cannot_be_done(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text('[{"function": "kernel", "config": {"BLOCK": NaN}, "key": ["a"]}]')
    (tmp_path / "broken.json").write_text("[{")
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_folder_of_others_is_refused(tuned, cache_folder, capsys):
    cache_folder.chmod(0o777)
    assert main(["show"]) == 2
    assert f"{cache_folder} may be written by others" in capsys.readouterr().err
