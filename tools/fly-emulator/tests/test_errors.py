# SPDX-License-Identifier: Apache-2.0
"""What users get wrong: each is an error with a text that says what and where, and the next call works."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent / "data"
HEADER = (DATA / "device.h").read_text()
SOURCE = HEADER + (DATA / "kernels.c").read_text()
LOOP = HEADER + "KERNEL void forever(GLOBAL int *out) { for (;;) *(volatile GLOBAL int *)out += 1; }"
ABORT = HEADER + "KERNEL void abort_(GLOBAL int *out) { if (out[0] == 7) __builtin_trap(); out[1] = 1; }"
INVALID_VALUE, INVALID_IMAGE, NO_BINARY, LAUNCH_FAILURE, NOT_FOUND = 1, 200, 209, 719, 500


def works(build: Callable[..., Module], arch: str) -> None:
    x = np.ones(64, np.float32)
    y = np.zeros_like(x)
    build(SOURCE, arch).kernel("vector_add")(1, 64, x, x, y, 64)
    assert (y == 2).all()


def test_out_of_bounds_names_argument_line_and_lane(build: Callable[..., Module], arch: str) -> None:
    x = np.ones(100, np.float32)
    with pytest.raises(EmulatorError) as raised:
        build(SOURCE, arch).kernel("vector_add")(1, 128, x, x.copy(), x.copy(), 128, names=["a", "b", "c", "n"])
    assert raised.value.code == LAUNCH_FAILURE
    for part in ("vector_add+0x", "global_load_dword", ".c:", "block (0, 0, 0), wave 1, lane 36", "emulated"):
        assert part in raised.value.report
    works(build, arch)


def test_store_to_read_only_memory(build: Callable[..., Module], arch: str) -> None:
    x = np.ones(64, np.float32)
    y = np.zeros_like(x)
    y.flags.writeable = False
    with pytest.raises(EmulatorError, match="read-only memory"):
        build(SOURCE, arch).kernel("vector_add")(1, 64, x, x, y, 64)
    works(build, arch)


def test_endless_kernel_is_stopped(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    emulator.set_instruction_limit(100_000)
    with pytest.raises(EmulatorError, match="100000 instructions, the limit"):
        build(LOOP, arch).kernel("forever")(300, 64, np.zeros(1, np.int32))
    emulator.set_instruction_limit(0)
    works(build, arch)


def test_trap(build: Callable[..., Module], arch: str) -> None:
    with pytest.raises(EmulatorError, match="s_trap 2"):
        build(ABORT, arch).kernel("abort_")(1, 64, np.array([7, 0], np.int32))
    works(build, arch)


def test_another_architectures_code_object(emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    with pytest.raises(EmulatorError, match=r"for gfx942, and the device is gfx950.*FLYDSL_GPU_ARCH=gfx942") as raised:
        emulator.load(compile_object(SOURCE, "gfx942"), device=1)
    assert raised.value.code == NO_BINARY


def test_unknown_kernel_lists_those_there_are(build: Callable[..., Module], arch: str) -> None:
    with pytest.raises(EmulatorError, match=r"it has .*vector_add") as raised:
        build(SOURCE, arch).kernel("nothing")
    assert raised.value.code == NOT_FOUND


@pytest.mark.parametrize(("grid", "block", "lds", "text"), [
    (0, 64, 0, "extent of zero"),
    (1, 2048, 0, "1024"),
    (1, (64, 32), 0, "2048 threads"),
    (1, 64, 200_000, "bytes of LDS"),
])  # fmt: skip
def test_impossible_launches(
    build: Callable[..., Module], arch: str, grid: int, block: int, lds: int, text: str
) -> None:
    x = np.ones(64, np.float32)
    with pytest.raises(EmulatorError, match=text):
        build(SOURCE, arch).kernel("vector_add")(grid, block, x, x, x.copy(), 64, lds=lds)


def test_devices_with_modules_are_not_replaced(emulator: Emulator, build: Callable[..., Module]) -> None:
    build(SOURCE, "gfx950")
    with pytest.raises(EmulatorError, match="still has modules"):
        emulator.set_devices("gfx942")
    with pytest.raises(EmulatorError, match="is not emulated"):
        emulator.set_devices("gfx906")
    assert emulator.device_count() == 2


def test_instruction_that_is_not_executed_is_named(build: Callable[..., Module]) -> None:
    source = kernel_f("  s_rfe_b64 s[4:5]", "gfx942")
    x = np.zeros(128, np.uint32)
    with pytest.raises(EmulatorError, match=r"does not execute this instruction.*\n.*f\+0x\w+: s_rfe_b64 s\[4:5\]"):
        build(source, "gfx942", "asm", ()).kernel("f")(1, 64, x, x.copy())


@pytest.mark.parametrize(
    "image", [b"", b"\x7fELF", b"x" * 4096, b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 200, b"CCOB" + b"\1" * 100]
)
def test_what_is_no_code_object(emulator: Emulator, image: bytes) -> None:
    with pytest.raises(EmulatorError) as raised:
        emulator.load(image)
    assert raised.value.code in (INVALID_IMAGE, NO_BINARY)
    assert raised.value.report


def test_stale_handles_are_errors(emulator: Emulator) -> None:
    for function in ("hipModuleUnload", "hipStreamSynchronize", "hipEventQuery", "hipFree"):
        with pytest.raises(EmulatorError):
            emulator.call(function, ctypes.c_void_p(0x1234560))


def mutate(image: bytes, rng: random.Random) -> bytes:
    data = bytearray(image)
    for _ in range(rng.randint(1, 8)):
        at = rng.choice([rng.randrange(64), rng.randrange(64, 512), rng.randrange(len(data))])
        data[at] = rng.randrange(256)
    return bytes(data[: rng.randrange(64, len(data) + 1)]) if rng.random() < 0.2 else bytes(data)


def fuzz(emulator: Emulator, image: bytes, count: int, seed: int) -> None:
    rng = random.Random(seed)
    library = emulator.library
    for _ in range(count):
        data = mutate(image, rng)
        library.flyemu_code_object_json(data, ctypes.c_size_t(len(data)))
        library.flyemu_disassemble(data, ctypes.c_size_t(len(data)), b"gfx942")


def test_some_malformed_objects(emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    fuzz(emulator, compile_object(LOOP, "gfx942", flags=("-O2",)), 300, 0)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 20))
def test_many_malformed_objects(emulator: Emulator, compile_object: Callable[..., bytes], seed: int) -> None:
    fuzz(emulator, compile_object(SOURCE, "gfx942"), 3000, seed)


def test_line_tables_that_crash_llvm_are_not_read(emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    """Any byte of the line table's header may be broken: the code is still disassembled."""
    image = compile_object(LOOP, "gfx942")
    header = image.index(b"\x05\x00\x08\x00", 0x100)  # version 5, addresses of 8 bytes, no segment selectors
    for at in range(header, header + 64):
        for value in (0, 0x0F, 0x7F, 0xBF, 0xFF):
            data = image[:at] + bytes([value]) + image[at + 1 :]
            text = emulator.library.flyemu_disassemble(data, ctypes.c_size_t(len(data)), b"gfx942")
            assert b"s_endpgm" in text or b"s_branch" in text


