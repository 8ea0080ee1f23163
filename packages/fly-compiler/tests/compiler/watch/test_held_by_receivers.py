# SPDX-License-Identifier: Apache-2.0
"""What the object of a method holds: objects of equal state share what was compiled, and no change of it is missed."""

from __future__ import annotations

import abc
import argparse
import array
import collections
import configparser
import contextvars
import ctypes
import datetime
import decimal
import enum
import functools
import io
import logging
import threading
import types
import typing
import weakref
from unittest import mock

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

BEFORE, AFTER = 3, 5


class Filler:
    """Writes the number that a function reads from what it holds."""

    def __init__(self, held, read):
        self.held = held
        self.read = read

    @flyc.kernel
    def kernel(self, x: fx.Tensor):
        x[0] = float(self.read(self.held))

    @flyc.jit
    def __call__(self, x: fx.Tensor):
        self.kernel(x).launch(block=1)


class Colour(enum.Enum):
    RED = 1


class Zone(datetime.tzinfo):
    hours = BEFORE

    def utcoffset(self, _):
        return datetime.timedelta(hours=self.hours)


class Local(threading.local):
    pass


class Bytes(bytearray):
    pass


class Number(int):
    pass


class Object:
    def __init__(self, number=BEFORE):
        self.number = number

    def get(self):
        return self.number


def numbered_one(make):
    made = make()
    made.number = BEFORE
    return made


def numbered(held):
    held.number = AFTER


def first(held):
    held[0] = AFTER


def keyed(held):
    held["n"] = AFTER


def level(held):
    held.setLevel(AFTER)


def by_a_loop(number):
    return lambda: number[0]


LIST, OBJECT, NUMBERS, MODULE = [BEFORE], Object(), np.array([BEFORE]), types.ModuleType("held")
MODULE.number = BEFORE

