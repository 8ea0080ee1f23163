# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around scaled GEMMs: captured launches, keys of caches, names of kernels, which fp8, other rows."""

from dataclasses import replace

import pytest
import torch
from mx_references import MxProblem
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp4_gemm_4wave import compile_fp4_gemm_4w
from flydsl.kernels.gemm.fp8_gemm_4wave import compile_fp8_gemm_4w
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.kernels.gemm.int4_weights import pack_int4
from flydsl.kernels.gemm.mxfp8_gemm_interface import gemm_mxfp8
from flydsl.kernels.gemm.tile_spec import TileGemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8, compile_preshuffle_gemm_w4

N, K = 64, 256
TILE = {"tile_m": 16, "tile_n": 64, "tile_k": 128}


def own(arch):
    return torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn


def eight(arch, rows):
    return torch.randn(rows, K).to(own(arch))


def blockscale(arch, m):
    scales = torch.ones(2 * m), torch.ones(2)
    launch = compile_blockscale_preshuffle_gemm(M=1, N=N, K=K, **TILE)
    return launch, (torch.empty(m, N).bfloat16(), eight(arch, m), eight(arch, N), *scales, m, N)


def split(arch, m):
    launch = compile_preshuffle_gemm_a8(M=1, N=N, K=K, **TILE, split_k=2, scale_mode="blockscale")
    workspace, semaphores = torch.empty(2 * m * N), torch.zeros(1, dtype=torch.int32)
    scales = torch.ones(2 * m), torch.ones(2)
    operands = eight(arch, m), eight(arch, N), *scales, workspace, semaphores
    return launch, (torch.empty(m, N).bfloat16(), *operands, m, N)


def int4(arch, m):
    tile = TILE | {"tile_k": 256}
    launch = compile_preshuffle_gemm_a8(M=1, N=N, K=K, **tile, in_dtype="int4", out_dtype="bf16")
    a, b = torch.zeros(m, K, dtype=torch.int8), pack_int4(torch.zeros(N, K, dtype=torch.int8))
    return launch, (torch.empty(m, N).bfloat16(), a, b, torch.ones(m), torch.ones(N), m, N)


def halves(arch, m):
    launch = compile_hgemm_kernel("bf16", N, K, TILE_M=16, TILE_N=64, TILE_K=32, SPLIT_K=2, BLOCK_M_WARPS=1)
    c, a, b = (torch.zeros(*shape).bfloat16() for shape in ((m, N), (m, K), (N, K)))
    counters = [torch.zeros(256, dtype=torch.int32) for _ in range(2)]
    return launch, (c, a, b, torch.empty(0).bfloat16(), m, *counters)


def rowwise(arch, m):
    launch = compile_fp8_gemm_4w(K=K, BLOCK_M=64, BLOCK_N=64)
    operands = eight(arch, m), eight(arch, N), torch.empty(m, N).bfloat16(), torch.ones(m), torch.ones(N)
    return launch, (*operands, m, N)


