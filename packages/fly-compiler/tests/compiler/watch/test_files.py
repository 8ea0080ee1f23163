# SPDX-License-Identifier: Apache-2.0
"""A file that a trace read: when it changed, the function is traced anew."""

from __future__ import annotations

import bz2
import codecs
import configparser
import dbm.dumb
import filecmp
import fileinput
import functools
import gzip
import importlib.metadata
import importlib.resources
import importlib.util
import inspect
import io
import json
import linecache
import lzma
import netrc
import operator
import os
import pathlib
import pkgutil
import runpy
import shelve
import shutil
import subprocess
import sys
import tarfile
import tokenize
import wave
import xml.etree.ElementTree
import zipfile

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.diagnostics import DSLCompileError


def _text(path, number):
    path.write_text(json.dumps({"value": number}))


def _ini(path, number):
    path.write_text(f"[all]\nvalue = {number}\n")


def _array(path, number):
    with path.open("wb") as file:
        np.save(file, np.array([number]))


def _tensor(path, number):
    torch.save(torch.tensor([number]), path)


def _size(path, number):
    path.write_bytes(b"x" * number)


def _folder(path, number):
    path.mkdir(exist_ok=True)
    for index in range(number):
        (path / str(index)).touch()


def _existence(path, number):
    if number == 5:
        path.touch()


def _lines(path, number):
    path.write_text(f"{number}" + " " * number)


def _code(path, number):
    path.write_text(f"VALUE = {number}\n")


def _compressed(library):
    def write(path, number):
        with library.open(path, "wt") as file:
            file.write(str(number))

    return write


def _zip(path, number):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("member", str(number))


def _tar(path, number):
    _text(path.with_suffix(".json"), number)
    with tarfile.open(path, "w") as archive:
        archive.add(path.with_suffix(".json"), "member")


def _link(path, number):
    if number == 5:
        path.symlink_to("nowhere")


def _target(path, number):
    path.unlink(missing_ok=True)
    path.symlink_to(f"nowhere{number}")


def _program(path, number):
    path.mkdir(exist_ok=True)
    if number == 5:
        (path / "program").touch()
        (path / "program").chmod(0o755)


def _second(path, number):
    """What is compared with a file that stays as it is."""
    if number == 3:
        path.write_text("3")
    path.with_suffix(".other").write_text("3" * (number - 2))


def _folders(path, number):
    for side in ("left", "right"):
        (path / side).mkdir(parents=True, exist_ok=True)
    (path / "left" / "name").write_text("3")
    (path / "right" / "name").write_text("3" * (number - 2))


def _same(path, number):
    path.with_suffix(".other").touch()
    path.unlink(missing_ok=True)
    path.touch() if number == 3 else path.hardlink_to(path.with_suffix(".other"))


def _shelf(path, number):
    with shelve.open(str(path)) as shelf:
        shelf["value"] = number


def _dumb(path, number):
    with dbm.dumb.open(str(path), "c") as database:
        database["value"] = str(number)


def _package(path, number):
    (path.parent / "case_package").mkdir(exist_ok=True)
    (path.parent / "case_package" / "__init__.py").touch()
    (path.parent / "case_package" / "data").write_text(str(number) + " " * number)


def _distribution(path, number):
    folder = path.parent / "case_of_files-1.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: case-of-files\nVersion: {'9' * number}\n")


def _module(path, number):
    (path.parent / "case_of_source.py").write_text("def f():\n" + "    pass\n" * number)


def _new_module(path, number):
    if number == 5:
        (path.parent / "case_of_finding.py").touch()


def _sound(path, number):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 1, 100, 0, "NONE", ""))
        file.writeframes(b"x" * number)


def _in_folder(path, number):
    path.mkdir(exist_ok=True)
    (path / "file").write_text("x" * number)


def _fifo(path, number):
    if number == 5:
        os.mkfifo(path)


def by_zip(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read("member")


def by_tar(path):
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("member"))["value"]


def by_shelf(path):
    with shelve.open(str(path), "r") as shelf:
        return shelf["value"]


def by_dumb(path):
    with dbm.dumb.open(str(path), "r") as database:
        return database["value"]


def by_input(path):
    with fileinput.input([str(path)]) as file:
        return "".join(file)


def by_sound(path):
    with wave.open(str(path)) as file:
        return file.getnframes()


def by_source(path):
    return inspect.getsource(importlib.import_module("case_of_source").f).count("pass")


def by_entry(path):
    with os.scandir(path) as entries:
        return next(one.stat().st_size for one in entries)


def by_comparing_folders(path):
    return 3 if filecmp.dircmp(path / "left", path / "right").same_files else 5


def by_open(path):
    with open(path) as file:
        return json.load(file)["value"]


def by_lines(path):
    with open(path) as file:
        return json.loads("".join(line for line in file))["value"]


def by_config(path):
    found = configparser.ConfigParser()
    found.read(path)
    return float(found["all"]["value"])


