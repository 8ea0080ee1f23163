#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetch the sources of MLIR's Python bindings that match the installed LLVM.

Debian packages MLIR's libraries and headers but not its Python bindings; their sources are in Debian's source package
``llvm-toolchain-<major>``. This script downloads the upstream tarball of exactly the version that ``llvm-config``
reports, through apt, checks its hash, unpacks the few folders that the build needs and prints where they are:

    $ python tools/setup/llvm_sources.py
    /home/me/.cache/flydsl/llvm-src-22.1.8

Running it again does nothing but print the folder. It needs no root rights: apt works in a private folder.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: sha256 of ``llvm-toolchain-<major>_<version>.orig.tar.xz`` by upstream version; the only place that lists them.
KNOWN_TARBALLS = {
    "22.1.8": "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe",
}

#: Folders of the tarball that the build of ``flydsl._mlir`` reads, below the tarball's top folder.
WANTED = ("mlir/LICENSE.TXT", "mlir/lib/Bindings/Python", "mlir/python/mlir")

#: Suite whose source index is asked. Older suites' indices may list sources that their mirrors do not hold.
SUITE = "trixie"

#: Written last, so that a folder without it is a download that was interrupted.
STAMP = ".complete"


class SetupError(Exception):
    """Something the user has to fix; the message says what and how."""


def llvm_version(major: int) -> str:
    """Return the version of the installed LLVM, for example ``22.1.8``."""
    tool = shutil.which(f"llvm-config-{major}")
    if tool is None:
        raise SetupError(
            f"llvm-config-{major} is not installed; install Debian's llvm-{major}-dev and libmlir-{major}-dev"
        )
    return subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout.strip()


def debian_entries(root: Path = Path("/etc/apt")) -> Iterator[tuple[str, str]]:
    """Yield ``(uri, options)`` of each Debian archive that this machine's apt knows.

    ``options`` is the bracketed part of a one-line entry (``[signed-by=...]``) or empty. Both of apt's formats are
    read.
    """
    files = [root / "sources.list", *sorted((root / "sources.list.d").glob("*"))]
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".sources":
            yield from _deb822_entries(text)
        elif file.suffix == ".list":
            yield from _one_line_entries(text)


def _deb822_entries(text: str) -> Iterator[tuple[str, str]]:
    for stanza in re.split(r"\n\s*\n", text):
        lines = "\n".join(line for line in stanza.splitlines() if not line.startswith("#"))
        fields = {key.lower(): value.strip() for key, value in re.findall(r"(?m)^([\w-]+):[ \t]*(.*)$", lines)}
        signed_by = fields.get("signed-by", "")
        options = f"[signed-by={signed_by}]" if signed_by.startswith("/") else ""
        for uri in fields.get("uris", "").split():
            yield uri, options


