# SPDX-License-Identifier: Apache-2.0
"""On the emulator, each tensor's exact bytes are device memory for the length of a call."""

from __future__ import annotations

import ctypes
import mmap
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import make_doubles as build
import numpy as np
import pytest
from dlpack_tensors import CPU, HIP, Tensor
from make_doubles import pointer, scalar, stream, tensor

Make = Callable[..., Any]
Mapped = Callable[..., np.ndarray]
F32 = np.float32


def registrations(hip: build.Hip) -> list[tuple[str, int, int, str]]:
    rows = (line.removeprefix("register ").rsplit(" ", 3) for line in hip.log() if line.startswith("register"))
    return [(name, int(address, 16), int(size), access) for name, address, size, access in rows]


def test_exact_ranges(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a", access="read"), tensor("b", shape=("?", "?"), stride=("?", "?"), access="write")])
    a, base = np.zeros(7, F32), np.zeros((10, 16), F32)
    b = base[2:5, 3:9:2]
    f(a, b)
    assert registrations(hip) == [
        ("a", a.ctypes.data, 28, "read"),
        ("b", b.ctypes.data, 4 * (2 * 16 + 2 * 2 + 1), "write"),
    ]


def test_negative_strides_reach_down(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a", stride=("?",))])
    base = np.zeros(10, F32)
    f(base[8:2:-2])
    assert registrations(hip) == [("a", base[4:].ctypes.data, 20, "write")]


def test_broadcast_axis_covers_nothing_more(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a", shape=("?", "?"), stride=("?", "?"), access="read")])
    base = np.zeros(5, F32)
    f(np.broadcast_to(base, (1000, 5)))
    assert registrations(hip) == [("a", base.ctypes.data, 20, "read")]


def test_storage_offset(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a")])
    memory = np.zeros(10, F32)
    f(Tensor(memory.ctypes.data, (3,), device=(CPU, 0), byte_offset=16))
    assert registrations(hip) == [("a", memory.ctypes.data + 16, 12, "write")]


def test_empty_tensors_need_no_memory(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a")])
    f(np.zeros(0, F32))
    assert registrations(hip) == []


def test_all_is_taken_back_in_reverse(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a"), tensor("b")])
    a = np.zeros(7, F32)
    f(a, a[2:])
    words = [line.split()[0] for line in hip.log() if not line.startswith("hipModule")]
    assert words[:2] == ["register", "register"]
    assert words[-2:] == ["unregister", "unregister"]
    taken = [int(line.split()[1], 16) for line in hip.log()[-2:]]
    assert taken == [a.ctypes.data + 8, a.ctypes.data]


@pytest.mark.parametrize("step", [64, 4096])
def test_more_tensors_than_are_remembered(make: Make, hip: build.Hip, step: int) -> None:
    """What is kept of an address is found by it alone, and goes when there are many."""
    f, _ = make("f", [tensor("a")])
    memory = np.zeros((step * 600 + 4096) // 4, F32)
    starts = [*range(600), 0, 599, 1, 300, 64]
    for start in starts:
        f(memory[start * step // 4 :][: 1 + start % 5])
    expected = [("a", memory.ctypes.data + start * step, 4 * (1 + start % 5), "write") for start in starts]
    assert registrations(hip) == expected
    taken = [int(line.split()[1], 16) for line in hip.log() if line.startswith("unregister")]
    assert taken == [address for _, address, _, _ in expected]


def test_a_call_that_launches_nothing_registers_nothing(make: Make, hip: build.Hip) -> None:
    f, inside = make("f", [tensor("a"), tensor("b")])
    with pytest.raises(TypeError):
        f(np.zeros(7, F32), 3)
    inside.request.grid[0] = 0
    f(np.zeros(7, F32), np.zeros(7, F32))
    assert registrations(hip) == []


def test_registration_that_fails_takes_back_the_ones_before(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a"), tensor("b")])
    low, high = np.zeros(7, F32), np.zeros(9, F32)
    f(low, low)  # loads the module
    hip.reset()
    hip.fail_next("flyemu_register_memory", 1)
    with pytest.raises(RuntimeError, match=r"argument 1 \('a'\)"):
        f(high, low)
    f(low, high)
    assert [line.split()[0] for line in hip.log()[-5:]] == [
        "register",
        "register",
        "launch",
        "unregister",
        "unregister",
    ]


def test_memory_that_another_thread_still_uses_stays(make: Make, hip: build.Hip) -> None:
    """The emulator takes registrations back by address: the call that ends first must not take the other one's."""
    f, inside = make("f", [tensor("a"), stream("s")])
    inside.request.stream_slot = 2
    a = np.zeros(1000, F32)
    hip.hold(True)
    longer = threading.Thread(target=f, args=(a, 7))
    longer.start()
    try:
        deadline = time.monotonic() + 600
        while not any(line.startswith("launch") for line in hip.log()):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        for _ in range(3):
            f(a[:640], None)
        assert [size for _, _, size, _ in registrations(hip)] == [4000, 2560]
        assert not any(line.startswith("unregister") for line in hip.log())
    finally:
        hip.hold(False)
        longer.join()
    assert [line.split()[0] for line in hip.log()[-2:]] == ["unregister", "unregister"]
    f(a, None)
    assert [size for _, _, size, _ in registrations(hip)] == [4000, 2560, 4000]


def test_one_tensor_for_two_arguments(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a", access="read"), tensor("b")])
    a = np.zeros(8, F32)
    f(a, a)
    assert [(name, access) for name, _, _, access in registrations(hip)] == [("a", "read"), ("b", "write")]
    assert sum(line.startswith("unregister") for line in hip.log()) == 2


def test_many_tensors_of_one_call(make: Make, hip: build.Hip) -> None:
    names = [f"t{number}" for number in range(40)]
    f, _ = make("f", [tensor(name, access="read") for name in names])
    tensors = [np.zeros(number + 1, F32) for number in range(40)]
    f(*tensors)
    assert registrations(hip) == [
        (name, one.ctypes.data, one.nbytes, "read") for name, one in zip(names, tensors, strict=True)
    ]
    assert sum(line.startswith("unregister") for line in hip.log()) == 40


def test_many_calls_with_other_tensors(make: Make, hip: build.Hip) -> None:
    """What is kept of addresses that no call uses any more is bounded, and says nothing about the next call."""
    f, _ = make("f", [tensor("a")])
    tensors = [np.zeros(2 + number % 3, F32) for number in range(600)]
    for one in tensors:
        hip.reset()
        f(one)
        assert registrations(hip) == [("a", one.ctypes.data, one.nbytes, "write")]
        assert hip.log()[-1].split()[0] == "unregister"
    for one in tensors:
        hip.reset()
        f(one[1:])
        f(one[:1])
        assert [size for _, _, size, _ in registrations(hip)] == [one.nbytes - 4, 4]
        assert sum(line.startswith("unregister") for line in hip.log()) == 2


def test_registration_that_fails_names_the_argument(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a")])
    hip.fail_next("flyemu_register_memory", 1)
    with pytest.raises(RuntimeError, match=r"^f\(\): argument 1 \('a'\): flyemu_register_memory failed"):
        f(np.zeros(7, F32))
    f(np.zeros(7, F32))


def test_memory_of_the_emulated_device_is_known_to_it(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a"), tensor("b")])
    memory = np.zeros(4, F32)
    on_device = Tensor(memory.ctypes.data, (4,), device=(HIP, 0))
    f(on_device, on_device)
    assert registrations(hip) == []
    with pytest.raises(
        ValueError,
        match=r"argument 2 \('b'\): expected all tensors on one device \(argument 1 \('a'\) is on HIP device 0\), "
        r"got a tensor on the CPU",
    ):
        f(on_device, memory)
    with pytest.raises(ValueError, match=r"argument 1 .*got one on HIP device 1"):
        f(Tensor(memory.ctypes.data, (4,), device=(HIP, 1)), memory)
    with pytest.raises(ValueError, match=r"argument 1 .*expected a tensor in host memory .*got one on CUDA device 0"):
        f(Tensor(memory.ctypes.data, (4,), device=(2, 0)), memory)


@pytest.fixture
def mapped() -> Iterator[Callable[..., np.ndarray]]:
    """`mapped(pages)`: an array that is a whole mapping, between pages that nobody may touch.

    Whatever else the process maps meanwhile, no neighbour grows together with it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    held: list[mmap.mmap] = []

    def make(pages: int, protection: int = mmap.PROT_READ | mmap.PROT_WRITE) -> np.ndarray:
        held.append(mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE))
        whole = np.frombuffer(held[-1], np.uint8)
        inner = whole[mmap.PAGESIZE : -mmap.PAGESIZE]
        for start, size, rights in (
            (whole.ctypes.data, whole.nbytes, 0),
            (inner.ctypes.data, inner.nbytes, protection),
        ):
            assert libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), rights) == 0
        return inner

    yield make
    held.clear()


def test_a_pointer_brings_the_mapping_around_it(make: Make, hip: build.Hip, mapped: Mapped) -> None:
    """Nobody knows how much memory belongs to a pointer; what the process has mapped there is what it may reach."""
    f, _ = make("f", [pointer("a")])
    a = mapped(5)
    f(a.ctypes.data + 100)
    ((name, *place),) = registrations(hip)
    assert name == "a (a pointer: the whole mapping, its bounds are unknown)"
    assert place == [a.ctypes.data, a.nbytes, "write"]
    assert hip.log()[-1].split()[0] == "unregister"


def test_pointers_into_one_mapping_bring_it_once(make: Make, hip: build.Hip, mapped: Mapped) -> None:
    f, _ = make("f", [pointer("a"), pointer("b"), pointer("c")])
    memory = mapped(2)
    f(memory.ctypes.data, memory.ctypes.data + 64, None)
    assert len(registrations(hip)) == 1
    assert sum(line.startswith("unregister") for line in hip.log()) == 1


def test_a_pointer_into_a_tensor_of_the_call_brings_nothing(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [pointer("a"), tensor("b")])
    b = np.zeros(7, F32)
    f(b.ctypes.data + 8, b)
    assert [name for name, *_ in registrations(hip)] == ["b"]


def test_a_pointer_to_memory_of_the_device_keeps_its_bounds(
    make: Make, hip: build.Hip, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, _ = make("f", [pointer("a")])
    a = np.zeros(7, F32)
    monkeypatch.setenv("FAKE_ALLOCATION", f"{a.ctypes.data} {a.nbytes}")
    f(a.ctypes.data + 8)
    assert registrations(hip) == []
    f(a.ctypes.data + a.nbytes)
    assert len(registrations(hip)) == 1


def test_read_only_pages_stay_so(make: Make, hip: build.Hip, mapped: Mapped) -> None:
    f, _ = make("f", [pointer("a")])
    pages = mapped(4, mmap.PROT_READ)
    f(pages.ctypes.data)
    ((_, *place),) = registrations(hip)
    assert place == [pages.ctypes.data, pages.nbytes, "read"]


def test_a_pointer_to_nothing_is_left_to_the_emulator(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [pointer("a")])
    f(0x10)
    assert registrations(hip) == []


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_an_integer_that_is_an_address_brings_the_mapping(
    make: Make, hip: build.Hip, mapped: Mapped, dtype: str
) -> None:
    """Kernels take addresses as 64-bit integers too."""
    f, _ = make("f", [scalar("n", dtype), scalar("at", dtype)])
    a = mapped(3)
    f(1 << 20, a.ctypes.data)
    ((name, *place),) = registrations(hip)
    assert name == "at (an address in it: the whole mapping, its bounds are unknown)"
    assert place == [a.ctypes.data, a.nbytes, "write"]
    assert hip.log()[-1].split()[0] == "unregister"


def test_a_table_of_addresses_brings_their_mappings(make: Make, hip: build.Hip, mapped: Mapped) -> None:
    f, _ = make("f", [tensor("table", "int64", access="read")])
    first, second = mapped(9), mapped(4)
    f(np.array([first.ctypes.data, 17, second.ctypes.data, 0], np.int64))
    places = {(address, size) for _, address, size, _ in registrations(hip)[1:]}
    assert places == {(one.ctypes.data, one.nbytes) for one in (first, second)}


def test_what_lies_in_a_result_is_no_address(make: Make, hip: build.Hip) -> None:
    """An uninitialised tensor of indices that the kernel fills may hold addresses by chance."""
    f, _ = make("f", [tensor("index", "int64", access="readwrite", written=True)])
    other = np.zeros(1 << 22, F32)
    f(np.array([other.ctypes.data, 17], np.int64))
    assert [name for name, *_ in registrations(hip)] == ["index"]


def test_other_numbers_bring_nothing(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [scalar("a", "int32"), scalar("b", "float64"), scalar("c", "int64")])
    f(5, 1e300, 0xFFFF_FFFF)
    assert registrations(hip) == []
