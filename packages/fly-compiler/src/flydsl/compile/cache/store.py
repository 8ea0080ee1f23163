# SPDX-License-Identifier: Apache-2.0
"""The disk cache: one folder per function, one artifact per specialisation (docs/artifact.md)."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from flydsl.runtime import Artifact, ArtifactError, load_artifact, read_note
from flydsl.utils import env, log
from flydsl.utils.file import atomic_write

from .eviction import bytes_of, evict, touch
from .folder import ADVICE, UnwritableCacheError, check_parents, private_folder
from .lock import exclusive

__all__ = ["ArtifactStore"]

_COMPILE_TIMEOUT = 600.0
_serial = itertools.count()


class ArtifactStore:
    """Artifacts of one function below a root folder.

    An entry is valid when its note says the key that it was looked up with; anything else under its name (cut short,
    foreign, damaged) counts as absent and is replaced.

    Args:
        root: the cache folder (`FLYDSL_RUNTIME_CACHE_DIR`).
        name: the function's name.
        source: hash of all that does not depend on the arguments.
        scratch: returns a folder of this process for what is being made.
    """

    def __init__(self, root: Path, name: str, source: str, scratch: Callable[[], Path]) -> None:
        self.root = root
        self.scratch = scratch
        self.folder = root / f"{_file_name(name)}_{source[:32]}"

    def path(self, key: str) -> Path:
        """Return where the artifact of a key is or would be."""
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"

    def find(self, key: str, *, load: bool) -> Artifact | bool | None:
        """Return the artifact of a key (loaded, or just whether it is there), `None` when there is no valid one."""
        path = self.path(key)
        try:
            facts = path.stat()
        except OSError:
            return None
        if facts.st_uid != os.geteuid():
            log().warning("%s belongs to another user and is not used", path)
            return None
        try:
            if read_note(path).get("source_hash") != key:
                log().info("%s is not the artifact that was looked for; it will be replaced", path)
                return None
            touch(path)
            return self._loaded(path, key) if load else True
        except (ArtifactError, OSError) as error:
            log().info("cache entry not used: %s", error)
            return None

    @staticmethod
    def _loaded(path: Path, key: str) -> Artifact:
        """Load an artifact that may be replaced or removed at any time.

        Raises:
            ArtifactError: it is not there, not whole, or that of another key by now.
        """
        artifact = load_artifact(path)
        if artifact.note.get("source_hash") != key:
            raise ArtifactError(f"{path}: another artifact has taken its place")
        return artifact

    def get_or_make(self, key: str, make: Callable[[Path], object], *, load: bool) -> tuple[Artifact | bool, bool]:
        """Return the artifact of a key and whether it was on disk already; `make` writes it to the path it is given.

        Only one process makes an artifact; the others wait and take its result. A process that dies while making one
        leaves nothing behind that another would use.

        Raises:
            UnwritableCacheError: there is none, and none can be added.
            CacheFolderError: the folder is not private.
            TimeoutError: another process has been compiling the same thing for ten minutes.
        """
        limit = bytes_of(env.compile.cache_max_size)
        private_folder(self.root)
        check_parents(self.root)
        private_folder(self.folder)
        found = self.find(key, load=load)
        if found is not None:
            return found, True
        path = self.path(key)
        with self._held(path.with_suffix(".lock")):
            found = self.find(key, load=load)
            if found is not None:
                return found, True
            # Made elsewhere first: a linker does not survive that the disk is full under its output.
            made = self.scratch() / f"{path.stem}-{next(_serial)}.so"  # it may stay, and is then in use
            make(made)
            try:
                # Who opens it sees by its hash that it is whole, so that nobody waits for the disk.
                with atomic_write(path, mode="wb", sync=False) as file, open(made, "rb") as source:
                    shutil.copyfileobj(source, file)
            except OSError as error:
                if not load:
                    raise UnwritableCacheError(f"cannot write {path}: {error}. {ADVICE}") from None
                log().warning("%s cannot be written (%s), so this artifact is not cached. %s", path, error, ADVICE)
                return load_artifact(made), False
            try:
                artifact = self._loaded(path, key) if load else True
                with suppress(OSError):
                    made.unlink()
            except ArtifactError as error:  # somebody who holds no lock has removed or replaced it
                log().info("cache entry not used: %s", error)
                artifact = load_artifact(made)
            evict(self.root, limit)
            return artifact, False

    @contextmanager
    def _held(self, lock: Path) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(lock, timeout=_COMPILE_TIMEOUT, what="compiling this kernel"))
            except TimeoutError:
                raise
            except OSError as error:
                raise UnwritableCacheError(f"cannot use the cache folder {lock.parent}: {error}. {ADVICE}") from None
            yield

    def __len__(self) -> int:
        """The number of artifacts on disk."""
        return sum(1 for _ in self.folder.glob("*.so")) if self.folder.is_dir() else 0


def _file_name(name: str) -> str:
    return "".join(one if one.isascii() and (one.isalnum() or one in "_.-") else "_" for one in name[:80])
