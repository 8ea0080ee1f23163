# SPDX-License-Identifier: Apache-2.0
"""The database of results: what it keeps through damage, kills and foreign files, and how databases are merged."""

import hashlib
import json
import logging
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from flydsl.autotune import Config, Search, autotune, schema
from flydsl.autotune import database as database_module
from flydsl.autotune.__main__ import main
from flydsl.autotune.database import Database, Result, newest
from flydsl.autotune.facts import facts_of
from flydsl.autotune.results import EVALUATED

COUNT = 200


def result(number, **changes):
    return Result(**{"function": "kernel", "key": ("axis", f"{number} {'x' * 300}"), "config": {"BLOCK": number},
                     "milliseconds": 0.5, "measure": "device", **changes})  # fmt: skip


def blocks(database):
    return sorted(one.config["BLOCK"] for one in newest(database.results("kernel")).values())


@pytest.fixture
def database(cache_folder):
    return Database(cache_folder)


@pytest.fixture
def full(database):
    """With COUNT results, BLOCK from 0 on."""
    database.add(map(result, range(COUNT)))
    return database


def test_it_gives_back_what_was_added(database):
    database.add([result(1), result(2, function="other", measure="own", milliseconds=None)])
    (one,) = database.results("kernel")
    assert (one.key, one.config, one.milliseconds, one.measure) == (result(1).key, {"BLOCK": 1}, 0.5, "device")
    assert one.found.endswith("+00:00")
    assert {each.function for each in database.results()} == {"kernel", "other"}


def test_the_newest_counts_and_older_ones_stay(database):
    database.add([result(1)])
    database.add([result(1, config={"BLOCK": 7})])
    assert blocks(database) == [7]
    assert [one.config["BLOCK"] for one in database.results()] == [1, 7]


def test_what_is_added_last_counts_whatever_the_clock_says(database):
    database.add([result(1, found="2999-01-01T00:00:00.000000+00:00")])
    database.add([result(1, config={"BLOCK": 7})])
    assert blocks(database) == [7]


def test_only_the_owner_can_read_and_write(database):
    database.add([result(1)])
    assert database.path.stat().st_mode & 0o777 == 0o600
    assert database.folder.stat().st_mode & 0o777 == 0o700


def test_merging_loses_nothing_and_can_be_repeated(tmp_path):
    one, other = Database(tmp_path / "one"), Database(tmp_path / "other")
    one.add(map(result, range(8)))
    other.add(map(result, range(4, 12)))
    assert one.merge(other.results()) == 8
    assert one.merge(other.results()) == 0
    assert other.merge(one.results()) == 8
    assert {each.digest for each in one.results()} == {each.digest for each in other.results()}
    assert blocks(one) == blocks(other) == list(range(12))
    assert len(one.results()) == 16  # both findings for 4 to 7


def test_removed_results_do_not_come_back(full):
    assert full.remove(one for one in full.results() if one.config["BLOCK"] >= 5) == COUNT - 5
    assert blocks(full) == list(range(5))
    assert len(json.loads(full.file_of("kernel").read_text())) == 5


def test_columns_say_what_the_key_says(database, kernel, bench):
    tuned = autotune([Config(BLOCK=2)], key=["n"], do_bench=bench)(kernel)
    tuned(None, 5000)
    with closing(sqlite3.connect(database.path)) as connection:
        columns = "source, toolchain, architecture, device, model, shape, shape_class, role"
        (row,) = connection.execute(f"SELECT {columns} FROM result").fetchall()
    source, toolchain, *where, shape, shape_class, role = row
    facts = facts_of(database.results()[0].key)
    assert (source, toolchain) == (facts.source, facts.toolchain)
    assert where == [facts.architecture, facts.device, facts.model]
    assert all((source, toolchain, *where))
    assert (shape, shape_class, role) == ("5000", "8192", "best")


