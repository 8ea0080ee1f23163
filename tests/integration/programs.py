# SPDX-License-Identifier: Apache-2.0
"""Programs that run in processes of their own."""

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"
"""How they begin; fly-runtime's `tests/conftest.py` says why."""
