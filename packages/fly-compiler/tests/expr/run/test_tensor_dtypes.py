# SPDX-License-Identifier: Apache-2.0
"""Every dtype of a tensor: what a kernel reads, computes, compares, converts and writes, against NumPy and torch."""

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NARROW = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
LANES = 64


def values(name):
    """Return 64 values of a dtype with its extremes, as a NumPy array, or as a torch tensor where NumPy lacks it."""
    if name == "bool":
        return np.arange(LANES) % 3 == 0
    if name in INTEGERS:
        info = np.iinfo(name)
        edges = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2 + 1, 0, 1, 2, 3]
        return np.array(edges + [5, 100, 127] * 18 + [7], name)
    tensor = torch.linspace(-3, 3, LANES).to(getattr(torch, name))
    return tensor.numpy() if name in ("float16", "float32", "float64") else tensor


def exact(array):
    """Return values as NumPy numbers of the same value."""
    return array if isinstance(array, np.ndarray) else array.to(torch.float64).numpy()


def by_index(x, i):
    return x[i]


def by_pointer(x, i):
    return (x.iter + i).load()


def by_view(x, i):
    return fx.logical_divide(x, fx.make_layout(1, 1))[None, i].load()[0]


def by_copy(x, i):
    part = fx.logical_divide(x, fx.make_layout(1, 1))[None, i]
    registers = fx.make_fragment_like(part)
    fx.copy(fx.make_copy_atom(fx.UniversalCopy(x.dtype.width), x.dtype), part, registers)
    return registers[0]


def by_tiled_copy(x, i):
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy(x.dtype.width), x.dtype)
    tiled = fx.make_tiled_copy(atom, fx.make_layout((LANES, 1), (1, LANES)), (LANES,))
    tile = fx.zipped_divide(fx.rocdl.make_buffer_tensor(x), fx.make_tile(LANES))[None, 0]
    mine = tiled.get_slice(i).partition_S(tile)
    registers = fx.make_fragment_like(mine)
    fx.copy(tiled, mine, registers)
    return registers.load()[0]


def by_buffer(x, i):
    return fx.buffer_ops.buffer_load(fx.buffer_ops.create_buffer_resource(x), i)


def by_loop(x, i):
    value = x.dtype(0)
    for j in range(i, i + 1):
        value = x[j]
    return value


def by_shared(x, i):
    shared = fx.SharedAllocator().allocate(fx.Array[x.dtype, LANES]).peek()
    shared[i] = x[i]
    fx.gpu.barrier()
    return shared[i]


READERS = [by_index, by_pointer, by_view, by_copy, by_tiled_copy, by_buffer, by_loop, by_shared]


@pytest.mark.parametrize("read", READERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float8_e4m3fn"])
def test_every_way_to_read_keeps_the_type(name, read):
    if name == "bool" and read in (by_copy, by_tiled_copy, by_buffer):
        pytest.skip("copies and buffer loads move whole bytes, and refuse Boolean by name")

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, large: fx.Tensor, wide: fx.Tensor):
        i = fx.thread_idx.x
        value = read(x, i)
        assert value.dtype is x.dtype
        y[i] = value
        large[i] = value > x.dtype(1)
        wide[i] = value.to(fx.Int64)

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor, large: fx.Tensor, wide: fx.Tensor):
        kernel(x, y, large, wide).launch(grid=1, block=LANES)

    x = values(name)
    y = np.zeros_like(x) if isinstance(x, np.ndarray) else torch.zeros(LANES).to(x.dtype)
    large, wide = np.zeros(LANES, bool), np.zeros(LANES, np.int64)
    run(x, y, large, wide)
    assert (exact(y) == exact(x)).all()
    assert (large == (exact(x) > 1)).all()
    assert (wide == exact(x).astype(np.int64)).all()


@flyc.kernel
def convert_kernel(x: fx.Tensor, y: fx.Tensor):
    y[fx.thread_idx.x] = x[fx.thread_idx.x].to(y.dtype)


@flyc.jit
def convert(x: fx.Tensor, y: fx.Tensor):
    convert_kernel(x, y).launch(grid=1, block=LANES)


