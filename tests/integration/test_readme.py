# SPDX-License-Identifier: Apache-2.0
"""The kernel that the README shows runs, and is right."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_kernel_in_the_readme(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    program = tmp_path / "readme.py"
    program.write_text(block + "\nassert torch.equal(c, a + b)\n")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
