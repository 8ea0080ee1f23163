# SPDX-License-Identifier: Apache-2.0
"""The kernels that the README shows run, and are right."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_kernels_in_the_readme(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n" * 2  # each shows that its result is that of torch
