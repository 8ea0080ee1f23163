# SPDX-License-Identifier: Apache-2.0
"""The environment variables of this layer; `flydsl.utils.env.autotune` presents them."""

from __future__ import annotations

from flydsl.runtime.environment import boolean, path, register, string

_GROUP = "autotune"

FORCE = register(
    boolean(
        "FLYDSL_AUTOTUNE",
        default=False,
        group=_GROUP,
        attribute="enabled",
        help="Measure all configurations at each call, whatever is known already, and write offline artifacts.",
    )
)
CACHE_DIR = register(
    path(
        "FLYDSL_AUTOTUNE_CACHE_DIR",
        default="~/.flydsl/autotune",
        group=_GROUP,
        help="Where results are kept: a database, and one JSON file per function with the best configurations.",
    )
)
CONFIG_DIR = register(
    string(
        "FLYDSL_AUTOTUNE_CONFIG_DIR",
        group=_GROUP,
        help="Folder of offline artifacts: read where a function has a name for them, written by forced tuning.",
    )
)
