# SPDX-License-Identifier: Apache-2.0
"""Settings of the process that functions go by without that a program names them."""

from __future__ import annotations

import csv
import decimal
import os
import time
import warnings
from datetime import datetime

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.trace import files

ONE = decimal.Decimal(1)
WEIGHT = torch.ones(1, requires_grad=True)


def third():
    return len(str(decimal.Decimal(1) / 3)) - 2


def third_of_an_object():
    return len(str(ONE / 3)) - 2


def default_type():
    return 3 if torch.zeros(1).dtype == torch.float32 else 5


def gradients():
    return 3 if (WEIGHT * 2).requires_grad else 5


def division():
    try:
        np.float32(1) / np.float32(0)
    except FloatingPointError:
        return 5
    return 3


def warning():
    try:
        warnings.warn("nothing", stacklevel=1)
    except UserWarning:
        return 5
    return 3


def fields():
    try:
        list(csv.reader(["aaaa"]))
    except csv.Error:
        return 5
    return 3


def hour():
    return datetime.fromtimestamp(0).hour


def precision(number):
    decimal.getcontext().prec = number


def type_of_torch(number):
    torch.set_default_dtype(torch.float32 if number == 3 else torch.float64)


def gradients_of_torch(number):
    torch.set_grad_enabled(number == 3)


def errors_of_numpy(number):
    np.seterr(all="ignore" if number == 3 else "raise")


def filters(number):
    warnings.simplefilter("ignore" if number == 3 else "error")


def limit_of_fields(number):
    csv.field_size_limit(100 if number == 3 else 2)


def time_zone(number):
    os.environ["TZ"] = f"UTC-{number}"
    time.tzset()


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    zone, limit, errors = os.environ.get("TZ"), csv.field_size_limit(), np.geterr()
    with decimal.localcontext(), warnings.catch_warnings():
        yield
    monkeypatch.undo()
    os.environ.pop("TZ", None)
    if zone is not None:
        os.environ["TZ"] = zone
    time.tzset()
    csv.field_size_limit(limit)
    np.seterr(**errors)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def launcher(read):
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = float(read())

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=1)

    return launch


@pytest.mark.parametrize(
    ("read", "put"),
    [
        (third, precision),
        (third_of_an_object, precision),
        (default_type, type_of_torch),
        (gradients, gradients_of_torch),
        (division, errors_of_numpy),
        (warning, filters),
        (fields, limit_of_fields),
        (hour, time_zone),
    ],
)
def test_a_setting_that_nobody_names(read, put):
    launch, x = launcher(read), np.zeros(1, np.float32)
    for number in (3, 3, 5, 5):
        put(number)
        launch(x)
        assert x[0] == number
    assert launch.cache_info().misses == 2


def test_a_relative_path_is_of_the_working_folder(tmp_path, monkeypatch):
    launch, x = launcher(lambda: int(open("number").read())), np.zeros(1, np.float32)  # noqa: SIM115
    for number in (3, 5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "number").write_text(str(number))
        monkeypatch.chdir(tmp_path / str(number))
        launch(x)
        assert x[0] == number


def test_two_writes_in_a_tick_of_the_clock_are_told_apart(tmp_path, monkeypatch):
    """The clock of the file system is made as coarse as some are: the times say nothing."""
    path = tmp_path / "number"
    real, now = files._facts, time.time_ns()
    monkeypatch.setattr(files, "_facts", lambda found: (*real(found)[:4], 0, now))
    monkeypatch.setattr(files, "_TICK_NS", 60_000_000_000)
    path.write_text("3")
    launch, x = launcher(lambda: int(path.read_text())), np.zeros(1, np.float32)
    launch(x)
    launch(x)
    assert (x[0], launch.misses) == (3, 1)
    path.write_text("5")
    launch(x)
    assert x[0] == 5
