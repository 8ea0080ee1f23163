# SPDX-License-Identifier: Apache-2.0
"""Every builder of row and pointwise kernels on awkward shapes, in one table; and a check that none is left out.

Each case runs with poisoned outputs, all sanitizers and three wave orders (see `conftest`), and is compared with
float64. What a builder makes must also take no rows, and memory that begins anywhere; and refuse what is not laid out
as it says, and rows of no elements.
"""

import importlib
import inspect
import pkgutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as functional
from rows import DTYPES, check, layernorm, rmsnorm, row, rows

import flydsl.compiler as flyc
import flydsl.kernels
from flydsl.kernels.common.element_names import element_type
from flydsl.kernels.common.tensor_shim import _run_compiled

PROGRAMS = 3  # of the two-stage backward


@dataclass
class Case:
    """A launch: the launcher, its arguments but the number of rows (or elements), and what must come out."""

    launch: Any
    inputs: list  # tensors, in the order of the launcher's parameters; None where the next output belongs
    outputs: list  # (tensor, expected in float64, its type, slack in f32 roundings of the largest); expected None: any
    count: int
    updates: tuple = ()  # of the outputs, those that are added to
    same_bits: bool = True

    def arguments(self):
        outputs = iter(self.outputs)
        return [next(outputs)[0] if one is None else one for one in self.inputs]


def anywhere(tensor, offset):
    """The same tensor, `offset` elements after the beginning of its memory."""
    storage = tensor.new_empty(tensor.numel() + offset)
    return storage[offset:].view(tensor.shape).copy_(tensor)


def forward_norm(name, m, n, dtype, at):
    """layernorm and rmsnorm, behind a residual or not, with statistics or int8 output."""
    centred, residual = "layernorm" in name, "fused_add" in name
    quantised, smooth = "quant" in name, "smooth" in name
    stats = not quantised
    module = "layernorm_kernel" if centred else "rmsnorm_kernel"
    x, res = rows(m, n, dtype), rows(m, n, dtype, seed=1)
    gamma, beta, xscale = (row(n, dtype, seed=seed) for seed in (1, 2, 3))
    h = (x.double() + res.double()).to(x.dtype) if residual else x
    y, mean, rstd = layernorm(h, gamma, beta) if centred else (*rmsnorm(h, gamma), None)
    rstd, mean = (rstd, mean) if centred else (mean, None)
    y = y * xscale.double() if smooth else y
    inputs = [x, *([res] if residual else []), gamma, *([beta] if centred else []), *([xscale] if smooth else [])]
    outputs = []
    if quantised:
        scale = y.abs().amax(-1) / 127
        scale[scale == 0] = 1
        outputs.append((torch.empty(m, n, dtype=torch.int8), (y / scale[:, None]).trunc(), "codes", 0))
    else:
        outputs.append((torch.empty_like(x), y, dtype, 2.0))
    outputs += [(torch.empty_like(x), h.double(), dtype, 0.0)] if residual else []
    if quantised:
        outputs.append((torch.empty(m), scale, "f32", 4.0))
    elif stats:
        # The elements of a row may nearly cancel out in its mean.
        cancelled = (h.double().abs().mean(-1).max() / mean.abs().max()).item() if centred and m else 1.0
        outputs += [(torch.empty(m), mean, "f32", 4.0 * cancelled)] if centred else []
        outputs.append((torch.empty(m), rstd, "f32", 2.0))
    build = find(f"norm.{module}", name)
    launch = build(n, dtype) if quantised else build(n, dtype, True)
    return Case(launch, [*at(inputs), *[None] * len(outputs)], place(outputs, at), m)


def backward_norm(name, m, n, dtype, at):
    centred, residual, two_stage = "layernorm" in name, "fused_add" in name, "two_stage" in name
    module = "layernorm_bwd_kernel" if centred else "rmsnorm_bwd_kernel"
    x, dy, dres = (rows(m, n, dtype, seed=seed) for seed in range(3))
    gamma, beta = row(n, dtype), row(n, dtype, seed=2)
    xd, gd, bd = (one.double().requires_grad_() for one in (x, gamma, beta))
    y, mean, rstd = layernorm(xd, gd, bd) if centred else (rmsnorm(xd, gd)[0], None, rmsnorm(xd, gd)[1])
    y.backward(dy.double())
    stats = [mean, rstd] if centred else [rstd]
    inputs = [x, gamma, dy, *([dres] if residual else []), *(one.detach().float() for one in stats)]
    dx = xd.grad + dres.double() if residual else xd.grad
    slack = 4.0 * m + 8.0
    summand = (dy.double() * gamma.double() * stats[-1].detach()[:, None]).abs()  # of dx, which may cancel out
    cancelled = (summand.max() / dx.abs().max()).item() if m and dx.any() else 1.0
    outputs = [(torch.empty_like(x), dx, dtype, 8.0 * max(1.0, cancelled)), (torch.zeros(n), gd.grad, "f32", slack)]
    outputs += [(torch.zeros(n), bd.grad, "f32", slack)] if centred else []
    updates = () if two_stage else tuple(range(1, len(outputs)))
    outputs += [(torch.empty(PROGRAMS * n), None, "f32", 0.0)] if two_stage else []
    build = find(f"norm.{module}", name)
    launch = build(n, dtype, PROGRAMS) if two_stage else build(n, dtype)
    case = Case(launch, [*at(inputs), *[None] * len(outputs)], place(outputs, at), m, updates, two_stage)
    return case