READERS = {
    "open": (_text, by_open),
    "lines": (_text, by_lines),
    "read_text": (_text, lambda path: json.loads(path.read_text())["value"]),
    "read_bytes": (_text, lambda path: json.loads(pathlib.Path(str(path)).read_bytes())["value"]),
    "Path.open": (_text, lambda path: json.load(path.open())["value"]),
    "os.open": (_size, lambda path: len(os.read(os.open(path, os.O_RDONLY), 100))),
    "numpy.load": (_array, lambda path: np.load(path)[0]),
    "numpy.fromfile": (_size, lambda path: len(np.fromfile(path, np.uint8))),
    "torch.load": (_tensor, lambda path: torch.load(path).item()),
    "configparser": (_ini, by_config),
    "getsize": (_size, lambda path: os.path.getsize(path)),
    "stat": (_size, lambda path: path.stat().st_size),
    "os.stat": (_size, lambda path: os.stat(path).st_size),
    "listdir": (_folder, lambda path: len(os.listdir(path))),
    "iterdir": (_folder, lambda path: len(list(path.iterdir()))),
    "exists": (_existence, lambda path: 5 if os.path.exists(path) else 3),
    "Path.exists": (_existence, lambda path: 5 if path.exists() else 3),
    "pathlib.Path.exists": (_existence, lambda path: 5 if pathlib.Path.exists(path) else 3),
    "islink": (_link, lambda path: 5 if os.path.islink(path) else 3),
    "is_symlink": (_link, lambda path: 5 if path.is_symlink() else 3),
    "is_fifo": (_fifo, lambda path: 5 if path.is_fifo() else 3),
    "realpath": (_target, lambda path: os.path.realpath(path)[-1]),
    "resolve": (_target, lambda path: str(path.resolve())[-1]),
    "samefile": (_same, lambda path: 5 if os.path.samefile(path.with_suffix(".other"), path) else 3),
    "Path.samefile": (_same, lambda path: 5 if path.with_suffix(".other").samefile(path) else 3),
    "which": (_program, lambda path: 5 if shutil.which(str(path / "program")) else 3),
    "which in a path": (_program, lambda path: 5 if shutil.which("program", path=str(path)) else 3),
    "filecmp.cmp": (_second, lambda path: 3 if filecmp.cmp(path, path.with_suffix(".other")) else 5),
    "filecmp.cmpfiles": (
        _folders,
        lambda path: 3 if filecmp.cmpfiles(path / "left", path / "right", ["name"])[0] else 5,
    ),
    "filecmp.dircmp": (_folders, by_comparing_folders),
    "DirEntry.stat": (_in_folder, by_entry),
    "run_path": (_code, lambda path: runpy.run_path(str(path))["VALUE"]),
    "zipfile": (_zip, by_zip),
    "tarfile": (_tar, by_tar),
    "gzip": (_compressed(gzip), lambda path: gzip.open(path).read()),  # noqa: SIM115
    "bz2": (_compressed(bz2), lambda path: bz2.open(path).read()),  # noqa: SIM115
    "lzma": (_compressed(lzma), lambda path: lzma.open(path).read()),  # noqa: SIM115
    "GzipFile": (_compressed(gzip), lambda path: gzip.GzipFile(path).read()),
    "BZ2File": (_compressed(bz2), lambda path: bz2.BZ2File(path).read()),
    "LZMAFile": (_compressed(lzma), lambda path: lzma.LZMAFile(path).read()),  # noqa: SIM115
    "map(gzip.open)": (_compressed(gzip), lambda path: next(map(gzip.open, [path])).read()),
    "fileinput": (_lines, by_input),
    "shelve": (_shelf, by_shelf),
    "dbm.dumb": (_dumb, by_dumb),
    "get_data": (_package, lambda path: pkgutil.get_data("case_package", "data")),
    "resources": (_package, lambda path: importlib.resources.files("case_package").joinpath("data").read_text()),
    "version": (_distribution, lambda path: len(importlib.metadata.version("case-of-files"))),
    "find_spec": (_new_module, lambda path: 5 if importlib.util.find_spec("case_of_finding") else 3),
    "getsource": (_module, by_source),
    "netrc": (
        lambda path, number: path.write_text(f"machine h login a password {'b' * number}"),
        lambda path: len(netrc.netrc(str(path)).hosts["h"][2]),
    ),
    "FileIO": (_lines, lambda path: io.FileIO(path).read()),
    "codecs": (_lines, lambda path: codecs.open(path).read()),  # noqa: SIM115
    "tokenize": (_lines, lambda path: tokenize.open(path).read()),  # noqa: SIM115
    "methodcaller": (_lines, lambda path: operator.methodcaller("read_text")(path)),
    "partial": (_lines, lambda path: functools.partial(open, path)().read()),
    "wave": (_sound, by_sound),
    "ElementTree": (
        lambda path, number: path.write_text(f'<a value="{number}"/>'),
        lambda path: xml.etree.ElementTree.parse(path).getroot().get("value"),
    ),
    "numpy.load by name": (_array, lambda path: np.load(allow_pickle=False, file=path)[0]),
    "numpy.fromregex": (
        lambda path, number: path.write_text(f"a{number}"),
        lambda path: np.fromregex(path, r"a(\d)", [("n", int)])["n"][0],
    ),
    "torch.from_file": (_lines, lambda path: torch.from_file(str(path), size=1, dtype=torch.uint8).item() - 48),
    "UntypedStorage": (_lines, lambda path: torch.UntypedStorage.from_file(str(path), False, 1)[0] - 48),
}


