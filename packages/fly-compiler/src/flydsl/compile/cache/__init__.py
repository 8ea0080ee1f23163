# SPDX-License-Identifier: Apache-2.0
"""The key of an artifact, and the artifacts that earlier processes left on disk (docs/cache.md)."""

from .eviction import bytes_of
from .folder import CacheFolderError, UnwritableCacheError
from .key import digest_of, module_digest
from .rewrites import RewritesOnDisk
from .store import ArtifactStore
from .toolchain import record_toolchain, toolchain_hash

__all__ = [
    "ArtifactStore",
    "CacheFolderError",
    "RewritesOnDisk",
    "UnwritableCacheError",
    "bytes_of",
    "digest_of",
    "module_digest",
    "record_toolchain",
    "toolchain_hash",
]
