# SPDX-License-Identifier: Apache-2.0
"""The extension libraries under compatibility paths: `flydsl.extension.coop` is `flydsl.expr.coop`, and so on."""

import sys

from flydsl.expr import coop as coop
from flydsl.expr import random as random
from flydsl.expr.coop import universal

sys.modules[f"{__name__}.coop"] = coop
sys.modules[f"{__name__}.coop.universal"] = universal
sys.modules[f"{__name__}.random"] = random
sys.modules[f"{__name__}.random.universal"] = random.universal