@pytest.mark.parametrize(
    "second", [0x34370A0A, 0x07050A0A, 0x0505070A, 0x05051E0A], ids=["src0", "src1", "dst", "unused"]
)
def test_selections_that_crash_llvms_printer_are_no_instructions(
    build: Callable[..., Module], compile_object: Callable[..., bytes], emulator: Emulator, second: int
) -> None:
    """v_add_u32_sdwa with selection 7, or with the fourth way to fill up unused bits, of which there are three."""
    source = kernel_f(f"  .long 0x680214f9, {second:#x}", "gfx942")
    image = compile_object(source, "gfx942", "asm", ())
    assert b"sdwa" not in emulator.library.flyemu_disassemble(image, ctypes.c_size_t(len(image)), b"gfx942")
    x = np.zeros(128, np.uint32)
    with pytest.raises(EmulatorError):
        build(source, "gfx942", "asm", ()).kernel("f")(1, 64, x, x.copy())


def test_scalar_loads_are_rounded_up(build: Callable[..., Module], arch: str) -> None:
    """Compilers load three dwords with s_load_dwordx4 where the address is aligned to 16; the fourth reads 0."""
    out = np.full(64, 7, np.uint32)
    code = "  s_load_dwordx2 s[2:3], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_load_dwordx4 s[4:7], s[2:3], {}\n"
    code += "  s_waitcnt lgkmcnt(0)\n  s_add_u32 s4, s6, s7\n  v_mov_b32 v1, s4\n"
    code += "  s_load_dwordx2 s[2:3], s[0:1], 0x8\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v0, 0\n"
    code += "  global_store_dword v0, v1, s[2:3]\n  s_waitcnt vmcnt(0)\n"
    memory = np.zeros(16, np.uint32)
    first = -memory.ctypes.data % 16 // 4  # so that it is aligned
    three, two = memory[first : first + 3], memory[first : first + 2]
    memory[:] = 5
    with sanitize("all"):
        build(kernel_f(code.format("0x0"), arch), arch, "asm", ()).kernel("f")(1, 64, three, out)
    assert out[0] == 5
    for offset, argument in (("0x4", three), ("0x0", two), ("0x10", three)):
        with pytest.raises(EmulatorError, match="reads 16 bytes"):
            build(kernel_f(code.format(offset), arch), arch, "asm", ()).kernel("f")(1, 64, argument, out)


def test_loads_of_the_last_arguments_may_be_wide(build: Callable[..., Module], arch: str) -> None:
    """LLVM reads the 16 bytes that hold the last argument, whose segment every runtime pads; not more than 64."""
    x = np.zeros(64, np.uint32)
    for offset, allowed in (("0x10", True), ("0x30", True), ("0x40", False)):
        code = f"  s_load_dwordx4 s[4:7], s[0:1], {offset}\n  s_waitcnt lgkmcnt(0)\n"
        kernel = build(kernel_f(code, arch), arch, "asm", ()).kernel("f")
        if allowed:
            kernel(1, 64, x, x)
        else:
            with pytest.raises(EmulatorError, match="kernel arguments"):
                kernel(1, 64, x, x)


def test_workgroups_that_are_split_over_compute_units(build: Callable[..., Module], arch: str) -> None:
    """The order that a barrier makes is another one there."""
    source = kernel_f("  s_nop 0\n", arch).replace(
        ".amdhsa_next_free_sgpr", ".amdhsa_tg_split 1\n  .amdhsa_next_free_sgpr"
    )
    kernel = build(source, arch, "asm", ()).kernel("f")
    with pytest.raises(EmulatorError, match="mtgsplit"):
        kernel(1, 64, np.zeros(64, np.uint32), np.zeros(64, np.uint32))