def _launch(value):
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = fx.Float32(float(value()))

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(1,))

    return launch


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_changes(name, tmp_path, monkeypatch):
    folder = tmp_path / "files"  # beside the folders in which the compiler keeps its own
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    for module in ("case_package", "case_of_source"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    write, read = READERS[name]
    path = folder / "data"
    write(path, 3)
    assert float(read(path)) == 3.0  # the library's own tables are filled, and modules imported
    launch = _launch(lambda: read(path))
    x = np.zeros(1, np.float32)
    launch(x)
    launch(x)
    assert (x[0], launch.misses + launch.hits) == (3.0, 1)
    write(path, 5)
    linecache.checkcache()
    importlib.invalidate_caches()
    launch(x)
    assert (x[0], launch.misses + launch.hits) == (5.0, 2)
    launch(x)
    assert launch.misses + launch.hits == 2


def test_a_file_that_is_written_while_tracing(tmp_path):
    """A dump is no input."""
    path = tmp_path / "dump"

    def value():
        with open(path, "w") as file:
            file.write("seen")
        with open(path, mode="a") as file:
            file.write(" twice")
        return 3.0

    launch = _launch(value)
    x = np.zeros(1, np.float32)
    launch(x)
    path.write_text("something else")
    launch(x)
    assert (x[0], launch.misses + launch.hits, path.read_text()) == (3.0, 1, "something else")


def test_a_file_that_changes_while_the_kernel_is_compiled(tmp_path):
    """What counts is its state before it was read."""
    path = tmp_path / "data"
    path.write_text("3")

    def value():
        found = float(path.read_text())
        path.write_text("55") if found == 3.0 else None
        return found

    launch = _launch(value)
    x = np.zeros(1, np.float32)
    launch(x)
    assert x[0] == 3.0
    launch(x)
    assert x[0] == 55.0


def test_a_target_of_a_chain_of_links(tmp_path):
    """Where a path leads is asked of all links on the way, which may lead to nothing."""
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to("gone3")
    launch = _launch(lambda: os.path.realpath(tmp_path / "first" / "file")[-6])
    x = np.zeros(1, np.float32)
    launch(x)
    assert x[0] == 3.0
    (tmp_path / "second").unlink()
    (tmp_path / "second").symlink_to("gone5")
    launch(x)
    assert x[0] == 5.0


def test_what_a_module_is_imported_from_is_no_file_that_is_read(tmp_path, monkeypatch):
    """The module is an object like others: an edit of its file means nothing to a process that has it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "case_imported", raising=False)
    path = tmp_path / "case_imported.py"
    _code(path, 3)

    def value():
        import case_imported

        return case_imported.VALUE

    launch = _launch(value)
    x = np.zeros(1, np.float32)
    launch(x)
    launch(x)
    calls = launch.misses + launch.hits
    path.write_text("VALUE = 5  # not read again\n")
    launch(x)
    assert (x[0], launch.misses + launch.hits) == (3.0, calls)
    monkeypatch.delitem(sys.modules, "case_imported")


def test_a_file_that_a_library_writes_while_tracing(tmp_path):
    path = tmp_path / "dump"

    def value():
        with gzip.open(path, "wt") as file:
            file.write("seen")
        return 3.0

    launch = _launch(value)
    x = np.zeros(1, np.float32)
    launch(x)
    path.write_text("something else")
    launch(x)
    assert (x[0], launch.misses + launch.hits, path.read_text()) == (3.0, 1, "something else")


def test_space_on_a_disk_is_refused(tmp_path):
    launch = _launch(lambda: shutil.disk_usage(tmp_path).free)
    with pytest.raises(DSLCompileError, match=r"disk_usage\(\) asks the operating system"):
        launch(np.zeros(1, np.float32))


def test_a_process_that_ends_with_open_files(tmp_path):
    """The hook that sees files outlives the modules that it is made of."""
    text = """
import numpy as np, flydsl.compiler as flyc, flydsl.expr as fx
from flydsl.frontend.control.audit import listen
listen()
class Late:
    def __del__(self, open=open):
        open("/dev/null").close()
late = Late()
import builtins
builtins.late = late
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
