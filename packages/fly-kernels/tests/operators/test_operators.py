# SPDX-License-Identifier: Apache-2.0
"""Operators of torch: registration, autograd, torch.compile, allocation, refusals."""

import subprocess
import sys

import pytest
import torch
from rows import check, layernorm, rmsnorm, row, rows

import flydsl.kernels as kernels
from flydsl.kernels.operators import elementwise, quant, quantised_norms, reductions, rope
from flydsl.kernels.operators import layernorm as layernorm_operators
from flydsl.kernels.operators import rmsnorm as rmsnorm_operators
from flydsl.kernels.operators import softmax as softmax_operators


def leaf(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def rope_arguments():
    q, k, v = torch.randn(3, 4, 32).bfloat16(), torch.randn(3, 1, 32).bfloat16(), torch.randn(3, 1, 32).bfloat16()
    positions, slots = torch.arange(3, dtype=torch.int32), torch.tensor([5, -1, 0])
    cos, sin = torch.randn(8, 16).bfloat16(), torch.randn(8, 16).bfloat16()
    caches = [torch.zeros(2, 4, 1, 32).bfloat16() for _ in range(2)]
    return q, k, v, positions, cos, sin, slots, *caches, torch.ones(1), torch.ones(1), True


OPERATORS = {
    "softmax": (softmax_operators._softmax, lambda: (leaf(3, 40),)),
    "softmax_backward": (softmax_operators._softmax_backward, lambda: (torch.randn(3, 40), torch.rand(3, 40))),
    "rmsnorm": (rmsnorm_operators._rmsnorm, lambda: (leaf(2, 3, 40), leaf(40, seed=1), 1e-5)),
    "rmsnorm_backward": (
        rmsnorm_operators._rmsnorm_backward,
        lambda: (torch.randn(3, 40), torch.rand(40), torch.randn(3, 40), torch.rand(3)),
    ),
    "fused_add_rmsnorm_backward": (
        rmsnorm_operators._fused_add_rmsnorm_backward,
        lambda: (torch.randn(3, 40), torch.rand(40), torch.randn(3, 40), torch.randn(3, 40), torch.rand(3)),
    ),
    "fused_add_rmsnorm": (
        rmsnorm_operators._fused_add_rmsnorm,
        lambda: (leaf(3, 40), leaf(3, 40, seed=1), leaf(40, seed=2), 1e-5),
    ),
    "layernorm": (layernorm_operators._layernorm, lambda: (leaf(3, 40), leaf(40, seed=1), leaf(40, seed=2), 1e-5)),
    "layernorm_backward": (
        layernorm_operators._layernorm_backward,
        lambda: (torch.randn(3, 40), torch.rand(40), torch.randn(3, 40), torch.randn(3), torch.rand(3), None),
    ),
    "fused_add_layernorm": (
        layernorm_operators._fused_add_layernorm,
        lambda: (leaf(3, 40), leaf(3, 40, seed=1), leaf(40, seed=2), leaf(40, seed=3), 1e-5),
    ),
    "norm_quant": (quantised_norms._norm_quant, lambda: (torch.randn(2, 3, 40), torch.rand(40), None, None, 1e-5)),
    "fused_add_norm_quant": (
        quantised_norms._fused_add_norm_quant,
        lambda: (torch.randn(3, 40), torch.randn(3, 40), *(torch.rand(40) for _ in range(3)), 1e-5),
    ),
    "per_token_quant": (quant._per_token_quant, lambda: (torch.randn(3, 40), "int8")),
    "per_block2d_quant": (quant._per_block2d_quant, lambda: (torch.randn(3, 256), "int8")),
    "per_block_quant": (quant._per_block_quant, lambda: (torch.randn(3, 256), "int8", 64)),
    "per_tensor_quant": (quant._per_tensor_quant, lambda: (torch.randn(3, 40), "int8")),
    "per_tensor_quant_static": (quant._per_tensor_quant_static, lambda: (torch.randn(3, 40), torch.ones(1), "int8")),
    "rope_cache": (rope._rope_cache, rope_arguments),
    "unary": (elementwise._unary, lambda: (leaf(3, 40), "silu")),
    "unary_backward": (elementwise._unary_backward, lambda: (torch.randn(3, 40), torch.randn(3, 40), "silu")),
    "binary": (elementwise._binary, lambda: (leaf(3, 40), leaf(3, 40, seed=1), "mul")),
    "gated": (elementwise._gated, lambda: (leaf(3, 40), "silu")),
    "gated_backward": (elementwise._gated_backward, lambda: (torch.randn(3, 20), torch.randn(3, 40), "silu")),
    "row_reduce": (reductions._row_reduce, lambda: (leaf(3, 40), "sum")),
    "argmax": (reductions._argmax, lambda: (torch.randn(3, 40),)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_opcheck(name):
    operator, arguments = OPERATORS[name]
    results = torch.library.opcheck(getattr(operator, "overload", operator), arguments())
    assert set(results.values()) == {"SUCCESS"}


ELSEWHERE = {"gemm", "grouped_gemm", "scaled_gemm", "flash_attention", "mx_quant"}


def test_every_operator_is_checked():
    """Those of GEMMs, attention and the formats of gfx950 in their own tests."""
    names = {name.removeprefix("flydsl::") for name in torch._C._dispatch_get_all_op_names() if "flydsl::" in name}
    for name in kernels.OPERATORS:
        getattr(kernels, name)
    assert {name.split(".")[0] for name in names} - ELSEWHERE == set(OPERATORS)


def test_every_listed_operator_is_there():
    for name in kernels.OPERATORS:
        assert getattr(kernels, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'sofmax'; operators: absolute, add"):
        kernels.sofmax


def test_the_package_and_its_builders_import_neither_torch_nor_the_compiler():
    program = (
        "import sys, flydsl.kernels, flydsl.kernels.norm.rmsnorm_kernel, flydsl.kernels.quant.per_token_quant_kernel;"
        "sys.exit('torch' in sys.modules or 'flydsl.compiler' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_a_first_call_does_not_import_the_compiler_of_torch():
    """Which takes seconds."""
    device = torch.randn(1).device
    program = (
        f"import sys, torch, flydsl.kernels as fk; y = fk.softmax(torch.randn(2, 64).to('{device}')).cpu();"
        "sys.exit('torch._dynamo' in sys.modules or not torch.allclose(y.sum(-1), torch.ones(2)))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_an_operator_without_a_backward_says_so():
    product = kernels.gemm(leaf(4, 64, dtype=torch.bfloat16), torch.randn(16, 64).bfloat16())
    with pytest.raises(RuntimeError, match="flydsl::gemm is not differentiable"):
        product.sum().backward()


functional = torch.nn.functional
UNARY = {
    "absolute": torch.abs,
    "exp": torch.exp,
    "gelu": functional.gelu,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "softplus": functional.softplus,
    "tanh": torch.tanh,
}
BINARY = {"add": torch.add, "maximum": torch.maximum, "multiply": torch.mul}


def gradients(function, *inputs):
    inputs = [one.detach().clone().requires_grad_() for one in inputs]
    output = function(*inputs)
    outputs = output if isinstance(output, tuple) else (output,)
    sum((one * torch.arange(one.numel(), dtype=one.dtype).view(one.shape).cos()).sum() for one in outputs).backward()
    return outputs, [one.grad for one in inputs]


@pytest.mark.parametrize(
    ("operator", "reference", "shapes"),
    [
        (kernels.softmax, lambda x: torch.softmax(x, -1), [(2, 3, 40)]),
        (lambda x: kernels.softmax(x, 0), lambda x: torch.softmax(x, 0), [(5, 7)]),
        (kernels.rmsnorm, lambda x, w: torch.nn.functional.rms_norm(x, (40,), w, 1e-5), [(2, 3, 40), (40,)]),
        (
            kernels.layernorm,
            lambda x, w, b: torch.nn.functional.layer_norm(x, (40,), w, b, 1e-5),
            [(2, 3, 40), (40,), (40,)],
        ),
        (
            kernels.fused_add_rmsnorm,
            lambda x, r, w: (torch.nn.functional.rms_norm(x + r, (40,), w, 1e-5), x + r),
            [(6, 40), (6, 40), (40,)],
        ),
        (
            kernels.fused_add_layernorm,
            lambda x, r, w, b: (torch.nn.functional.layer_norm(x + r, (40,), w, b, 1e-5), x + r),
            [(2, 3, 40), (2, 3, 40), (40,), (40,)],
        ),
        (
            lambda x, r, w: kernels.fused_add_rmsnorm(x, r, w, prenorm=False),
            lambda x, r, w: torch.nn.functional.rms_norm(x + r, (40,), w, 1e-5),
            [(6, 40), (6, 40), (40,)],
        ),
        *((getattr(kernels, name), reference, [(6, 40)]) for name, reference in UNARY.items()),
        *((getattr(kernels, name), reference, [(6, 40), (6, 40)]) for name, reference in BINARY.items()),
        (kernels.swiglu, lambda x: functional.silu(x[..., :20]) * x[..., 20:], [(2, 3, 40)]),
        (kernels.geglu, lambda x: functional.gelu(x[..., :20]) * x[..., 20:], [(2, 3, 40)]),
        (kernels.row_sum, lambda x: x.sum(-1), [(2, 3, 40)]),
        (kernels.mean, lambda x: x.mean(-1), [(2, 3, 40)]),
        (kernels.row_max, lambda x: x.amax(-1), [(2, 3, 40)]),
    ],
)
def test_outputs_and_gradients(operator, reference, shapes):
    inputs = [torch.randn(shape, generator=torch.Generator().manual_seed(i)) for i, shape in enumerate(shapes)]
    outputs, grads = gradients(operator, *inputs)
    expected, expected_grads = gradients(reference, *(one.double() for one in inputs))
    for got, want in zip((*outputs, *grads), (*expected, *expected_grads), strict=True):
        assert (got.double() - want).abs().max() <= 2e-6 * max(1.0, want.abs().max().item())


@pytest.mark.parametrize("name", ["log", "rsqrt", "sqrt"])
def test_functions_of_positive_numbers(name):
    x = torch.rand(6, 40, generator=torch.Generator().manual_seed(0)) + 0.5
    (got,), (grad,) = gradients(getattr(kernels, name), x)
    (want,), (expected,) = gradients(getattr(torch, name), x.double())
    assert (got.double() - want).abs().max() <= 2e-6
    assert (grad.double() - expected).abs().max() <= 4e-6


def test_equal_ones_share_the_gradient_of_a_maximum():
    x = torch.tensor([[1.0, 3.0, 3.0, 0.0]], requires_grad=True)
    kernels.row_max(x).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.5, 0.5, 0.0]]
    y = torch.tensor([[1.0, 2.0, 4.0, 0.0]], requires_grad=True)
    x.grad = None
    kernels.maximum(x, y).sum().backward()
    assert x.grad.tolist() == [[0.5, 1.0, 0.0, 0.5]]
    assert y.grad.tolist() == [[0.5, 0.0, 1.0, 0.5]]


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_quantised_norms(centred, smooth):
    x, r, w, b, s = rows(6, 40, "bf16"), rows(6, 40, "bf16", seed=1), *(row(40, "bf16", seed=i) for i in (2, 3, 4))
    weights = (w, b) if centred else (w,)
    family = "layernorm" if centred else "rmsnorm"
    xscale = s if smooth else None
    q, scale = getattr(kernels, f"{family}_quant")(x.view(2, 3, 40), *weights, xscale)
    assert (q.shape, scale.shape) == ((2, 3, 40), (2, 3))
    fused, added, fused_scale = getattr(kernels, f"fused_add_{family}_quant")(x, r, *weights, xscale)
    assert torch.equal(added, x + r)
    for rows_in, codes, steps in ((x, q.view(6, 40), scale.view(6)), (added, fused, fused_scale)):
        y = (layernorm(rows_in, w, b) if centred else rmsnorm(rows_in, w))[0] * (s.double() if smooth else 1.0)
        check(steps, y.abs().amax(-1) / 127, "f32", slack=4.0)
        assert ((codes.double() - (y / steps[:, None].double()).trunc()).abs() <= 1).all()
        assert codes.abs().max() == 127


HALVES = {
    "layernorm_fwd": lambda x, w, b, s: (x, w, b),
    "layernorm_bwd": lambda x, w, b, s: (x, w, x, s, s),
    "fused_add_layernorm_fwd": lambda x, w, b, s: (x, x, w, b),
    "fused_add_layernorm_bwd": lambda x, w, b, s: (x, w, x, x, s, s),
    "rmsnorm_fwd": lambda x, w, b, s: (x, w),
    "rmsnorm_bwd": lambda x, w, b, s: (x, w, x, s),
    "fused_add_rmsnorm_fwd": lambda x, w, b, s: (x, x, w),
    "fused_add_rmsnorm_bwd": lambda x, w, b, s: (x, w, x, x, s),
}


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda x: x[None], r"has shape \(1, 4, 40\), expected \(M, N\); use .view"),
        (lambda x: x.t().contiguous().t(), r"is not contiguous \(strides \(1, 4\)\); use .contiguous\(\)"),
        (lambda x: x.double(), "torch.float64 is not supported|weight is torch.float32, expected torch.float64"),
        (lambda x: x[:, :39].contiguous(), r"weight has shape \(40,\), expected \(39,\)"),
    ],
)
def test_halves_take_matrices_only(name, spoil, said):
    """The checks of the contract are ValueErrors; a wrong dtype is a TypeError as well."""
    module = layernorm_operators if "layernorm" in name else rmsnorm_operators
    arguments = HALVES[name](spoil(torch.randn(4, 40)), torch.rand(40), torch.rand(40), torch.ones(4))
    with pytest.raises(ValueError, match=said):
        getattr(module, name)(*arguments)


def test_statistics_have_to_be_those_of_the_rows():
    x, w = torch.randn(4, 40), torch.rand(40)
    with pytest.raises(ValueError, match=r"rmsnorm_bwd: rstd has shape \(3,\), expected \(4,\)"):
        rmsnorm_operators.rmsnorm_bwd(x, w, x, torch.ones(3))
    with pytest.raises(ValueError, match=r"rmsnorm_bwd: rstd is torch.float16, expected torch.float32"):
        rmsnorm_operators.rmsnorm_bwd(x, w, x, torch.ones(4).half())


def test_deterministic_backward_of_many_rows():
    x, w, dy = rows(600, 64, "f32"), row(64, "f32"), rows(600, 64, "f32", seed=1)
    _, rstd = rmsnorm_operators.rmsnorm_fwd(x, w, store_rstd=True)
    dx, dw = rmsnorm_operators.rmsnorm_bwd(x, w, dy, rstd)
    again = rmsnorm_operators.rmsnorm_bwd(x, w, dy, rstd)
    assert torch.equal(dx, again[0])
    assert torch.equal(dw, again[1])
    xd, wd = x.double().requires_grad_(), w.double().requires_grad_()
    rmsnorm(xd, wd)[0].backward(dy.double())
    check(dx, xd.grad, "f32", slack=4.0)
    check(dw, wd.grad, "f32", slack=32.0)


def test_compile_keeps_the_operators_in_one_graph():
    graphs = []

    def backend(graph, example_inputs):
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    def block(x, w, b):
        return kernels.silu(kernels.layernorm(kernels.softmax(kernels.rmsnorm(x, w)), w, b))

    x, w, b = torch.randn(4, 40), torch.rand(40), torch.randn(40)
    compiled = torch.compile(block, backend=backend, fullgraph=True)
    assert torch.equal(compiled(x, w, b), block(x, w, b))
    assert len(graphs) == 1
    names = {str(target) for target in graphs[0]}
    assert {"flydsl.rmsnorm.default", "flydsl.softmax.default", "flydsl.layernorm.default"} <= names


def compile_arguments(name):
    """What each public operator is called with below."""
    x, w, b, h = torch.randn(4, 40), torch.rand(40), torch.randn(40), torch.randn(4, 64).half()
    heads = torch.randn(1, 33, 2, 64).half()
    rope = rope_arguments()[:9]
    two = {"add", "maximum", "multiply"}
    norms = {
        "layernorm": (x, w, b),
        "layernorm_quant": (x, w, b),
        "fused_add_layernorm": (x, x, w, b),
        "fused_add_layernorm_quant": (x, x, w, b),
        "rmsnorm": (x, w),
        "rmsnorm_quant": (x, w),
        "fused_add_rmsnorm": (x, x, w),
        "fused_add_rmsnorm_quant": (x, x, w),
    }
    others = {
        "flash_attention": (heads, heads, heads),
        "gemm": (h, torch.randn(16, 64).half()),
        "grouped_gemm": (h, torch.randn(2, 16, 64).half(), torch.tensor([0, 1, h.shape[0]])),
        "mx_quant": (torch.randn(4, 64), "fp4", "up"),
        "per_block2d_quant": (torch.randn(4, 64), "int8"),
        "per_block_quant": (torch.randn(4, 64), "int8", 16),
        "per_tensor_quant": (x, "int8"),
        "per_token_quant": (x, "int8"),
        "rope_cache": rope,
    }
    return {**norms, **others}.get(name, (x, x + 1) if name in two else (x.abs() + 0.1,))


@pytest.mark.parametrize("name", kernels.OPERATORS)
def test_compile_takes_every_operator_whole(name, arch):
    """One graph, with the operator in it, and the results that it has without: also of fake tensors."""
    if name == "mx_quant" and arch != "gfx950":
        pytest.skip("quantised for the matrix instructions of gfx950")
    graphs = []

    def backend(graph, example_inputs):
        graphs.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    operator, arguments = getattr(kernels, name), compile_arguments(name)
    torch.compiler.reset()  # dynamo counts how often one source line was compiled
    compiled = torch.compile(lambda *given: operator(*given), backend=backend, fullgraph=True)
    got, want = compiled(*arguments), operator(*arguments)
    got, want = (one if isinstance(one, tuple) else (one,) for one in (got, want))
    assert all(torch.equal(one, other) for one, other in zip(got, want, strict=True))
    assert len(graphs) == 1
    assert any(target.startswith("flydsl.") for target in graphs[0])
    with torch._subclasses.FakeTensorMode() as mode:
        fakes = operator(*(mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in arguments))
    for fake, one in zip(fakes if isinstance(fakes, tuple) else (fakes,), want, strict=True):
        assert (fake.shape, fake.dtype, fake.stride()) == (one.shape, one.dtype, one.stride())


def test_gradients_through_compile():
    x, w = leaf(4, 40), leaf(40, seed=1)
    torch.compile(kernels.rmsnorm, backend="aot_eager", fullgraph=True)(x, w).square().sum().backward()
    expected = gradients(lambda x, w: kernels.rmsnorm(x, w), x, w)
    assert x.grad.shape == expected[1][0].shape
    xd, wd = x.detach().double().requires_grad_(), w.detach().double().requires_grad_()
    rmsnorm(xd, wd)[0].square().sum().backward()
    assert (x.grad.double() - xd.grad).abs().max() <= 1e-4
    assert (w.grad.double() - wd.grad).abs().max() <= 1e-4


def test_empty_and_one_dimensional_tensors():
    assert kernels.softmax(torch.empty(0, 5)).shape == (0, 5)
    assert kernels.rmsnorm(torch.empty(2, 0, 5), torch.ones(5)).shape == (2, 0, 5)
    assert kernels.softmax(torch.zeros(4)).tolist() == [0.25] * 4
    assert kernels.row_sum(torch.ones(6)).item() == 6.0


def test_rows_of_no_elements():
    """As torch has them; a quantised row of zeros, and one of nothing, has the scale 1."""
    x, w = torch.zeros(3, 0), torch.zeros(0)
    assert kernels.row_sum(x).tolist() == [0.0] * 3
    assert kernels.mean(x).isnan().all()
    for largest in (kernels.row_max, kernels.argmax):
        with pytest.raises(ValueError, match="rows of no elements"):
            largest(x)
    for scale in (
        kernels.per_token_quant(x, "int8")[1],
        kernels.rmsnorm_quant(x, w)[1],
        kernels.fused_add_layernorm_quant(x, x, w, w)[2],
    ):
        assert scale.tolist() == [1.0] * 3
    assert kernels.per_block_quant(x, "int8", 16)[1].shape == (3, 0)
    for y in (kernels.softmax(x), kernels.rmsnorm(x, w), kernels.layernorm(x, w, w), kernels.swiglu(x)):
        assert y.shape == (3, 0)
    assert rmsnorm_operators.rmsnorm_fwd(x, w, store_rstd=True)[1].isnan().all()


def test_names_of_the_norm_modules():
    from flydsl.kernels.norm import layernorm_kernel, rmsnorm_kernel

    x, w, b = rows(3, 40, "f32"), row(40, "f32"), row(40, "f32", seed=2)
    y, mean, rstd = layernorm_kernel.layernorm_fwd(x, w, b, 1e-5, store_stats=True)
    for got, want in zip((y, mean, rstd), layernorm(x, w, b), strict=True):
        check(got, want, "f32", slack=4.0)
    assert layernorm_kernel.layernorm_fwd(x, w, b, 1e-5)[1:] == (None, None)
    y, added, rstd = rmsnorm_kernel.fused_add_rmsnorm_fwd(x, x, w, store_rstd=True)
    assert torch.equal(added, 2 * x)
    check(y, rmsnorm(2 * x, w)[0], "f32")
    for name in ("rmsnorm_fwd", "rmsnorm_bwd", "rmsnorm", "fused_add_rmsnorm_bwd", "fused_add_rmsnorm"):
        assert callable(getattr(rmsnorm_kernel, name))
    with pytest.raises(AttributeError):
        rmsnorm_kernel.rmsnorm_sideways


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x, w: kernels.softmax(x.double()), TypeError, "softmax: torch.float64 is not supported"),
        (lambda x, w: kernels.rmsnorm(x, w[:-1]), ValueError, r"rmsnorm: weight has shape \(39,\), expected \(40,\)"),
        (lambda x, w: kernels.rmsnorm(x, w.half()), TypeError, "rmsnorm: weight is torch.float16"),
        (lambda x, w: kernels.fused_add_rmsnorm(x, x[:2], w), ValueError, "fused_add_rmsnorm: residual is"),
        (lambda x, w: kernels.swiglu(x[:, :39]), ValueError, "gate and up"),
        (lambda x, w: kernels.per_token_quant(x, "fp4"), ValueError, "quant_dtype 'fp4' is not supported"),
        (lambda x, w: kernels.relu(x[:1, :1].expand(2**16, 2**15)), ValueError, "split the tensor"),
        (lambda x, w: kernels.gelu(x, "erf"), ValueError, "approximate is 'none' or 'tanh'"),
    ],
)
def test_refusals(call, error, said):
    with pytest.raises(error, match=said):
        call(torch.randn(4, 40), torch.rand(40))


def test_rope_writes_its_caches():
    q, k, v, positions, cos, sin, slots, key_cache, value_cache, *_ = rope_arguments()
    q_out, k_out = kernels.rope_cache(q, k, v, positions, cos, sin, slots, key_cache, value_cache)
    assert torch.equal(key_cache.view(8, 1, 32)[5], k_out[0])
    assert torch.equal(value_cache.view(8, 1, 32)[0], v[2])
    assert q_out.shape == q.shape


def test_rope_of_a_fused_projection():
    q, k, v, *others = rope_arguments()[:9]
    qkv = torch.cat([q, k, v], dim=1).flatten(1)
    parts = [part.unflatten(1, (-1, 32)) for part in qkv.split([128, 32, 32], dim=1)]
    expected = kernels.rope_cache(q, k, v, *(one.clone() for one in others))
    for got, want in zip(kernels.rope_cache(*parts, *others), expected, strict=True):
        assert torch.equal(got, want)
