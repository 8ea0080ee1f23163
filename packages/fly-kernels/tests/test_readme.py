# SPDX-License-Identifier: Apache-2.0
"""The README's examples run."""

import re
from pathlib import Path

import torch

README = Path(__file__).parents[1] / "README.md"


def test_examples():
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(block, names)
    torch.testing.assert_close(names["p"], torch.softmax(names["y"], -1))
    error = (names["q"] * names["scale"][:, None] - names["y"]).abs()
    assert (error <= 0.51 * names["scale"][:, None]).all()