@pytest.fixture
def older(database):
    """A database of version 1, as that wrote it."""
    database.folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(database.path)) as connection:
        connection.executescript(schema._script(1))
        names = "function, key, config, milliseconds, measure, found, digest"
        rows = [result(number, found=f"2025-01-01T00:00:{number:02d}.000000+00:00").row()[:7] for number in range(20)]
        connection.executemany(f"INSERT INTO result ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    database.path.chmod(0o600)
    return database


def versions(database):
    with closing(sqlite3.connect(database.path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_the_first_version_is_read_as_it_is_and_becomes_this_one_when_written(older):
    assert blocks(older) == list(range(20))
    assert versions(older) == 1
    digests = {one.digest for one in older.results()}
    older.add([result(20)])
    assert versions(older) == schema.VERSION
    assert blocks(older) == list(range(21))
    assert digests < {one.digest for one in older.results()}  # so both versions' databases merge without copies
    with closing(sqlite3.connect(older.path)) as connection:
        query = "SELECT count(*) FROM result WHERE role = 'best' AND shape IS NOT NULL"
        assert connection.execute(query).fetchone() == (21,)


@pytest.mark.parametrize("written", [False, True])
def test_a_damaged_first_page_of_an_older_version_loses_nothing(older, written, caplog):
    if written:
        older.add([result(20)])
    content = bytearray(older.path.read_bytes())
    content[:4096] = b"x" * 4096
    older.path.write_bytes(content)
    older.file_of("kernel").unlink(missing_ok=True)  # the database alone
    assert blocks(older) == list(range(20 + written))
    assert "is damaged" in caplog.text


def test_evaluations_are_no_results_of_calls(database):
    database.add([result(1), result(1, config={"BLOCK": 5}, role=EVALUATED), result(2, role=EVALUATED, error="broke")])
    assert blocks(database) == [1]
    assert len(json.loads(database.file_of("kernel").read_text())) == 1
    assert [(one.config["BLOCK"], one.error) for one in database.results(roles=[EVALUATED])] == [(5, ""), (2, "broke")]


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_missing_byte_loses_nothing(full, caplog):
    content = full.path.read_bytes()
    for place in (3, 20, 101, 5000, len(content) // 2, len(content) - 1):
        full.path.write_bytes(content[:place] + content[place + 1 :])
        assert blocks(full) == list(range(COUNT))
        assert "is damaged" in caplog.text
        caplog.clear()
        assert blocks(full) == list(range(COUNT))
        assert not caplog.text  # it was healed


def test_a_missing_byte_in_each_file_loses_one_result_at_most(full):
    for path in (full.path, full.file_of("kernel")):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] + content[len(content) // 2 + 1 :])
    assert len(blocks(full)) >= COUNT - 1


@pytest.mark.parametrize("seed", range(8))
def test_changed_bytes_lose_nothing_and_change_nothing(full, seed):
    rng = random.Random(seed)
    whole = full.path.read_bytes()
    for round_ in range(12):
        content = bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 20))):
            # Every other time in the header and the first page, where the structure is.
            place = rng.randrange(100 if round_ % 3 == 0 else 4096 if round_ % 3 == 1 else len(content))
            content[place] ^= 1 << rng.randrange(8)
        full.path.write_bytes(content)
        assert blocks(full) == list(range(COUNT)), f"seed {seed}, round {round_}"
        full.add([result(0)])
        assert blocks(full) == list(range(COUNT))


@pytest.mark.parametrize("place", [b"CREATE INDEX", b"by_function", b"CREATE TABLE mirror", b"INTEGER PRIMARY"])
def test_a_schema_that_is_no_text_loses_nothing(full, place, caplog):
    """SQLite quotes it in what it says, and Python cannot read that."""
    content = full.path.read_bytes()
    full.path.write_bytes(content.replace(place, place[:4] + b"\xa0" + place[5:]))
    assert blocks(full) == list(range(COUNT))
    assert "is damaged" in caplog.text


def test_a_header_that_forbids_to_write_is_healed(full, caplog):
    """Readers do not see it; without this no result would be kept any more."""
    content = bytearray(full.path.read_bytes())
    content[18] = 3  # the version of the format for writers: 1 or 2
    full.path.write_bytes(content)
    full.add([result(COUNT)])
    assert blocks(full) == list(range(COUNT + 1))
    assert "is damaged (attempt to write a readonly database)" in caplog.text


def test_rows_outlive_the_first_page_with_all_that_they_say(full):
    digests = {one.digest for one in full.results()}
    content = bytearray(full.path.read_bytes())
    content[:4096] = os.urandom(4096)
    full.path.write_bytes(content)
    full.file_of("kernel").unlink()
    assert {one.digest for one in full.results()} == digests


@pytest.mark.parametrize(("tick", "page"), [(10**18, 4), (-(10**18), 7)])
def test_damage_that_changes_neither_size_nor_time_is_seen(full, monkeypatch, tick, page):
    """As where a file changes twice in a tick of the clock: its check is not remembered, or is not believed for long.

    The first page is the root of the index by function: without a check a few results would seem to be all.
    """
    monkeypatch.setattr(database_module, "_TICK_NS", tick)
    full.add([result(0)])
    facts = full.path.stat()
    content = bytearray(full.path.read_bytes())
    start = (page - 1) * schema.PAGE
    content[start + 3 : start + 5] = (1).to_bytes(2, "big")  # the page has one cell
    full.path.write_bytes(content)
    os.utime(full.path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert blocks(full) == list(range(COUNT))


@pytest.mark.parametrize("content", [b"", b"nothing like it", bytes(8192), b"SQLite format 3\0", b"\xff" * 100])
def test_something_else_in_its_place(full, content):
    full.path.write_bytes(content)
    assert blocks(full) == list(range(COUNT))
    full.add([result(COUNT)])
    assert blocks(full) == list(range(COUNT + 1))


def test_a_row_that_was_changed_is_not_believed(full):
    with sqlite3.connect(full.path) as connection:
        connection.execute("UPDATE result SET config = '{\"BLOCK\":-1}' WHERE id = 7")
    connection.close()
    assert blocks(full) == list(range(COUNT))


def test_a_database_of_another_program_is_put_aside(database):
    database.folder.mkdir(mode=0o700)
    with sqlite3.connect(database.path) as connection:
        connection.execute("CREATE TABLE address (name TEXT)")
    connection.close()
    database.add([result(1)])
    assert blocks(database) == [1]
    (aside,) = database.folder.glob("results.damaged-*.sqlite")
    with sqlite3.connect(aside) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("address",)]
    connection.close()


def test_a_newer_format_is_left_alone(full, caplog):
    with sqlite3.connect(full.path) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        connection.executescript(f"PRAGMA user_version = 3; PRAGMA application_id = {application + 1}")
    connection.close()
    before = full.path.read_bytes()
    with pytest.raises(OSError, match="written by a newer fly-autotune"):
        full.results("kernel")
    assert full.path.read_bytes() == before


# -- the file of older versions ----------------------------------------------------------------------------------------


def as_file(numbers):
    return {json.dumps(list(result(number).key)): {"BLOCK": number} for number in numbers}


def test_a_file_of_an_older_version_is_taken_over(database):
    database.folder.mkdir(mode=0o700)
    database.file_of("kernel").write_text(json.dumps(as_file(range(5)), indent=2))
    assert blocks(database) == list(range(5))
    database.file_of("kernel").unlink()
    assert blocks(database) == list(range(5))
    assert {one.measure for one in database.results()} == {"unknown"}


def test_an_older_version_may_go_on_writing_its_file(full):
    path = full.file_of("kernel")
    path.write_text(json.dumps({**json.loads(path.read_text()), **as_file([1000])}))
    full.add([result(COUNT)])
    assert blocks(full) == [*range(COUNT + 1), 1000]
    assert len(json.loads(path.read_text())) == COUNT + 2


@pytest.mark.parametrize("remove", [0, 1, 100, 5000, -1, -3])
def test_a_damaged_file_of_an_older_version(database, remove):
    database.folder.mkdir(mode=0o700)
    text = json.dumps(as_file(range(1000)), indent=2)
    remove %= len(text)
    database.file_of("kernel").write_text(text[:remove] + text[remove + 1 :])
    assert len(blocks(database)) >= 999


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), [float("nan")]])
def test_numbers_that_json_does_not_have(database, bench, value):
    database.folder.mkdir(mode=0o700)
    content = {**as_file([1]), '["bad"]': {"BLOCK": value}}
    database.file_of("kernel").write_text(json.dumps(content))
    assert blocks(database) == [1]

    def kernel(n, BLOCK):
        bench.last = BLOCK
        return BLOCK

    for configs in ([Config(BLOCK=1), Config(BLOCK=2)], lambda n: [Config(BLOCK=1), Config(BLOCK=2)]):
        assert autotune(configs, key=["n"], do_bench=bench)(kernel)(3) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"BLOCK": float("nan")}}, {"config": ["BLOCK"]}, {"config": {"num_warps": 0}}, {"config": 7},
        {"found": "2999-01-01T00:00:00.000000+00:00"}, {"found": "9999-12-31T23:59:59.999999+00:00"},
        {"found": "tomorrow"}, {"found": "2026-01-01"}, {"milliseconds": "fast"}, {"milliseconds": float("inf")},
        {"milliseconds": 1 << 62}, {"key": "[1, [2]]"}, {"key": '"text"'}, {"key": "[ ]"}, {"measure": b"own"},
        {"function": b"kernel"}, {"function": "f" * 250}, {"function": ""}, {"error": 5, "role": EVALUATED},
    ],
    ids=str,
)  # fmt: skip
def test_rows_of_another_program_that_are_no_findings(database, bench, changes, capsys):
    """With right checksums: as a database that was merged or copied may have them."""
    tuned = autotune(lambda n: [Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(a_kernel(bench))
    row = {
        "function": "kernel", "key": json.dumps(list(tuned._make_key((3,), {}))), "config": {"BLOCK": 1},
        "milliseconds": 1.0, "measure": "unknown", "found": "2025-01-01T00:00:00.000000+00:00", "role": "best",
        "error": "", **changes,
    }  # fmt: skip
    row["config"] = json.dumps(row["config"], separators=(",", ":"))
    database.add([result(1)])
    with closing(sqlite3.connect(database.path)) as connection:
        places = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO result (digest, {', '.join(row)}) VALUES ('', {places})", (*row.values(),))
        stored = connection.execute(
            f"SELECT {', '.join(row)} FROM result WHERE digest = ''"
        ).fetchone()  # as its types are
        *columns, role, error = stored
        parts = (*columns, *(() if (role, error) == ("best", "") else (role, error)))
        digest = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
        connection.execute("UPDATE result SET digest = ? WHERE digest = ''", (digest,))
        connection.commit()
    for forced in ("0", "1", "0"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FLYDSL_AUTOTUNE", forced)
            again = autotune(lambda n: [Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(a_kernel(bench))
            assert again(3) in (1, 2)
    assert again(3) == 2
    assert 1 in blocks(database)
    for words in (["show", "--all", "--evaluated"], ["export", "--all"], ["prune", "--older-than", "1", "--dry-run"]):
        assert main(words) == 0, capsys.readouterr().err


def test_texts_that_are_no_unicode_are_kept(database, bench):
    """An argument and the message of a failure may have a file's name in them, and its bytes."""

    def kernel(name, BLOCK):
        bench.last = BLOCK
        if BLOCK == 1:
            raise OSError(2, "no such file", name)
        return BLOCK

    search = Search([Config(BLOCK=1), Config(BLOCK=2)])
    for _ in range(2):
        assert autotune(search, key=["name"], do_bench=bench)(kernel)("data-\udcff") == 2
    assert len(bench.calls) == 1
    evaluated = {one.config["BLOCK"]: one.error for one in database.results("kernel", [EVALUATED])}
    assert "data-" in evaluated[1]
    assert main(["show", "--evaluated"]) == 0


def test_names_that_are_no_parameters_are_not_used(database, bench):
    """Configurations that are computed cannot be compared with those that are offered."""

    def kernel(n, BLOCK):
        bench.last = BLOCK
        return BLOCK

    def tuned():
        return autotune(lambda n: [Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(kernel)

    key = tuned()._make_key((3,), {})
    database.add([Result("kernel", key, {"TILE": 5})])
    assert tuned()(3) == 2


# -- others' folders and files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used(full, bench, caplog, mode):
    full.folder.chmod(mode)
    before = {path: path.read_bytes() for path in full.folder.iterdir()}
    tuned = autotune([Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(a_kernel(bench))
    assert tuned(3) == tuned(3) == 2
    assert len(bench.calls) == 2
    assert (
        caplog.text.count(f"{full.folder} may be written by others (mode {mode:04o})") == 2
    )  # reading and writing, once each
    assert f"chmod go-w {full.folder}" in caplog.text
    assert {path: path.read_bytes() for path in full.folder.iterdir()} == before


def a_kernel(bench):
    def kernel(n, BLOCK):
        bench.last = BLOCK
        return BLOCK

    return kernel


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_in_one_that_others_may_write_to_is_not_used(tmp_path, bench, monkeypatch, caplog, mode):
    """They could put another folder in its place. The rule is fly-runtime's, and that of the cache of kernels."""
    above, folder = tmp_path / "open", tmp_path / "open" / "below" / "mine"
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(folder))
    folder.mkdir(parents=True, mode=0o700)
    above.chmod(mode)
    said = f"lies in {above}, which others may write to (mode {mode:04o}): they could put another folder in its place"
    autotune([Config(BLOCK=1)], key=["n"], do_bench=bench)(a_kernel(bench))(3)
    assert said in caplog.text
    assert "Set FLYDSL_AUTOTUNE_CACHE_DIR to a folder below one of yours" in caplog.text
    assert list(folder.iterdir()) == []
    for use in (lambda: Database(folder).results(), lambda: Database(folder).add([result(1)])):
        with pytest.raises(OSError, match="could put another folder in its place"):
            use()
    above.chmod(0o1777)  # as /tmp: nobody can rename what belongs to others
    Database(folder).add([result(1)])
    assert blocks(Database(folder)) == [1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_is_not_used(full, caplog):
    os.chown(full.folder, 12345, -1)
    for use in (lambda: full.results("kernel"), lambda: full.add([result(1)])):
        with pytest.raises(OSError, match=f"{full.folder} belongs to user 12345"):
            use()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_folder_below_that_of_another_user_is_not_used(tmp_path, mode):
    """Its owner may rename what is in it, sticky or not."""
    folder = tmp_path / "theirs" / "mine"
    Database(folder).add([result(1)])
    (tmp_path / "theirs").chmod(mode)
    os.chown(tmp_path / "theirs", 12345, -1)
    for use in (lambda: Database(folder).results(), lambda: Database(folder).add([result(2)])):
        with pytest.raises(OSError, match=f"lies in {tmp_path / 'theirs'}, which belongs to user 12345"):
            use()


@pytest.mark.parametrize("name", ["results.lock", "results.sqlite", "results.sqlite-journal", "kernel.json"])
@pytest.mark.parametrize("what", ["link", "broken link", "fifo", "folder"])
def test_links_and_fifos_are_not_followed(full, tmp_path, bench, name, what, caplog):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = full.folder / name
    path.unlink(missing_ok=True)
    if what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(victim if what == "link" else tmp_path / "nowhere")
    tuned = autotune([Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(a_kernel(bench))
    assert tuned(3) == 2
    assert victim.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_others_may_write_to_is_not_used(full):
    full.path.chmod(0o666)
    with pytest.raises(OSError, match="others may write to"):
        full.results("kernel")


def test_a_json_file_that_others_may_write_to_is_not_used(database, caplog):
    database.folder.mkdir(mode=0o700)
    database.file_of("kernel").write_text(json.dumps(as_file([1])))
    database.file_of("kernel").chmod(0o666)
    assert blocks(database) == []
    assert f"others may write to {database.file_of('kernel')}" in caplog.text
    database.file_of("kernel").chmod(0o644)
    os.utime(database.file_of("kernel"))
    assert blocks(database) == [1]


def test_a_folder_that_can_only_be_read(full, monkeypatch):
    """As root may read everything, the lock is what fails here."""
    full.file_of("kernel").write_text(json.dumps(as_file([1000])))
    (full.folder / "results.lock").unlink()
    (full.folder / "results.lock").symlink_to("/nowhere/at/all")
    assert blocks(full) == [*range(COUNT), 1000]


# -- kills -------------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from flydsl.autotune.database import Database, Result

database = Database(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 1 << 30, int(sys.argv[3])):
    database.add([Result("kernel", ("axis", str(number)), {"BLOCK": number})])
    print(number, flush=True)
"""


def test_kills_lose_nothing(database):
    """What a process said that it wrote is there, however it and its like end."""
    rng = random.Random(0)
    said = set()
    for _ in range(6):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(database.folder), str(1000 * rng.randrange(1000) + one), "2"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for one in range(2)
        ]
        for writer in writers:
            said.add(int(writer.stdout.readline()))
        time.sleep(rng.random() * 0.3)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        for writer in writers:
            said |= {int(line) for line in writer.communicate()[0].splitlines()}
            assert writer.returncode == -signal.SIGKILL
        assert said <= set(blocks(database))
    assert not list(database.folder.glob("results.damaged-*"))
    assert set(map(tuple, map(json.loads, json.loads(database.file_of("kernel").read_text())))) >= {
        ("axis", str(number)) for number in said
    }


def test_what_killed_writers_left_goes(full):
    left, writing, other = (full.folder / name for name in (".kernel.json-abc", ".kernel.json-def", ".notes"))
    for path in (left, writing, other):
        path.write_text("")
    for path in (left, other):
        os.utime(path, (time.time() - 9000,) * 2)
    full.add([result(COUNT)])
    assert [path.exists() for path in (left, writing, other)] == [False, True, True]


def test_a_full_disk_is_said_and_nothing_is_lost(full, bench, monkeypatch, caplog):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        tuned = autotune([Config(BLOCK=1), Config(BLOCK=2)], key=["n"], do_bench=bench)(a_kernel(bench))
        assert tuned(3) == tuned(3) == 2
    assert "No space left on device" in caplog.text
    assert blocks(full) == list(range(COUNT))
    assert [path.name for path in full.folder.iterdir() if path.name.startswith(".")] == []


def test_a_forked_child_writes_too(full):
    child = os.fork()
    if child == 0:
        try:
            full.add([result(COUNT)])
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    full.add([result(COUNT + 1)])
    assert blocks(full) == list(range(COUNT + 2))


def test_the_log_says_it_once(full, bench, caplog):
    caplog.set_level(logging.WARNING)
    full.folder.chmod(0o777)
    for number in range(3):
        autotune([Config(BLOCK=1)], key=["n"], do_bench=bench)(a_kernel(bench))(number)
    assert caplog.text.count("may be written by others") == 2
