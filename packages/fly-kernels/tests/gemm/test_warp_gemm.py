# SPDX-License-Identifier: Apache-2.0
"""A product of warps by `MmaSync`, `LdMatrix` and `StMatrix`: on an NVIDIA GPU, and without one by `ptx_machine`."""

import re

import numpy as np
import pytest
import torch
from ptx_arithmetic import bfloat16
from ptx_machine import Fault, Machine, TensorMap
from ptx_program import Program
from warp_gemm import COLUMNS, ROWS, SHARED_BYTES, compile_warp_gemm
from warp_gemm_cases import DTYPES, PRODUCTS, extents, operands, program

ON_A_GPU = pytest.mark.skipif(
    not (torch.version.cuda and torch.cuda.is_available()), reason="there is no NVIDIA GPU; ptx_machine runs the same"
)
_NAN = 0x7FC0


def emulate(what, ptx, *, seed):
    """Run PTX of a product. Raises Fault, also for wrong results."""
    (m, n, k), boxes = extents(what), program(what)[1]
    a, b, given = operands(what, m, n, k, seed)
    turned = PRODUCTS[what][1].get("m_major_result", False)
    c = np.full((n, m) if turned else (m, n), _NAN, np.uint16)
    maps = []
    for data, (rows, columns) in zip((*given, c), boxes, strict=True):
        size = data.itemsize
        if isinstance(data, torch.Tensor):
            data = data.view(torch.uint8).numpy()
        maps.append(TensorMap(data.view(np.uint8), (rows, columns * size), 128, size))
    tiles = -(-m // ROWS) * -(-n // COLUMNS)
    Machine(
        Program.read(ptx), (*maps, m, n, k), grid=tiles, shared_bytes=SHARED_BYTES, seed=seed, late=seed % 2 == 0
    ).run()
    if (maps[2].written != 1).any():
        raise Fault(f"results are written {np.unique(maps[2].written)} times")
    if (c != bfloat16(b @ a.T if turned else a @ b.T)).any():
        raise Fault("wrong results")


@pytest.mark.once
@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize("what", PRODUCTS)
def test_emulated(what):
    ptx, _ = program(what)
    for seed in range(2):
        emulate(what, ptx, seed=seed)


@pytest.mark.once
@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize(
    ("what", "planted", "instead"),
    [
        ("A along M", "ldmatrix.sync.aligned.m8n8.x4.trans", "ldmatrix.sync.aligned.m8n8.x4"),
        ("bf16", "ldmatrix.sync.aligned.m8n8.x4", "ldmatrix.sync.aligned.m8n8.x4.trans"),
        ("bf16", "stmatrix.sync.aligned.m8n8.x4", "stmatrix.sync.aligned.m8n8.x4.trans"),
        ("f16", "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ],
)
def test_another_instruction_is_wrong(what, planted, instead):
    ptx, _ = program(what)
    assert planted in ptx
    with pytest.raises(Fault, match="wrong"):
        emulate(what, ptx.replace(planted, instead), seed=0)


@pytest.mark.once
@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize("what", PRODUCTS)
def test_the_program(what):
    """What stands between the copies: a call brings four matrices, and two atoms of B at once."""
    element, options = PRODUCTS[what]
    ptx, _ = program(what)
    short = "short" in what
    loads = re.findall(r"ldmatrix\.sync\.aligned\.m8n8\.(\S+)\.shared\.b16", ptx)
    atoms_of_k = (128 // DTYPES[element].itemsize) // int(re.search(r"mma\.sync\.aligned\.m16n8k(\d+)", ptx)[1])
    matrices = f"x{2 if short else 4}"
    of_a, of_b = (f"{matrices}{'.trans' * options.get(major, False)}" for major in ("m_major", "n_major"))
    # Of a warp: 2 atoms of M and 4 of N, of which 2 come at once.
    assert sorted(loads) == sorted(2 * atoms_of_k * [of_a, of_b])
    assert len(re.findall(r"mma\.sync\.aligned", ptx)) == 8 * atoms_of_k
    stores = re.findall(r"stmatrix\.sync\.aligned\.m8n8\.(\S+)\.shared\.b16", ptx)
    assert stores == 4 * [f"x4{'.trans' * options.get('m_major_result', False)}"]


@ON_A_GPU
@pytest.mark.parametrize("shape", [None, (1, 8, 0), (200, 312, 0), (64, 64, 1)], ids=str)
@pytest.mark.parametrize("what", PRODUCTS)
def test_on_a_gpu(what, shape):
    """Against float64: sums of small integers are exact, so that results are equal."""
    element, options = PRODUCTS[what]
    m, n, k = extents(what)
    if shape is not None:
        m, n = (-(-shape[0] // 8) * 8, shape[1]) if m % 8 == 0 else shape[:2]
        k = k // 13 * (1 if shape[2] else 3)  # 16 bytes, or three times as many
    a, b, given = operands(what, m, n, k, seed=m)
    turned = options.get("m_major_result", False)
    c = torch.full((n, m) if turned else (m, n), float("nan"), dtype=torch.bfloat16)
    compile_warp_gemm(element, **options)(c, *given)
    exact = torch.from_numpy(a.astype(np.float64) @ b.T.astype(np.float64)).to(torch.bfloat16)
    assert torch.equal(c.T if turned else c, exact)
