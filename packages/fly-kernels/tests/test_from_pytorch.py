# SPDX-License-Identifier: Apache-2.0
"""Every row and every block of docs/kernels/from-pytorch.md does what it says."""

import re
from pathlib import Path
from unittest import mock

import pytest
import torch

from flydsl.kernels.elementwise import functions

PAGE = Path(__file__).parents[3] / "docs" / "kernels" / "from-pytorch.md"
TEXT = PAGE.read_text() if PAGE.exists() else ""
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|", TEXT, re.MULTILINE)
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
IMPORTS = BLOCKS[0] if BLOCKS else ""

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not TEXT, reason="the page is part of the repository, not of the package"),
]


def namespace():
    generator = torch.Generator().manual_seed(0)
    names = {
        "x": torch.randn(6, 256, generator=generator),
        "y": torch.randn(6, 256, generator=generator),
        "w": torch.rand(256, generator=generator) + 0.5,
        "b": torch.randn(256, generator=generator),
        "gate_up": torch.randn(6, 512, generator=generator),
        "target": torch.arange(6) * 40,
        "h": torch.randn(6, 256, generator=generator).half(),
        "weight": torch.randn(64, 256, generator=generator).half(),
        **{name: torch.randn(2, 70, 4, 64, generator=generator).half() for name in "qkv"},
        "mask": torch.randn(70, 70, generator=generator).half(),
        "heads_first": heads_first,
    }
    exec(IMPORTS, names)
    return names


def heads_first(attention, *tensors, **options):
    """torch has heads before tokens."""
    return attention(*(one.transpose(1, 2) for one in tensors), **options).transpose(1, 2)


TOLERANCES = {torch.float16: 4e-3}  # of results of order 1; that of a GEMM of 256 grows with its root


def test_the_page_has_its_rows_and_blocks():
    assert len(ROWS) == sum(line.startswith("| `") for line in TEXT.splitlines())
    assert len(ROWS) >= 50
    assert len(BLOCKS) == 9


@pytest.mark.parametrize(("theirs", "ours"), ROWS, ids=[ours for _, ours in ROWS])
def test_row(theirs, ours):
    names = namespace()
    expected, got = eval(theirs, names), eval(ours, names)
    tolerance = TOLERANCES.get(expected.dtype, 1e-5)
    torch.testing.assert_close(got.to(expected.dtype), expected, rtol=tolerance, atol=tolerance * 4)


@pytest.mark.parametrize("block", range(1, len(BLOCKS)))
def test_block(block, tmp_path):
    # Kernels are compiled from their source, so the block has to be in a file.
    path = tmp_path / f"block{block}.py"
    path.write_text(IMPORTS + "\n" + BLOCKS[block])
    with mock.patch.dict(functions.UNARY), mock.patch.dict(functions.BINARY):  # one block adds to them
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": f"block{block}"})
