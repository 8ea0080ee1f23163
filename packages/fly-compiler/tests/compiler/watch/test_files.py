# SPDX-License-Identifier: Apache-2.0
"""A file that a trace read: when it changed, the function is traced anew."""

from __future__ import annotations

import configparser
import json
import os
import pathlib

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx


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
def test_a_file_that_changes(name, tmp_path):
    write, read = READERS[name]
    path = tmp_path / "data"
    write(path, 3)
    launch = _launch(lambda: read(path))
    x = np.zeros(1, np.float32)
    launch(x)
    launch(x)
    assert (x[0], launch.misses + launch.hits) == (3.0, 1)
    write(path, 5)
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
