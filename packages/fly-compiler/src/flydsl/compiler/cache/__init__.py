# SPDX-License-Identifier: Apache-2.0
"""What a compilation depends on, and the artifacts that earlier ones left on disk."""

from .fingerprint import Fingerprint, fingerprint
from .folder import CacheFolderError, UnwritableCacheError
from .store import ArtifactStore
from .toolchain import toolchain_hash

__all__ = ["ArtifactStore", "CacheFolderError", "Fingerprint", "UnwritableCacheError", "fingerprint", "toolchain_hash"]