def softmax(name, m, n, dtype, at):
    x = rows(m, n, dtype, scale=3.0)
    outputs = [(torch.empty_like(x), torch.softmax(x.double(), -1), dtype, 64.0)]
    return Case(find("norm.softmax_kernel", name)(n, dtype), [*at([x]), None], place(outputs, at), m)


def softmax_bwd(name, m, n, dtype, at):
    dy, y = rows(m, n, dtype), torch.softmax(rows(m, n, "f32", seed=1), -1).to(DTYPES[dtype])
    dx = y.double() * (dy.double() - (dy.double() * y.double()).sum(-1, keepdim=True))
    outputs = [(torch.empty_like(y), dx, dtype, 8.0)]
    return Case(find("norm.softmax_bwd_kernel", name)(n, dtype), [*at([dy, y]), None], place(outputs, at), m)


def quant(name, m, n, dtype, at):
    block = 128 if "block" in name else n
    blocks = -(-n // block)
    x = rows(m, n, dtype, scale=3.0)
    padded = functional.pad(x.double(), (0, blocks * block - n)).reshape(m, blocks, block)
    scale = padded.abs().amax(-1) / 127
    scale[scale == 0] = 1
    codes = (x.double() / scale.repeat_interleave(block, 1)[:, :n]).round()
    outputs = [
        (torch.empty(m, n, dtype=torch.int8), codes, "codes", 0),
        (torch.empty(m, blocks) if "block" in name else torch.empty(m), scale.reshape(m, blocks), "f32", 2.0),
    ]
    launch = find(f"quant.{name.removeprefix('build_').removesuffix('_module')}_kernel", name)(n, dtype, "int8")
    return Case(launch, [*at([x]), None, None], place(outputs, at), m)


def gated(name, m, n, dtype, at):
    x, dy = rows(m, 2 * n, dtype, scale=2.0), rows(m, n, dtype, seed=1)
    exact = x.double().requires_grad_()
    y = functional.silu(exact[:, :n]) * exact[:, n:]
    y.backward(dy.double())
    backward = "bwd" in name
    outputs = [(torch.empty_like(x if backward else dy), exact.grad if backward else y, dtype, 8.0)]
    inputs = at([dy, x] if backward else [x])
    return Case(find("elementwise.gated_kernel", name)(n, dtype, "silu"), [*inputs, None], place(outputs, at), m)


def reduction(name, m, n, dtype, at):
    x = rows(m, n, dtype)
    if "argmax" in name:
        launch, first = find("elementwise.argmax_kernel", name)(n, dtype), x.round() if n > 1 else x
        expected = (first == first.amax(-1, keepdim=True)).int().argmax(-1).double()
        return Case(launch, [*at([first]), None], [(torch.empty(m, dtype=torch.int64), expected, "exact", 0)], m)
    launch = find("elementwise.row_reduce_kernel", name)(n, dtype, "sum", "f32")
    sums, sizes = x.double().sum(-1), x.double().abs().sum(-1)
    outputs = [(torch.empty(m), sums, "f32", 4.0 * (sizes.max() / sums.abs().max()).item() if m else 1.0)]
    return Case(launch, [*at([x]), None], place(outputs, at), m)


def pointwise(name, m, n, dtype, at):
    x, y = (rows(1, m * n, dtype, seed=seed, scale=2.0)[0] for seed in (0, 1))
    exact = x.double().requires_grad_()
    functional.silu(exact).backward(y.double())
    launch = find("elementwise.pointwise_kernel", name)("add" if "binary" in name else "silu", dtype)
    expected = {"binary": x.double() + y.double(), "unary_bwd": exact.grad, "unary": functional.silu(exact)}
    inputs = {"binary": [x, y], "unary_bwd": [y, x], "unary": [x]}
    kind = name.removeprefix("build_").removesuffix("_module")
    outputs = [(torch.empty_like(x), expected[kind], dtype, 8.0)]
    return Case(launch, [*at(inputs[kind]), None], place(outputs, at), m * n)


def place(outputs, at):
    return [(at([tensor])[0], *rest) for tensor, *rest in outputs]


BUILDERS = {
    **{
        f"build_{residual}{norm}_{kind}module": forward_norm
        for norm in ("layernorm", "rmsnorm")
        for residual in ("", "fused_add_")
        for kind in ("", "dynamicquant_", "smoothquant_")
    },
    "build_layernorm_bwd_module": backward_norm,
    "build_fused_add_layernorm_bwd_module": backward_norm,
    "build_rmsnorm_bwd_module": backward_norm,
    "build_rmsnorm_bwd_two_stage_module": backward_norm,
    "build_fused_add_rmsnorm_bwd_module": backward_norm,
    "build_fused_add_rmsnorm_bwd_two_stage_module": backward_norm,
    "build_softmax_module": softmax,
    "build_softmax_bwd_module": softmax_bwd,
    "build_per_token_quant_module": quant,
    "build_per_block_quant_module": quant,
    "build_gated_module": gated,
    "build_gated_bwd_module": gated,
    "build_row_reduce_module": reduction,
    "build_argmax_module": reduction,
    "build_unary_module": pointwise,
    "build_unary_bwd_module": pointwise,
    "build_binary_module": pointwise,
}
POINTWISE = {name for name, make in BUILDERS.items() if make is pointwise}

# One row of a prime length; one more than the vectors of a workgroup; rows of one element. More with `-m slow`.
SHAPES = [(1, 127, "f32"), (3, 2049, "bf16"), (5, 1, "f16")]
MORE_SHAPES = [
    (7, 1021, "f16"),
    (2, 8193, "f32"),
    (3, 4097, "bf16"),
    (1, 16411, "f16"),
    (2, 32769, "bf16"),
    (1, 65537, "f32"),  # fits the registers of no kernel
    (1, 131101, "bf16"),
    (257, 64, "f32"),
    (2, 65, "bf16"),
]


def find(module, name):
    return getattr(importlib.import_module(f"flydsl.kernels.{module}"), name)


def launch(case, run, pass_tensor=lambda tensor: tensor):
    """Run a case and compare its outputs."""
    updates = [case.outputs[index][0] for index in case.updates]
    writes = [tensor for index, (tensor, *_) in enumerate(case.outputs) if index not in case.updates]
    arguments = [*map(pass_tensor, case.arguments()), case.count]
    run(case.launch, *arguments, writes=writes, updates=updates, same_bits=case.same_bits)
    for tensor, expected, kind, slack in case.outputs:
        if expected is None or not tensor.numel():
            continue
        got, expected = tensor.double(), expected.detach().view(tensor.shape)
        if kind == "codes":  # cut off or rounded next to a step, where f32 may fall on either side
            assert (got - expected).abs().max() <= 1
            assert (got != expected).double().mean() <= 0.02 or tensor.numel() < 300
        elif kind == "exact":
            assert torch.equal(got, expected)
        else:
            check(tensor, expected, kind, slack=slack)


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize(("m", "n", "dtype"), SHAPES)
def test_shape(name, m, n, dtype, run):
    launch(BUILDERS[name](name, m, n, dtype, lambda tensors: tensors), run)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize(("m", "n", "dtype"), MORE_SHAPES)
def test_more_shapes(name, m, n, dtype, run):
    launch(BUILDERS[name](name, m, n, dtype, lambda tensors: tensors), run)


@pytest.mark.parametrize("name", BUILDERS)
def test_memory_that_begins_anywhere(name, run):
    """All tensors begin one element after a multiple of 64 bytes."""
    launch(BUILDERS[name](name, 3, 264, "bf16", lambda tensors: [anywhere(one, 1) for one in tensors]), run)


@pytest.mark.parametrize("name", BUILDERS)
def test_pointers_in_the_place_of_tensors(name, run):
    """As `flyc.from_c_void_p` gives them; and their addresses, once the launcher is compiled for pointers."""

    def pointer(tensor):
        return flyc.from_c_void_p(element_type(tensor.dtype), tensor.data_ptr(), assumed_align=tensor.element_size())

    case = BUILDERS[name](name, 3, 264, "bf16", lambda tensors: tensors)
    launch(case, run, pointer)
    _run_compiled(case.launch, *map(pointer, case.arguments()), case.count)
    again = BUILDERS[name](name, 3, 264, "bf16", lambda tensors: tensors)
    again.launch = lambda *arguments: _run_compiled(case.launch, *arguments)
    launch(again, run, lambda tensor: tensor.data_ptr())


@pytest.mark.parametrize("name", BUILDERS)
def test_no_rows(name, run):
    """Nothing is launched; the two-stage form still writes its sums, of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch, about the variance of no rows
        case = BUILDERS[name](name, 0, 264, "f32", lambda tensors: tensors)
    before = [tensor.fill_(7) for tensor, *_ in case.outputs]
    run(case.launch, *case.arguments(), 0, writes=[], updates=before, seeds=[0])
    for tensor in before:
        assert (tensor == (0 if "two_stage" in name else 7)).all()


@pytest.mark.parametrize("name", BUILDERS)
def test_tensors_that_are_not_laid_out_so_are_refused(name):
    """Columns apart, by the argument's name and with what to do, and the launcher still works after that."""
    case = BUILDERS[name](name, 3, 264, "f32", lambda tensors: tensors)
    good = [*case.arguments(), case.count]
    x = good[0]
    spoilt = flyc.from_dlpack(torch.cat([x, x])[::2]) if name in POINTWISE else x.t().contiguous().t()
    parameter = next(iter(inspect.signature(case.launch).parameters))
    with pytest.raises(ValueError, match=rf"argument '{parameter}': .* must be neighbours .*\.contiguous\(\)"):
        case.launch(spoilt, *good[1:])
    case.launch(*good)


@pytest.mark.parametrize("name", sorted(set(BUILDERS) - POINTWISE))
@pytest.mark.parametrize("columns", [0, -1, 2.5])
def test_rows_of_no_elements_are_refused(name, columns):
    make = BUILDERS[name](name, 1, 8, "f32", lambda tensors: tensors).launch
    module = inspect.getmodule(inspect.unwrap(make))
    arguments = (columns, "f32", PROGRAMS) if "two_stage" in name else (columns, "f32")
    with pytest.raises(ValueError, match="N must be a positive integer"):
        getattr(module, name)(*arguments)


def test_extents_that_are_known_are_checked():
    case = BUILDERS["build_layernorm_module"]("build_layernorm_module", 3, 264, "f32", lambda tensors: tensors)
    x, *others = [*case.arguments(), case.count]
    with pytest.raises(ValueError, match="argument 'Input': expected 264 columns, got 200"):
        case.launch(flyc.from_dlpack(x[:, :200].contiguous()), *others)
    with pytest.raises(ValueError, match="argument 'Gamma': expected 264 elements, got 100"):
        case.launch(x, flyc.from_dlpack(others[0][:100].clone()), *others[1:])


def public_builders():
    """{name: module} of all functions of the package that build launchers."""
    found = {}
    for module in pkgutil.walk_packages(flydsl.kernels.__path__, "flydsl.kernels."):
        if ".operators" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.startswith(("build_", "compile_")) and inspect.isfunction(value):
                found.setdefault(name, value.__module__)
    return found


INNER = ("build_split_combine",)  # of attention with splits: what a launch of that runs second
# Of rows, and tested in files of their own: one is of gfx950 alone, the others have no scale for each row.
OTHER_ROWS = ("build_mx_quant_module", "build_per_block2d_quant_module", "build_per_tensor_quant_module")
# Tests look at their programs; tools/bench/cuda_gemm.py and cuda_attention.py run them on a GPU.
NOT_EMULATED = ("compile_hopper_gemm", "compile_hopper_attention")


def test_every_builder_is_tested():
    """Those of rows here; those of GEMMs, attention and rope by a test of their family that poisons and reorders.

    The `build_…` of GEMMs are inner ones, which what is called `compile_…` uses, and so are those in INNER.
    Those in NOT_EMULATED have a test all the same.
    """
    tests = Path(__file__).parent
    found = public_builders()
    assert set(BUILDERS) <= set(found)
    for name in set(found) - set(BUILDERS):
        family = found[name].removeprefix("flydsl.kernels.").split(".")[0]
        if (family == "gemm" and name.startswith("build_")) or name in INNER:
            continue
        in_a_row = family in ("norm", "quant", "elementwise") and name not in OTHER_ROWS
        assert not in_a_row, f"{name} is in no row of BUILDERS"
        texts = [path.read_text() for path in (tests / family).glob("test_*.py")] or [
            path.read_text() for path in tests.glob("*/test_*.py")
        ]
        runs = any(name in text and ("run(" in text or name in NOT_EMULATED) for text in texts)
        assert runs, f"no test of {family} runs {name}"