def _one_line_entries(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = re.match(r"\s*deb(?:-src)?\s+(\[[^\]]*\]\s+)?(\S+)\s+\S+", line)
        if match:
            signed_by = re.search(r"signed-by=\S+", match.group(1) or "", re.IGNORECASE)
            yield match.group(2), f"[{signed_by.group(0).rstrip(']')}]" if signed_by else ""


def archive_lines() -> list[str]:
    """Return the ``deb-src`` lines to ask, one per Debian main archive of this machine."""
    lines = [
        f"deb-src {options + ' ' if options else ''}{uri} {SUITE} main"
        for uri, options in dict.fromkeys(debian_entries())
        if uri.rstrip("/").endswith("/debian")
    ]
    if not lines:
        raise SetupError(
            "no Debian archive found in /etc/apt/sources.list or /etc/apt/sources.list.d; "
            "add one there, or unpack the LLVM sources by hand and pass their folder to the build as FLY_LLVM_SOURCES"
        )
    return lines


class Apt:
    """apt with a source list, state and cache of its own below ``folder``."""

    def __init__(self, folder: Path, lines: list[str]) -> None:
        for name in ("lists/partial", "cache/archives/partial", "download"):
            (folder / name).mkdir(parents=True)
        (folder / "sources.list").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self.download = folder / "download"
        self._options = [
            f"-oDir::Etc::sourcelist={folder / 'sources.list'}",
            "-oDir::Etc::sourceparts=/dev/null",
            f"-oDir::State::lists={folder / 'lists'}",
            f"-oDir::Cache={folder / 'cache'}",
            "-oAPT::Get::List-Cleanup=0",
            "-oAcquire::Languages=none",
            "-oAPT::Sandbox::User=",  # the folder is private to the user, apt's own user could not write to it
        ]

    def run(self, tool: str, *arguments: str) -> str:
        """Run apt's ``tool`` and return what it printed; raise SetupError when it fails."""
        command = [tool, *self._options, *arguments]
        done = subprocess.run(command, cwd=self.download, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetupError(f"{tool} {' '.join(arguments)} failed:\n{done.stderr.strip() or done.stdout.strip()}")
        return done.stdout


def download_tarball(version: str, folder: Path) -> Path:
    """Download the upstream tarball of ``version`` into ``folder`` through apt and return its path."""
    package = f"llvm-toolchain-{version.split('.')[0]}"
    apt = Apt(folder, archive_lines())
    apt.run("apt-get", "update", "-q")
    records = apt.run("apt-cache", "showsrc", package)
    offered = re.findall(r"(?m)^Version: (\S+)$", records)
    matching = [entry for entry in offered if re.sub(r"^\d+:", "", entry).startswith(f"{version}-")]
    if not matching:
        raise SetupError(
            f"the installed LLVM is {version}, but the archive's {SUITE} suite offers {package} "
            f"{', '.join(offered) or 'in no version'}; upgrade the llvm packages, or pass FLY_LLVM_SOURCES to the build"
        )
    apt.run("apt-get", "source", "--download-only", "--tar-only", "-q", f"{package}={matching[0]}")
    tarball = apt.download / f"{package}_{version}.orig.tar.xz"
    if not tarball.is_file():
        raise SetupError(f"apt downloaded {package}={matching[0]} without {tarball.name}")
    return tarball


def check_hash(tarball: Path, version: str) -> None:
    """Raise unless ``tarball`` is the file that is known for ``version``."""
    digest = hashlib.sha256()
    with tarball.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    if digest.hexdigest() != KNOWN_TARBALLS[version]:
        raise SetupError(
            f"{tarball.name} has sha256 {digest.hexdigest()}, expected {KNOWN_TARBALLS[version]}; refusing to use it"
        )


def unpack(tarball: Path, target: Path) -> None:
    """Unpack the wanted folders of ``tarball`` below ``target``, without the tarball's top folder.

    The whole archive is read (about 15 s): its members come in no order that would allow to stop early.
    """
    found = set()
    with tarfile.open(tarball, mode="r|xz") as archive:
        for member in archive:
            inner = member.name.partition("/")[2]
            wanted = next((name for name in WANTED if inner == name or inner.startswith(f"{name}/")), None)
            if wanted is None:
                continue
            found.add(wanted)
            if not member.isfile():
                continue
            path = target / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            source = archive.extractfile(member)
            assert source is not None
            with source, path.open("wb") as copy:
                shutil.copyfileobj(source, copy)
    if missing := [name for name in WANTED if name not in found]:
        raise SetupError(f"{tarball.name} lacks {', '.join(missing)}")


def default_cache() -> Path:
    """Return the folder that caches downloads of this project."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flydsl"


def fetch(cache: Path, major: int) -> Path:
    """Return the folder of unpacked sources for the installed LLVM, downloading it where it is missing."""
    version = llvm_version(major)
    if version not in KNOWN_TARBALLS:
        raise SetupError(
            f"no hash is known for the sources of LLVM {version} (known: {', '.join(KNOWN_TARBALLS)}); "
            f"add it to KNOWN_TARBALLS in {Path(__file__).name}"
        )
    target = cache / f"llvm-src-{version}"
    if (target / STAMP).is_file():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as scratch:
        print(f"fetching the sources of MLIR {version}'s Python bindings (about 200 MB, once)", file=sys.stderr)
        tarball = download_tarball(version, Path(scratch) / "apt")
        check_hash(tarball, version)
        unpacked = Path(scratch) / "unpacked"
        unpack(tarball, unpacked)
        (unpacked / STAMP).write_text(f"{KNOWN_TARBALLS[version]}\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        try:
            unpacked.rename(target)
        except OSError:
            if not (target / STAMP).is_file():  # otherwise another process was faster, and its copy is as good
                raise
    return target


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=default_cache(), help="cache folder (default: %(default)s)")
    parser.add_argument("--major", type=int, default=22, help="major version of LLVM (default: %(default)s)")
    options = parser.parse_args()
    try:
        print(fetch(options.cache, options.major))
    except (SetupError, OSError, subprocess.CalledProcessError) as error:
        print(f"llvm_sources: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
