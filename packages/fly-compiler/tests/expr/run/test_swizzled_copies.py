# SPDX-License-Identifier: Apache-2.0
"""A copy through a swizzle, and one of a view of another size than its atom, is right or refused."""

import warnings

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

SIZE = 64
TORN = "side by side"


@flyc.kernel(known_block_size=(SIZE, 1, 1))
def through_lds(
    x: fx.Tensor,
    y: fx.Tensor,
    bits: fx.Constexpr[int],
    swizzle: fx.Constexpr[tuple],
    composed: fx.Constexpr[bool],
    calls: fx.Constexpr[bool],
    loads: fx.Constexpr[bool],
):
    """Row by row into a swizzled tile by atoms, and out of it by elements; or, if it `loads`, the other way round."""
    row = fx.thread_idx.x
    room = fx.SharedAllocator().allocate(fx.Array[fx.Float16, SIZE * SIZE, 16]).peek()
    permuted, plain = fx.static(fx.SwizzleType.get(*swizzle)), fx.make_layout((SIZE, SIZE), (SIZE, 1))
    if fx.const_expr(composed):
        tile = fx.make_view(room.ptr, fx.make_composed_layout(permuted, plain))
    else:
        tile = fx.make_view(fx.apply_swizzle(room.ptr, permuted), plain)
    count = bits // 16
    atom, fragment = fx.make_copy_atom(fx.UniversalCopy(bits), fx.Float16), fx.make_rmem_tensor(count, fx.Float16)
    if fx.const_expr(loads):
        for column in fx.range_constexpr(SIZE):
            tile[row, column] = x[row, column]
        fx.barrier()
    for i in fx.range_constexpr(SIZE // count):
        inside = fx.logical_divide(tile[row, None], fx.make_layout(count, 1))[None, i]
        outside = fx.logical_divide((y if loads else x)[row, None], fx.make_layout(count, 1))[None, i]
        for source, target in (
            ((inside, fragment), (fragment, outside))
            if loads
            else (
                (outside, fragment),
                (fragment, inside),
            )
        ):
            if fx.const_expr(calls):
                fx.copy_atom_call(atom, source, target)
            else:
                fx.copy(atom, source, target)
    if fx.const_expr(not loads):
        fx.barrier()
        for column in fx.range_constexpr(SIZE):
            y[row, column] = tile[row, column]


@flyc.jit
def launch(
    x: fx.Tensor,
    y: fx.Tensor,
    bits: fx.Constexpr[int],
    swizzle: fx.Constexpr[tuple],
    composed: fx.Constexpr[bool],
    calls: fx.Constexpr[bool],
    loads: fx.Constexpr[bool],
):
    through_lds(x, y, bits, swizzle, composed, calls, loads).launch(grid=1, block=SIZE)


@pytest.mark.parametrize("loads", [False, True], ids=["stores", "loads"])
@pytest.mark.parametrize("calls", [False, True], ids=["copy", "copy_atom_call"])
@pytest.mark.parametrize(
    ("bits", "swizzle", "composed", "right"),
    [
        (128, (3, 4, 3), False, True),  # pieces of 16 bytes
        (128, (3, 3, 3), False, False),
        (64, (3, 3, 3), False, True),
        (64, (3, 2, 3), False, False),
        (128, (3, 3, 3), True, True),  # pieces of 8 elements of 2 bytes
        (128, (3, 2, 3), True, False),
        (64, (3, 2, 3), True, True),
        (16, (3, 0, 6), True, True),
        (32, (3, 0, 6), True, False),
    ],
)
def test_a_copy_through_a_swizzle_is_right_or_refused(bits, swizzle, composed, right, calls, loads):
    x, y = torch.arange(SIZE * SIZE).reshape(SIZE, SIZE).half(), torch.zeros(SIZE, SIZE).half()
    operands = (flyc.from_dlpack(one, assumed_align=16) for one in (x, y))
    if right:
        launch(*operands, bits, swizzle, composed, calls, loads)
        assert torch.equal(x, y)
        return
    with pytest.raises(flyc.DSLCompileError, match=TORN) as caught:
        launch(*operands, bits, swizzle, composed, calls, loads)
    message = str(caught.value)
    side = "source" if loads else "destination"
    for part in (f"{bits} bits", "S<{},{},{}>".format(*swizzle), "a base of at least", side):
        assert part in message
    assert "fx.copy_atom_call(atom, source, target)" in message if calls else "fx.copy(atom, source, target)" in message


@flyc.kernel
def sized(
    x: fx.Tensor, y: fx.Tensor, bits: fx.Constexpr[int], source: fx.Constexpr[int], target: fx.Constexpr[int],
    registers: fx.Constexpr[bool],
):  # fmt: skip
    atom = fx.make_copy_atom(fx.UniversalCopy(bits), fx.Float32)
    first = fx.logical_divide(x[fx.thread_idx.x, None], fx.make_layout(source, 1))[None, 0]
    if fx.const_expr(registers):
        fragment = fx.make_rmem_tensor(target, fx.Float32)
        fx.copy(atom, first, fragment)
        for i in fx.range_constexpr(target):
            y[fx.thread_idx.x, i] = fragment[i]
    else:
        fx.copy(atom, first, fx.logical_divide(y[fx.thread_idx.x, None], fx.make_layout(target, 1))[None, 0])


@flyc.jit
def launch_sized(
    x: fx.Tensor, y: fx.Tensor, bits: fx.Constexpr[int], source: fx.Constexpr[int], target: fx.Constexpr[int],
    registers: fx.Constexpr[bool],
):  # fmt: skip
    sized(x, y, bits, source, target, registers).launch(grid=1, block=8)


@pytest.mark.parametrize(
    ("bits", "source", "target", "registers", "refused"),
    [
        (128, 4, 4, True, None),
        (128, 1, 4, True, None),  # the address of what the fragment takes
        (32, 4, 1, True, "source layout 4:1 holds 128 bits for one atom call, which moves 32"),
        (64, 4, 2, True, "source layout 4:1 holds 128 bits"),
        (128, 2, 4, True, "source layout 2:1 holds 64 bits"),
        (128, 4, 4, False, None),
        (32, 4, 4, False, "source layout 4:1 holds 128 bits"),
        (128, 4, 8, False, "destination layout 8:1 holds 256 bits"),
        (128, 1, 1, False, "holds 32 bits for one atom call, which moves 128"),
    ],
)
def test_a_view_holds_what_one_atom_moves(bits, source, target, registers, refused):
    x, y = torch.arange(64.0).reshape(8, 8), torch.zeros(8, 8)
    operands = (flyc.from_dlpack(one, assumed_align=16) for one in (x, y))
    if refused is None:
        launch_sized(*operands, bits, source, target, registers)
        assert torch.equal(x[:, :target], y[:, :target])
        assert not y[:, target:].any()
        return
    with pytest.raises(flyc.DSLCompileError, match=refused) as caught:
        launch_sized(*operands, bits, source, target, registers)
    assert "fx.copy(atom, first" in str(caught.value)


def test_a_swizzle_does_not_tear_elements_apart():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        room = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64]).peek()
        fx.apply_swizzle(room.ptr, fx.make_swizzle(3, 1, 3))

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch(grid=1, block=1)

    with pytest.raises(ValueError, match=r"S<3,1,3> permutes pieces of 2 bytes.*elements of 4 bytes.*at least 2 here"):
        run(torch.zeros(1))


@pytest.mark.parametrize("swizzled", [True, False])
def test_loads_to_lds_say_that_they_do_not_swizzle(swizzled):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        lane = fx.thread_idx.x
        room = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64, 16]).peek()
        pointer = fx.apply_swizzle(room.ptr, fx.make_swizzle(2, 4, 2)) if swizzled else room.ptr
        source = fx.logical_divide(fx.rocdl.make_buffer_tensor(x), fx.make_layout(1, 1))[None, lane]
        target = fx.make_view(pointer, fx.make_layout(1, 1))
        fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopyLDS32b(), fx.Float32), source, target)
        fx.rocdl.s_waitcnt(vmcnt=0)
        fx.barrier()
        y[lane] = room.ptr[lane]

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=1, block=64)

    x, y = torch.arange(64.0), torch.zeros(64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(x, y)
    assert torch.equal(x, y)
    found = [one for one in caught if "does not apply the swizzle S<2,4,2>" in str(one.message)]
    assert bool(found) == swizzled
    assert all(one.filename == __file__ for one in found)
