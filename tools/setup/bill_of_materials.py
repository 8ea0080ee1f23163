# SPDX-License-Identifier: Apache-2.0
"""Put a bill of materials into a wheel: `python -m setup.bill_of_materials [--release] WHEEL`, in environment `build`.

It is a CycloneDX document in `.dist-info/sboms` (PEP 770) that names the wheel and what of others is in it: in one that
is published more than in one for this machine.
"""

from __future__ import annotations

import email
import subprocess
import sys
import tempfile
import uuid
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from . import third_party
from .paths import ROOT


def _component(name: str, version: str, licence: str, purl: str, description: str) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        description=description,
        licenses=[LicenseExpression(licence)],
        purl=PackageURL.from_string(purl),
        bom_ref=purl,
    )


def _bill(information: Path, release: bool) -> str:
    """The document for an unpacked wheel.

    Raises:
        SystemExit: a text of a licence that must be in the wheel is not.
    """
    metadata = email.message_from_string((information / "METADATA").read_text(encoding="utf-8"))
    name, version = metadata["Name"], metadata["Version"]
    whole = _component(
        name, version, metadata["License-Expression"], f"pkg:pypi/{name}@{version}", metadata["Summary"] or ""
    )
    bom = Bom()
    bom.metadata.component = whole
    for one in third_party.inside(name, release):
        for file in one.files:
            if not (information / "licenses" / "licenses" / file).is_file():
                raise SystemExit(f"{name}: the wheel has no licenses/{file}, the text for {one.name}")
        found = one.version()
        bom.components.add(_component(one.name, found, one.licence, one.purl.format(version=found), one.how))
    bom.register_dependency(whole, bom.components)
    # The same sources give the same document: its time is that of the commit, its number is made of what it says.
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True).stdout
    bom.metadata.timestamp = datetime.fromtimestamp(int(commit or 0), timezone.utc)
    said = " ".join(sorted(str(one.purl) for one in (whole, *bom.components)))
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, said)
    return str(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2))


def main(wheel: Path, release: bool) -> None:
    """Write the bill into the wheel, in its place."""
    with tempfile.TemporaryDirectory(dir=wheel.parent) as scratch:
        _wheel("unpack", str(wheel), "--dest", scratch)
        (unpacked,) = Path(scratch).iterdir()
        (information,) = unpacked.glob("*.dist-info")
        document = information / "sboms" / f"{unpacked.name.partition('-')[0]}.cdx.json"
        document.parent.mkdir(exist_ok=True)
        document.write_text(_bill(information, release) + "\n", encoding="utf-8")
        wheel.unlink()
        _wheel("pack", str(unpacked), "--dest-dir", str(wheel.parent))
    if not wheel.is_file():
        raise SystemExit(f"{wheel.name}: packed under another name")


def _wheel(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[-1]).resolve(), "--release" in sys.argv[1:-1])
