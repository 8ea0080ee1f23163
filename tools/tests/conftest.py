# SPDX-License-Identifier: Apache-2.0
"""The tests import the package that `tools/dev` is made of, and the table of chips."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "packages" / "fly-runtime" / "src")]
