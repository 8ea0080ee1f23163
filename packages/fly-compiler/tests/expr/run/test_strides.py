# SPDX-License-Identifier: Apache-2.0
"""Tensors of every stride: element by element they are right, and a wide copy is right or refused."""

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

ROWS, COLUMNS = 8, 64


def numbers(*shape):
    return torch.arange(float(np.prod(shape))).reshape(shape)


VIEWS = {
    "contiguous": lambda: numbers(ROWS, COLUMNS),
    "transposed": lambda: numbers(COLUMNS, ROWS).t(),
    "columns of a wider one": lambda: numbers(ROWS, COLUMNS + 3)[:, 3:],
    "every second column": lambda: numbers(ROWS, 2 * COLUMNS)[:, ::2],
    "every second row": lambda: numbers(2 * ROWS, COLUMNS)[::2],
    "a broadcast row": lambda: numbers(1, COLUMNS).expand(ROWS, COLUMNS),
    "a broadcast column": lambda: numbers(ROWS, 1).expand(ROWS, COLUMNS),
    "one number": lambda: numbers(1, 1).expand(ROWS, COLUMNS),
    "a slice of the last axis": lambda: numbers(ROWS, COLUMNS, 3)[:, :, 1],
    "reversed": lambda: numbers(ROWS, COLUMNS).numpy()[::-1, ::-1],
}
WIDE = ("contiguous", "columns of a wider one", "every second row", "a broadcast row")
"""Those whose rows are known to lie side by side."""


@flyc.kernel
def by_element_kernel(x: fx.Tensor, y: fx.Tensor):
    y[fx.block_idx.x, fx.thread_idx.x] = x[fx.block_idx.x, fx.thread_idx.x]


@flyc.jit
def by_element(x: fx.Tensor, y: fx.Tensor):
    by_element_kernel(x, y).launch(grid=ROWS, block=COLUMNS)


@flyc.kernel
def by_vector_kernel(x: fx.Tensor, y: fx.Tensor):
    four = fx.make_layout(4, 1)
    a, b = (fx.logical_divide(one[fx.block_idx.x, None], four)[None, fx.thread_idx.x] for one in (x, y))
    b.store(a.load())


@flyc.jit
def by_vector(x: fx.Tensor, y: fx.Tensor):
    by_vector_kernel(x, y).launch(grid=ROWS, block=COLUMNS // 4)


@flyc.kernel
def by_atom_kernel(x: fx.Tensor, y: fx.Tensor):
    atom, four = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32), fx.make_layout(4, 1)
    a, b = (fx.logical_divide(one[fx.block_idx.x, None], four)[None, fx.thread_idx.x] for one in (x, y))
    registers = fx.make_rmem_tensor(4, fx.Float32)
    fx.copy_atom_call(atom, a, registers)
    fx.copy_atom_call(atom, registers, b)


@flyc.jit
def by_atom(x: fx.Tensor, y: fx.Tensor):
    by_atom_kernel(x, y).launch(grid=ROWS, block=COLUMNS // 4)


@flyc.kernel
def tiled_kernel(x: fx.Tensor, y: fx.Tensor, bits: fx.Constexpr[int], buffer: fx.Constexpr[bool]):
    operation = fx.rocdl.BufferCopy(bits) if buffer else fx.UniversalCopy(bits)
    atom = fx.make_copy_atom(operation, fx.Float32)
    tiled = fx.make_tiled_copy_tv(atom, fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1)))
    mine, tile = tiled.get_slice(fx.thread_idx.x), fx.make_tile(4, COLUMNS)
    wrap = fx.rocdl.make_buffer_tensor if buffer else lambda one: one
    a, b = (fx.zipped_divide(wrap(one), tile)[None, (fx.block_idx.x, 0)] for one in (x, y))
    source, target = mine.partition_S(a), mine.partition_D(b)
    registers = fx.make_fragment_like(source)
    fx.copy(tiled, source, registers)
    fx.copy(tiled, registers, target)


