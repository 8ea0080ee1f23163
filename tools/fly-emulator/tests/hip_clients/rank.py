# SPDX-License-Identifier: Apache-2.0
"""One rank of a sum over processes, with plain ctypes: `rank.py <library> <object> <rank> <in> <out>`.

The handles of its memory go to the other rank through a pair of pipes, the sums are made by kernels that read each
other's memory and wait for each other.
"""

from __future__ import annotations

import ctypes
import os
import sys

import numpy as np

WORDS, ROUNDS, RANKS = 1000, 5, 2
INTERPROCESS = 2 | 4  # hipEventDisableTiming | hipEventInterprocess


class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


def main() -> None:
    library, image, rank, receiving, sending = sys.argv[1], sys.argv[2], *(int(one) for one in sys.argv[3:6])
    hip = ctypes.CDLL(library)

    def ok(name: str, *arguments: object) -> None:
        code = getattr(hip, name)(*arguments)
        assert code == 0, f"{name}: {code}"

    def exchange(mine: bytes) -> bytes:
        os.write(sending, mine)
        theirs = b""
        while len(theirs) < len(mine):
            theirs += os.read(receiving, len(mine) - len(theirs))
        return theirs

    ok("hipSetDevice", rank)
    module, function, event = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    ok("hipModuleLoad", ctypes.byref(module), image.encode())
    ok("hipModuleGetFunction", ctypes.byref(function), module, b"all_reduce")
    data, flags, out = (ctypes.c_void_p() for _ in range(3))
    for pointer, size in ((data, 4 * WORDS), (flags, 4 * RANKS), (out, 4 * WORDS)):
        ok("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
        ok("hipMemset", pointer, 0, ctypes.c_size_t(size))
    values = np.random.default_rng(rank).standard_normal((ROUNDS, WORDS)).astype(np.float32)
    expected = sum(np.random.default_rng(r).standard_normal((ROUNDS, WORDS)).astype(np.float32) for r in range(RANKS))

    mine, opened = (Handle(), Handle(), Handle()), [data.value or 0, flags.value or 0]
    ok("hipIpcGetMemHandle", ctypes.byref(mine[0]), data)
    ok("hipIpcGetMemHandle", ctypes.byref(mine[1]), flags)
    ok("hipEventCreateWithFlags", ctypes.byref(event), INTERPROCESS)
    ok("hipIpcGetEventHandle", ctypes.byref(mine[2]), event)
    theirs = exchange(b"".join(bytes(one) for one in mine))
    peers: list[int] = []
    for i in range(2):
        pointer = ctypes.c_void_p()
        ok("hipIpcOpenMemHandle", ctypes.byref(pointer), Handle.from_buffer_copy(theirs, 64 * i), 1)
        peers.append(pointer.value or 0)
    other = ctypes.c_void_p()
    ok("hipIpcOpenEventHandle", ctypes.byref(other), Handle.from_buffer_copy(theirs, 128))

    # {data[RANKS], flags[RANKS]}, by rank
    pointers = [(opened[i], peers[i]) if rank == 0 else (peers[i], opened[i]) for i in range(2)]
    table = (ctypes.c_uint64 * 4)(*pointers[0], *pointers[1])
    for step in range(1, ROUNDS + 1):
        source = np.ascontiguousarray(values[step - 1])
        ok("hipMemcpy", data, ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(4 * WORDS), 1)
        packed = (ctypes.c_int(WORDS), ctypes.c_int(rank), ctypes.c_uint(step))
        parameters = (ctypes.c_void_p * 5)(
            *(ctypes.addressof(one) for one in (table, out, packed[0], packed[1], packed[2]))
        )
        ok("hipModuleLaunchKernel", function, 1, 1, 1, 256, 1, 1, 0, None, parameters, None)
        ok("hipEventRecord", event, None)
        ok("hipStreamWaitEvent", None, other, 0)
        sums = np.zeros(WORDS, np.float32)
        ok("hipMemcpy", ctypes.c_void_p(sums.ctypes.data), out, ctypes.c_size_t(4 * WORDS), 2)
        np.testing.assert_array_equal(sums, expected[step - 1])
    exchange(b"x")
    for peer in peers:
        ok("hipIpcCloseMemHandle", ctypes.c_void_p(peer))
    ok("hipEventDestroy", other)
    for pointer in (data, flags, out):
        ok("hipFree", pointer)
    print("all right")


if __name__ == "__main__":
    main()