def fp4(arch, m):
    launch = compile_fp4_gemm_4w(K=K)
    a, b = (torch.zeros(rows, K // 2, dtype=torch.uint8) for rows in (m, N))
    scales = [torch.full((-(-rows // 32) * 32, 8), 127, dtype=torch.uint8) for rows in (m, N)]
    return launch, (a, b, torch.empty(m, N).bfloat16(), *scales, m, N)


def w4(arch, m):
    launch = compile_preshuffle_gemm_w4(N=N, K=K, **TILE)
    a, b, c, *rest = fp4(arch, m)[1]
    return launch, (c, a, b, *rest[:2], torch.empty(0).bfloat16(), m, N)


GEMMS = {"blockscale": blockscale, "split": split, "int4": int4, "halves": halves, "rowwise": rowwise}
MX = {"fp4": fp4, "w4": w4}


@pytest.fixture(params=[*GEMMS, *MX])
def made(request, arch):
    """A function of the number of rows: (launcher, arguments)."""
    if request.param in MX and arch != "gfx950":
        pytest.skip("scaled matrix instructions are gfx950's")
    return lambda m: (GEMMS | MX)[request.param](arch, m)


class NothingOfTorch(TorchDispatchMode):
    """What a captured launch must not do: allocate, copy, or look at a tensor."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} during a launch")


def test_a_launch_is_kernels_and_nothing_else(made):
    launch, arguments = made(9)
    launch(*arguments)
    before = [one.clone() for one in arguments if isinstance(one, torch.Tensor) and one.dtype == torch.int32]
    with NothingOfTorch():
        launch(*arguments)
    after = [one for one in arguments if isinstance(one, torch.Tensor) and one.dtype == torch.int32]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))  # counters are handed back zero


def test_the_key_is_that_of_tensors_without_memory(made):
    launch, arguments = made(9)
    key = launch.key_of(launch.bind(arguments, {}))
    with FakeTensorMode() as mode:
        fake = [mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in arguments]
    meta = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in arguments]
    for other in (fake, meta):
        assert launch.key_of(launch.bind(tuple(other), {})) == key


def test_other_rows_need_no_other_kernel(made):
    launch, arguments = made(9)
    key = launch.key_of(launch.bind(arguments, {}))
    for rows in (1, 33):
        others = made(rows)[1]
        assert launch.key_of(launch.bind(others, {})) == key
        launch(*others)


def test_whatever_a_kernel_is_given_is_in_its_name(arch):
    plain = TileGemm(arch, N, K, "fp8", "bf16", 16, 64, 128, Epilogue(), True)
    epilogues = [Epilogue(), Epilogue(True), Epilogue(False, True), Epilogue(True, True), Epilogue(residual=True)]
    changes = [{"epilogue": one} for one in epilogues]
    changes += [{"block_scaled": True}, {"b_mx": "fp4"}, {"b_mx": "fp8", "unit_scales": True}, {"groups": 3}]
    changes += [{"split_k": 2}, {"split_k": 2, "atomic": True}, {"out_dtype": "fp16"}]
    names = {replace(plain, **one).name for one in changes}
    assert len(names) == len(changes)


def test_which_fp8_the_bytes_are(run, arch):
    """The bytes of 1.0 in E4M3FNUZ are those of 2.0 in E4M3FN: what is multiplied is what the chip has."""
    one = 0x40 if arch == "gfx942" else 0x38
    assert torch.tensor([one], dtype=torch.uint8).view(own(arch)).float().item() == 1.0
    launch, (c, a, b, *rest) = blockscale(arch, 5)
    a, b = torch.full((5, K), one, dtype=torch.uint8), torch.full((N, K), one, dtype=torch.uint8)
    run(launch, c, a, b, *rest, writes=[c], seeds=(0,))
    assert (c == K).all()
    other = torch.float8_e4m3fn if arch == "gfx942" else torch.float8_e4m3fnuz
    with pytest.raises(TypeError, match="argument 'A': expected Float8E4M3"):
        launch(c, a.view(other), b, *rest)


def test_infinity_and_minus_zero_of_e5m2(arch):
    if arch != "gfx950":
        pytest.skip("scaled matrix instructions are gfx950's")
    problem = MxProblem(9, 70, 256, "bf8", "fp8")
    problem.a[1, 9], problem.a[2, 9], problem.a[4] = 0x7C, 0x7E, 0x80  # infinity, NaN, -0
    problem.b[:, 9] = 0x38
    a, b = torch.from_numpy(problem.a).view(torch.float8_e5m2), torch.from_numpy(problem.b).view(torch.float8_e4m3fn)
    c = gemm_mxfp8(a, torch.from_numpy(problem.scale_a), b, torch.from_numpy(problem.scale_b))
    assert (c[1] == float("inf")).all()
    assert c[2].isnan().all()
    assert (c[4] == 0).all()
    assert c[[0, 3, 5, 6, 7, 8]].isfinite().all()


def test_scaled_gemm_with_few_columns(run, arch):
    """N = 2112 with the contract's widest K in small: a third of the last block of scales, and of the last tile."""
    launch = compile_blockscale_preshuffle_gemm(M=1, N=192, K=K, tile_m=16, tile_n=64, tile_k=256)
    c, a = torch.empty(5, 192).bfloat16(), eight(arch, 5)
    b = torch.randn(192, K).to(own(arch))
    scale_b = torch.tensor([[1.0, 2.0], [64.0, 128.0]])
    run(launch, c, a, shuffle_weight(b), torch.ones(10), scale_b.view(-1), 5, 192, writes=[c], seeds=(0,))
    right = b.double() * scale_b.double().repeat_interleave(128, 0)[:192].repeat_interleave(128, 1)
    exact = a.double() @ right.t()
    assert ((c.double() - exact).abs() <= exact.abs() * 2.0**-7 + exact.abs().max() * 2.0**-12).all()