@flyc.jit
def tiled(x: fx.Tensor, y: fx.Tensor, bits: fx.Constexpr[int], buffer: fx.Constexpr[bool]):
    tiled_kernel(x, y, bits, buffer).launch(grid=ROWS // 4, block=64)


REFUSED = r"stride that is known only when the kernel runs between the 4 elements \(128 bits\)"


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("copy", [by_element, by_vector], ids=["elements", "vectors"])
def test_any_view_is_read_and_written(copy, name):
    x, y = VIEWS[name](), np.zeros((ROWS, COLUMNS), np.float32)
    copy(x, y)
    assert (y == np.asarray(x)).all()
    if "broadcast" not in name and name != "one number":
        target = VIEWS[name]()
        target[...] = 0
        copy(y, target)
        assert (np.asarray(target) == y).all()


@pytest.mark.parametrize("name", VIEWS)
def test_a_wide_copy_is_right_or_refused(name):
    x = VIEWS[name]()
    for copy, *rest in ((by_atom,), (tiled, 128, False), (tiled, 128, True)):
        y = np.zeros((ROWS, COLUMNS), np.float32)
        if name in WIDE:
            copy(x, y, *rest)
            assert (y == np.asarray(x)).all()
        else:
            with pytest.raises(ValueError, match=REFUSED + r"(.|\n)*copy\w*\("):
                copy(x, y, *rest)


@pytest.mark.parametrize("name", ["contiguous", "transposed", "a broadcast column", "every second column"])
def test_a_copy_of_single_elements_takes_any_stride(name):
    for buffer in (False, True):
        x, y = VIEWS[name](), np.zeros((ROWS, COLUMNS), np.float32)
        tiled(x, y, 32, buffer)
        assert (y == np.asarray(x)).all()


def test_strides_that_the_caller_makes_dynamic_are_refused_too():
    x = flyc.from_dlpack(numbers(ROWS, COLUMNS)).mark_stride_dynamic([0, 1])
    with pytest.raises(ValueError, match=REFUSED):
        by_atom(x, torch.zeros(ROWS, COLUMNS))
    by_atom(flyc.from_dlpack(numbers(ROWS, COLUMNS)).mark_layout_dynamic(1), torch.zeros(ROWS, COLUMNS))


def test_a_copy_of_a_whole_tensor_of_unknown_extent_is_refused():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), x, y)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=1, block=1)

    for shape in ((8,), (8, 8)):
        with pytest.raises(ValueError, match=r"extent that is known only when the kernel runs.*zipped_divide"):
            launch(torch.zeros(shape), torch.zeros(shape))


def test_a_column_and_a_broadcast_of_torch_need_no_wrapper():
    m, y = numbers(COLUMNS, 5), torch.zeros(1, COLUMNS)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        y[0, fx.thread_idx.x] = x[fx.thread_idx.x]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=1, block=COLUMNS)

    for x in (m[:, 0], m[:, 3], m[0, :1].expand(COLUMNS), m.numpy()[::-1, 2]):
        launch(x, y)
        assert (y[0].numpy() == np.asarray(x)).all()


@pytest.mark.parametrize("view", ["a broadcast row", "a broadcast column", "one number"])
@pytest.mark.parametrize("launcher", [by_element, by_vector])
def test_elements_that_share_memory_are_not_written(launcher, view):
    target = VIEWS[view]()
    before = target.clone()
    # By vector, a copy along the shared axis may be refused before: that is wider than what lies side by side.
    or_wide = "|stride" if launcher is by_vector else ""
    with pytest.raises(ValueError, match=r"'y'.*memory of their own.*stride of 0 on axis .*contiguous" + or_wide):
        launcher(numbers(ROWS, COLUMNS), target)
    assert torch.equal(target, before)


def test_an_axis_of_one_element_may_have_stride_0():
    target = torch.zeros(1, COLUMNS).as_strided((1, COLUMNS), (0, 1))
    one_row = flyc.jit(lambda x, y: by_element_kernel(x, y).launch(grid=1, block=COLUMNS))
    one_row(numbers(1, COLUMNS) + 1, target)
    assert torch.equal(target, numbers(1, COLUMNS) + 1)


@flyc.kernel
def count_kernel(y: fx.Tensor):
    fx.atomic_add(fx.get_iter(y), 1)


@flyc.jit
def count(y: fx.Tensor):
    count_kernel(y).launch(grid=1, block=COLUMNS)


def test_elements_that_share_memory_may_be_added_to():
    """An atomic operation says what becomes of them."""
    target = torch.zeros(1, dtype=torch.int32)
    count(target.expand(COLUMNS))
    assert target.item() == COLUMNS
