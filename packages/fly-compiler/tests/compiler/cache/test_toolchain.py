# SPDX-License-Identifier: Apache-2.0
"""The hash of the tool chain is of its content; it is recorded for later processes, and never that of other files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flydsl.compile.cache import record, toolchain
from flydsl.compile.cache.linked import linked_libraries


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A tool chain of one old source and one old library, and no record."""
    sources, cache, home = tmp_path / "sources", tmp_path / "cache", tmp_path / "home"
    for folder in (sources, cache, home):
        folder.mkdir(mode=0o700)
    file = sources / "one.py"
    file.write_text("a = 1\n")
    (sources / "library.cpython-312.so").write_bytes(b"\x7fELF" + bytes(100))
    monkeypatch.setattr(toolchain, "_PACKAGES", ("sources",))
    monkeypatch.setattr(toolchain, "_locations", lambda name: [sources])
    monkeypatch.setattr(toolchain, "_found", [])
    monkeypatch.setattr(record, "_YOUNG_NS", -(10**18))
    monkeypatch.setattr(toolchain, "_BEGAN", 1 << 62)
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(cache))
    monkeypatch.setenv("HOME", str(home))
    return file


@pytest.fixture
def records(tmp_path):
    """Where the records are."""
    return tmp_path / "home" / ".flydsl" / "toolchains"


def in_a_new_process():
    """Return the hash as a new process finds it, and whether it had to read the files."""
    toolchain._found.clear()
    found = toolchain.toolchain_hash.__wrapped__()
    return found, bool(toolchain._found)


def recorded():
    """Return the hash after it was recorded, as late as changes are told apart by their times."""
    found = in_a_new_process()
    toolchain.record_toolchain()
    time.sleep(0.03)
    return found[0]


def changed_in_place(file, content):
    """Write a content of the same size, and give the file the time of modification that it had."""
    facts = file.stat()
    while file.stat().st_ctime_ns == facts.st_ctime_ns:  # the clock of some file systems ticks every 10 ms
        file.write_bytes(content)
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert file.stat().st_size == facts.st_size
    assert file.stat().st_mtime_ns == facts.st_mtime_ns


def test_known_files_are_not_read_again(source, tmp_path, records):
    first = recorded()
    assert len(list(records.iterdir())) == 1
    assert in_a_new_process() == (first, False)


def test_the_record_is_none_of_the_cache_folders(source, tmp_path, monkeypatch):
    first = recorded()
    assert list((tmp_path / "cache").iterdir()) == []
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "another"))
    assert in_a_new_process() == (first, False)