@pytest.mark.parametrize("target", ["int16", "uint16", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("source", ["bool", *INTEGERS, *FLOATS, *NARROW])
def test_conversions(source, target):
    x = values(source)
    if target.startswith("uint") and source not in ("bool", *INTEGERS):
        x = abs(x) if isinstance(x, np.ndarray) else x.float().abs().to(x.dtype)
    y = np.zeros(LANES, target)
    convert(x, y)
    assert (y == exact(x).astype(target)).all()


OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    ">>": lambda a, b: a >> (b & type_of(b)(7)),
    "max": lambda a, b: fx.max(a, b),
    "min": lambda a, b: fx.min(a, b),
    "ceildiv": lambda a, b: fx.ceildiv(a, b),
    "abs": lambda a, b: abs(a),
}
REFERENCE = {
    **OPERATIONS,
    "max": np.maximum,
    "min": np.minimum,
    "ceildiv": lambda a, b: np.array([-(-int(x) // int(y)) for x, y in zip(a, b, strict=True)], a.dtype),
}


def type_of(value):
    return value.dtype.type if isinstance(value, np.ndarray) else value.dtype


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("name", INTEGERS)
def test_arithmetic_of_integers(name, lanes):
    names = list(OPERATIONS)

    @flyc.kernel
    def kernel(x: fx.Tensor, z: fx.Tensor, y: fx.Tensor, less: fx.Tensor, ratio: fx.Tensor):
        i = fx.thread_idx.x
        tile = fx.make_layout(lanes, 1)
        a, b = (fx.logical_divide(one, tile)[None, i].load() for one in (x, z))
        if fx.const_expr(lanes == 1):
            a, b = a[0], b[0]
        for number, op in enumerate(names):
            result = OPERATIONS[op](a, b)
            assert result.dtype is x.dtype
            fx.logical_divide(y[number, None], tile)[None, i].store(result)
        fx.logical_divide(less, tile)[None, i].store(a < b)
        fx.logical_divide(ratio, tile)[None, i].store((a / b).to(fx.Float64))

    @flyc.jit
    def run(x: fx.Tensor, z: fx.Tensor, y: fx.Tensor, less: fx.Tensor, ratio: fx.Tensor):
        kernel(x, z, y, less, ratio).launch(grid=1, block=LANES // lanes)

    generator, info = np.random.default_rng(7), np.iinfo(name)
    x, z = (generator.integers(info.min, info.max, LANES, name, endpoint=True) for _ in range(2))
    x[:4], z[:4] = [info.min, info.max, info.max, 0], [3, info.max, 2, 5]
    z[(z == 0) | (z == (-1 if info.min else 0))] = 1  # division by zero, and of the smallest number by -1
    y, less, ratio = np.zeros((len(names), LANES), name), np.zeros(LANES, bool), np.zeros(LANES)
    run(x, z, y, less, ratio)
    with np.errstate(over="ignore"):
        for number, op in enumerate(names):
            assert (y[number] == REFERENCE[op](x, z)).all(), op
    assert (less == (x < z)).all()
    working = np.float64 if info.bits == 64 else np.float32
    np.testing.assert_allclose(ratio, x.astype(working) / z.astype(working), rtol=1e-6)


@flyc.kernel
def histogram_kernel(x: fx.Tensor, counts: fx.Tensor):
    fx.atomic_add(counts.iter + x[fx.block_idx.x * 64 + fx.thread_idx.x].to(fx.Int32), 1)


@flyc.jit
def histogram(x: fx.Tensor, counts: fx.Tensor):
    histogram_kernel(x, counts).launch(grid=x.shape[0].to_py_value() // 64, block=64)


@pytest.mark.parametrize("wrap", [np.asarray, torch.from_numpy, flyc.from_dlpack], ids=["numpy", "torch", "dlpack"])
def test_a_histogram_of_bytes(wrap):
    x = np.random.default_rng(3).integers(0, 256, 1024).astype(np.uint8)
    counts = np.zeros(256, np.int32)
    histogram(wrap(x), counts)
    assert (counts == np.bincount(x, minlength=256)).all()


@pytest.mark.parametrize("signed", ["int8", "int16", "int32", "int64"])
def test_compiled_code_tells_signed_from_unsigned(signed):
    compiled = flyc.compile(convert, np.zeros(LANES, signed), np.zeros(LANES, np.int64))
    with pytest.raises(TypeError, match=f"expected a {signed} tensor .* got a u{signed} tensor"):
        compiled(np.zeros(LANES, "u" + signed), np.zeros(LANES, np.int64))


@pytest.mark.parametrize("name", ["complex64", "complex128", "uint16", "uint32", "uint64", "float8_e8m0fnu"])
def test_what_is_refused_of_torch_is_named(name):
    with pytest.raises(TypeError, match=f"argument 'x': a kernel tensor cannot have dtype {name}; it can have bool"):
        convert(torch.zeros(LANES).to(getattr(torch, name)), np.zeros(LANES, np.int64))


@flyc.kernel
def negate_kernel(x: fx.Tensor, y: fx.Tensor):
    i, four = fx.thread_idx.x, fx.make_layout(4, 1)
    values = fx.logical_divide(x, four)[None, i].load()
    fx.logical_divide(y[0, None], four)[None, i].store(~values)
    (y[1, None].iter + 4 * i).store(~(x.iter + 4 * i).load(fx.Vector[fx.Boolean, 4]))
    fx.logical_divide(y[2, None], four)[None, i].fill(True)


@flyc.jit
def negate(x: fx.Tensor, y: fx.Tensor):
    negate_kernel(x, y).launch(grid=1, block=LANES // 4)


def test_vectors_of_booleans_are_bytes_in_memory():
    x, y = values("bool"), np.zeros((3, LANES), bool)
    negate(x, y)
    assert (y == np.array([~x, ~x, np.ones(LANES, bool)])).all()
