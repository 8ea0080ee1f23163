# SPDX-License-Identifier: Apache-2.0
"""``python -m flydsl.layout`` is ``fly-layout``."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main())
