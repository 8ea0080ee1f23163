# SPDX-License-Identifier: Apache-2.0
"""The tests import the package that `tools/dev` is made of."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