def test_a_user_without_a_home_has_the_record_in_the_cache_folder(source, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/nowhere")
    first = recorded()
    assert len(list((tmp_path / "cache" / ".toolchains").iterdir())) == 1
    assert in_a_new_process() == (first, False)


def test_an_edit_of_the_same_size_and_time_is_seen(source, tmp_path):
    first = recorded()
    changed_in_place(source, b"a = 2\n")
    second, read = in_a_new_process()
    assert read
    assert second != first


@pytest.mark.parametrize("at", [4, 53, 103])
@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_changed_byte_of_a_library_is_seen(source, tmp_path, at, is_recorded):
    first = recorded() if is_recorded else in_a_new_process()[0]
    library = source.parent / "library.cpython-312.so"
    content = bytearray(library.read_bytes())
    content[at] ^= 1
    changed_in_place(library, content)
    second = recorded() if is_recorded else in_a_new_process()[0]
    assert second != first
    content[at] ^= 1
    changed_in_place(library, content)
    assert in_a_new_process()[0] == first, "the hash is that of the content, and of nothing else"


def test_the_same_content_elsewhere_has_the_same_hash(source, tmp_path, monkeypatch):
    first = recorded()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(source.parent, elsewhere)
    os.utime(elsewhere / "one.py", ns=(1, 1))
    monkeypatch.setattr(toolchain, "_locations", lambda name: [elsewhere])
    assert in_a_new_process() == (first, True)


def test_several_tool_chains_are_known(source, tmp_path, monkeypatch):
    first = recorded()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(source.parent, elsewhere)
    (elsewhere / "one.py").write_text("a = 2\n")
    monkeypatch.setattr(toolchain, "_locations", lambda name: [elsewhere])
    second = recorded()
    assert second != first
    assert in_a_new_process() == (second, False)
    monkeypatch.setattr(toolchain, "_locations", lambda name: [source.parent])
    assert in_a_new_process() == (first, False)


def test_records_do_not_pile_up(source, tmp_path, records, monkeypatch):
    for number in range(2 * record._MOST_RECORDS):
        monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere/{number}")  # may give other libraries
        last = recorded()
    assert len(list(records.iterdir())) == record._MOST_RECORDS
    assert in_a_new_process() == (last, False)


def test_new_files_are_seen(source, tmp_path):
    first = recorded()
    (source.parent / "two.py").write_text("")
    second, read = in_a_new_process()
    assert read
    assert second != first


def test_links_to_nowhere_are_no_sources(source, tmp_path):
    first = recorded()
    (source.parent / ".#one.py").symlink_to("user@machine.1234")
    assert in_a_new_process() == (first, True)


def test_a_file_that_appears_while_the_folders_are_read_is_seen(source, tmp_path, monkeypatch):
    listed = toolchain._listed

    def and_then_one_appears(roots):
        found = listed(roots)
        time.sleep(0.03)
        (source.parent / "two.py").write_text("")
        return found

    monkeypatch.setattr(toolchain, "_listed", and_then_one_appears)
    first = recorded()
    monkeypatch.setattr(toolchain, "_listed", listed)
    second, read = in_a_new_process()
    assert read
    assert second != first


def test_names_of_files_are_seen(source, tmp_path):
    first = recorded()
    source.rename(source.with_name("two.py"))
    assert in_a_new_process()[0] != first


def test_young_files_are_not_recorded(source, tmp_path, records, monkeypatch):
    monkeypatch.setattr(record, "_YOUNG_NS", 10**18)
    recorded()
    assert not records.exists()


def test_a_damaged_record_is_not_believed(source, tmp_path, records):
    first = recorded()
    (path,) = records.iterdir()
    content = path.read_bytes()
    for index in range(0, len(content), 7):
        path.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        assert in_a_new_process() == (first, True)
    for cut in (0, 31, 32, len(content) - 1):
        path.write_bytes(content[:cut])
        assert in_a_new_process() == (first, True)


def test_a_record_under_the_name_of_another_tool_chain_is_not_believed(source, tmp_path, records, monkeypatch):
    """Its files are as it says, but they are not those that are asked for."""
    first = recorded()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(source.parent, elsewhere)
    (elsewhere / "one.py").write_text("a = 2\n")
    (first_record,) = records.iterdir()
    monkeypatch.setattr(toolchain, "_locations", lambda name: [elsewhere])
    second = recorded()
    (second_record,) = set(records.iterdir()) - {first_record}
    shutil.copyfile(first_record, second_record)
    found = in_a_new_process()
    assert found == (second, True)
    assert second != first


@pytest.mark.parametrize("kind", ["others", "link", "pipe", "folder"])
def test_a_record_that_others_may_have_written_is_not_believed(source, tmp_path, records, kind):
    first = recorded()
    (path,) = records.iterdir()
    if kind == "others":
        path.chmod(0o666)
    else:
        path.rename(tmp_path / "kept")
        if kind == "link":
            path.symlink_to(tmp_path / "kept")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
    assert in_a_new_process() == (first, True)
    toolchain.record_toolchain()  # it takes the place of what is there, or lies in the cache folder
    assert in_a_new_process() == (first, False)


def test_a_record_that_cannot_be_written_is_none(source, tmp_path, monkeypatch):
    def full(*_args, **_rest):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record, "atomic_write", full)
    first = recorded()
    assert in_a_new_process() == (first, True)


def test_without_the_cache_nothing_is_written(source, tmp_path, monkeypatch, records):
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    first = recorded()
    assert not records.exists()
    assert list((tmp_path / "cache").iterdir()) == []
    monkeypatch.delenv("FLYDSL_RUNTIME_ENABLE_CACHE")
    assert recorded() == first
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    monkeypatch.setattr(toolchain, "_read", None)  # what is known is not read again
    assert recorded() == first


def test_what_changed_after_the_process_began_is_nobody_elses(source, tmp_path, monkeypatch, caplog):
    """The process may have loaded what lay there before: under the new content's hash others would find old code."""
    first = recorded()
    monkeypatch.setattr(toolchain, "_BEGAN", source.stat().st_ctime_ns)
    with caplog.at_level("WARNING", logger="flydsl"):
        found = {in_a_new_process()[0] for _ in range(3)}
    assert first not in found
    assert len(found) == 3
    assert "changed after this process began" in caplog.text


def test_a_forked_process_began_with_its_parent():
    """What it has loaded is what lay there then."""
    program = f"import os, sys, time; sys.path[:] = {sys.path!r}\n" + (
        "from flydsl.compile.cache import toolchain\n"
        "time.sleep(0.1)\n"
        "print(toolchain._BEGAN, time.time_ns(), flush=True)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(toolchain._BEGAN, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    before = time.time_ns()
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    began, imported, in_child = map(int, output.split())
    assert before - 20_000_000 <= began <= imported - 100_000_000
    assert in_child == began


def test_all_that_compiles_is_a_part_of_it():
    roots = [(package, str(one)) for package in toolchain._PACKAGES for one in toolchain._locations(package)]
    files, _ = toolchain._listed(roots)
    names = {name for name, _ in files}
    assert "flydsl.compile/pipeline.py" in names
    assert "flydsl._mlir/passmanager.py" in names
    assert "flydsl._mlir/_mlir_libs/libFlyDialect.so" in names
    mapped = Path("/proc/self/maps").read_text()
    for library in linked_libraries(path for _, path in files):
        assert library in mapped
        assert Path(library).name.startswith(("libLLVM", "libMLIR"))
    assert len(linked_libraries(path for _, path in files)) == sum(
        f"/{one}.so" in mapped and "libFlyDialect" in mapped for one in ("libLLVM", "libMLIR")
    )