CASES = {
    "array of numpy": (lambda: np.array([BEFORE]), lambda h: h[0], first),
    "array of objects": (lambda: np.array([Object()], object), lambda h: h[0].number, lambda h: numbered(h[0])),
    "tensor": (lambda: torch.tensor([BEFORE]), lambda h: h[0].item(), first),
    "tensor over an array": (lambda: torch.from_numpy(NUMBERS), lambda h: h[0].item(), lambda _: first(NUMBERS)),
    "data of a parameter": (
        lambda: torch.nn.Parameter(torch.tensor([float(BEFORE)])),
        lambda h: h.item(),
        lambda h: h.data.fill_(AFTER),
    ),
    "module of torch": (
        lambda: torch.nn.Dropout(BEFORE / 10),
        lambda h: round(h.p * 10),
        lambda h: setattr(h, "p", AFTER / 10),
    ),
    "bytes": (lambda: bytearray([BEFORE]), lambda h: h[0], first),
    "class derived from bytes": (lambda: Bytes([BEFORE]), lambda h: h[0], first),
    "array": (lambda: array.array("i", [BEFORE]), lambda h: h[0], first),
    "view of memory": (lambda: memoryview(bytearray([BEFORE])), lambda h: h[0], first),
    "ctypes": (lambda: ctypes.c_int(BEFORE), lambda h: h.value, lambda h: setattr(h, "value", AFTER)),
    "namespace": (lambda: types.SimpleNamespace(number=BEFORE), lambda h: h.number, numbered),
    "namespace of arguments": (lambda: argparse.Namespace(number=BEFORE), lambda h: h.number, numbered),
    "module": (lambda: MODULE, lambda h: h.number, numbered),
    "attribute of a number": (lambda: numbered_one(Number), lambda h: h.number, numbered),
    "attribute of a member": (lambda: numbered_one(lambda: Colour.RED), lambda h: h.number, numbered),
    "attribute of a function": (lambda: numbered_one(lambda: lambda: 0), lambda h: h.number, numbered),
    "keyword of a partial function": (
        lambda: functools.partial(dict, n=BEFORE),
        lambda h: h()["n"],
        lambda h: keyed(h.keywords),
    ),
    "closure": (lambda: by_a_loop(LIST), lambda h: h(), lambda _: first(LIST)),
    "method of another object": (lambda: OBJECT.get, lambda h: h(), lambda _: numbered(OBJECT)),
    "method of a list": (lambda: LIST.__getitem__, lambda h: h(0), lambda _: first(LIST)),
    "mock": (lambda: mock.Mock(return_value=BEFORE), lambda h: h(), lambda h: setattr(h, "return_value", AFTER)),
    "weak reference": (lambda: weakref.ref(OBJECT), lambda h: h().number, lambda _: numbered(OBJECT)),
    "context variable": (
        lambda: contextvars.ContextVar("held", default=BEFORE),
        lambda h: h.get(),
        lambda h: h.set(AFTER),
    ),
    "values of a thread": (lambda: numbered_one(threading.local), lambda h: h.number, numbered),
    "class of values of a thread": (lambda: numbered_one(Local), lambda h: h.number, numbered),
    "proxy of a mapping": (
        lambda: types.MappingProxyType(OBJECT.__dict__),
        lambda h: h["number"],
        lambda _: numbered(OBJECT),
    ),
    "chain of mappings": (lambda: collections.ChainMap({"n": BEFORE}), lambda h: h["n"], keyed),
    "mapping of the library": (lambda: collections.UserDict(n=BEFORE), lambda h: h["n"], keyed),
    "default factory": (
        lambda: collections.defaultdict(by_a_loop(LIST)),
        lambda h: h.default_factory(),
        lambda h: first(LIST),
    ),
    "values of a dict": (lambda: vars(OBJECT).values(), lambda h: next(iter(h)), lambda _: numbered(OBJECT)),
    "configuration": (configparser.ConfigParser, lambda h: int(h["a"]["n"]), lambda h: h["a"].update(n=str(AFTER))),
    "stream": (lambda: io.StringIO("3"), lambda h: int(h.getvalue()), lambda h: (h.seek(0), h.write("5"))),
    "logger": (lambda: logging.getLogger("held"), lambda h: h.level, level),
    "context of decimals": (
        lambda: decimal.Context(prec=BEFORE),
        lambda h: h.prec,
        lambda h: setattr(h, "prec", AFTER),
    ),
    "arguments of an exception": (
        lambda: ValueError(BEFORE),
        lambda h: h.args[0],
        lambda h: setattr(h, "args", (AFTER,)),
    ),
    "zone of a time": (
        lambda: datetime.datetime(2020, 1, 1, tzinfo=Zone()),
        lambda h: h.utcoffset().total_seconds() / 3600,
        lambda h: setattr(h.tzinfo, "hours", AFTER),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_what_a_receiver_holds_is_seen(name):
    LIST[0], OBJECT.number, NUMBERS[0], MODULE.number = BEFORE, BEFORE, BEFORE, BEFORE
    make, read, put = CASES[name]
    held = make()
    if name == "configuration":
        held.read_string(f"[a]\nn={BEFORE}")
    elif name == "logger":
        held.setLevel(BEFORE)
    filler, x = Filler(held, read), np.zeros(1, np.float32)
    for _ in range(2):
        filler(x)
        assert x[0] == BEFORE
    put(held)
    filler(x)
    assert x[0] == AFTER


class Abstract(abc.ABC):  # noqa: B024 - what its metaclass does is tested
    def __init__(self, number):
        self.number = number

    @flyc.kernel
    def kernel(self, x: fx.Tensor):
        x[0] = float(self.number)

    @flyc.jit
    def __call__(self, x: fx.Tensor):
        self.kernel(x).launch(block=1)


T = typing.TypeVar("T")


class Generic(Abstract, typing.Generic[T]):
    pass


def test_objects_of_equal_state_share_what_was_compiled():
    x = np.zeros(1, np.float32)
    for number in (3, 5, 3, 5):
        Generic(number)(x)
        assert x[0] == number
    assert len(Abstract.__call__._entries) == 2


def test_what_receivers_held_is_let_go_when_all_is_traced_anew():
    x, shared = np.zeros(1, np.float32), [BEFORE]
    arrays = [np.array([BEFORE]) for _ in range(3)]
    read = lambda held: held[0] + shared[0]  # noqa: E731
    for one in arrays:
        Filler(one, read)(x)
    shared[0] = AFTER
    Filler(arrays[2], read)(x)
    assert x[0] == BEFORE + AFTER
    held = {id(one) for one in Filler.__call__._held}
    assert [id(one) in held for one in arrays] == [False, False, True]


def test_another_default_of_the_host_function_is_refused():
    @flyc.kernel
    def kernel(x: fx.Tensor, number: fx.Constexpr[int]):
        x[0] = float(number)

    @flyc.jit
    def launch(x: fx.Tensor, number: fx.Constexpr[int] = BEFORE):
        kernel(x, number).launch(block=1)

    x = np.zeros(1, np.float32)
    launch(x)
    launch.original.__defaults__ = (AFTER,)
    with pytest.raises(RuntimeError, match=r"launch\(\): the default of 'number' was 3 .* and now is 5"):
        launch(x)
    launch.original.__defaults__ = (BEFORE,)
    launch(x)
    assert x[0] == BEFORE
