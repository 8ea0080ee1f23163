# SPDX-License-Identifier: Apache-2.0
"""The examples on other shapes than theirs: a right answer, or an error that names the argument."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

import flydsl.compiler as flyc

EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "fly-compiler" / "examples"


def load(name):
    sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"example_{name[3:]}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


VECTOR_ADD, TILED_COPY, TILED_MMA = (load(name) for name in ("01_vector_add", "02_tiled_copy", "03_tiled_mma"))


@pytest.mark.parametrize("case", [(255,), (256,), (257,), (8191,), (1, 513), (9, 128), (8, 129), (131, 7)])
def test_vector_add_of_other_shapes(case):
    assert VECTOR_ADD.run_case(case)["passed"]


def test_vector_add_of_strided_matrices():
    whole = torch.randn(40, 300)
    a, b = whole[3:20, 5:205], whole[20:37, 90:290]
    c = torch.full((17, 512), torch.nan)[:, 7:207]
    VECTOR_ADD.add_2d(a, b, c, 17, 200)
    assert torch.equal(c, a + b)


@pytest.mark.parametrize(("module", "case"), [(TILED_COPY, (64, 128)), (TILED_MMA, (64, 128, 64))])
def test_multiples_of_the_tile(module, case):
    assert module.run_case(case)["passed"]


@pytest.mark.parametrize(
    ("module", "case", "said"),
    [
        (TILED_COPY, (33, 64), "'source': extent 33 of axis 0"),
        (TILED_MMA, (65, 64, 32), "'a': extent 65 of axis 0"),
        (TILED_MMA, (64, 64, 48), "'a': extent 48 of axis 1"),
    ],
)
def test_a_tile_that_does_not_divide_is_refused(module, case, said):
    with pytest.raises(ValueError, match=said):
        module.run_case(case)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda a: VECTOR_ADD.add_1d(a.int(), a, a, 64), TypeError, "'a': expected Float32, got Int32"),
        (lambda a: VECTOR_ADD.add_1d(a, a.reshape(8, 8), a, 64), ValueError, "'b': expected rank 1, got rank 2"),
        (lambda a: VECTOR_ADD.add_2d(a, a, a, 8, 8), ValueError, "'a': expected rank 2, got rank 1"),
        (lambda a: TILED_MMA.gemm(*[a.half().reshape(8, 8)] * 3), TypeError, "'a': its shape is not static"),
        (lambda a: TILED_COPY.transpose(*[flyc.from_dlpack(a.double().reshape(8, 8))] * 2), TypeError, "'source'"),
    ],
)
def test_wrong_tensors_are_refused_by_name(call, error, said):
    with pytest.raises(error, match=said):
        call(torch.randn(64))
