# SPDX-License-Identifier: Apache-2.0
"""What every wheel of the repository carries: its licences, those of what is in it, and a bill of materials."""

import email
import json
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
# What is linked into each, or compiled in from headers and sources.
INSIDE = {
    "fly_layout": {},
    "fly_runtime": {"nlohmann-json": "MIT License", "apache-tvm-ffi": "Apache License", "libstdc++": "GCC RUNTIME LIB"},
    "fly_dialect": {"LLVM": "LLVM Exceptions", "nanobind": "Wenzel Jakob", "robin-map": "MIT License"},
    "fly_compiler": {},
    "fly_autotune": {},
    "fly_kernels": {},
    "fly_emulator": {
        "LLVM": "LLVM Exceptions", "zlib": "Jean-loup Gailly", "zstd": "Zstandard", "libstdc++": "GCC RUNTIME LIB",
    },
}  # fmt: skip


class Wheel:
    """A wheel's information folder."""

    def __init__(self, path):
        self.file = zipfile.ZipFile(path)
        (record,) = (name for name in self.file.namelist() if name.endswith(".dist-info/RECORD"))
        self.folder = record.removesuffix("RECORD")
        self.metadata = email.message_from_string(self.text("METADATA"))

    def text(self, name):
        return self.file.read(self.folder + name).decode()

    def names(self, folder):
        return sorted(
            name.removeprefix(self.folder) for name in self.file.namelist() if name.startswith(self.folder + folder)
        )


@pytest.fixture(params=INSIDE)
def wheel(request):
    folder = f"{request.param.replace('_', '-')}-*"
    # The newest: this run installed it.
    found = sorted((ROOT / "build" / "wheels").glob(f"{folder}/*.whl"), key=lambda path: path.stat().st_mtime)
    assert found, f"tools/dev build {folder.removesuffix('-*')} was not run"
    opened = Wheel(found[-1])
    yield opened
    opened.file.close()


@pytest.fixture
def inside(request):
    return INSIDE[request.node.callspec.params["wheel"]]


def test_the_licence_is_in_it(wheel):
    assert "Apache License" in wheel.text("licenses/LICENSE")
    assert wheel.metadata["License-Expression"].startswith("Apache-2.0")


def test_the_licences_of_what_is_in_it(wheel, inside):
    declared = {f"licenses/{name}" for name in wheel.metadata.get_all("License-File")}
    assert declared == set(wheel.names("licenses/"))
    texts = [wheel.text(name) for name in declared if name != "licenses/LICENSE"]
    for name, words in inside.items():
        assert any(words in text for text in texts), name
    assert bool(texts) is bool(inside)


def test_the_bill_of_materials(wheel, inside):
    (name,) = wheel.names("sboms/")
    text = wheel.text(name)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    whole = bill["metadata"]["component"]
    assert (whole["name"], whole["version"]) == (wheel.metadata["Name"], wheel.metadata["Version"])
    components = {one["name"]: one for one in bill.get("components", [])}
    assert set(components) == set(inside)
    for one in components.values():
        assert one["version"][0].isdigit()
        assert one["version"] in one["purl"]
        assert one["licenses"]
    depends = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert sorted(depends[whole["bom-ref"]]) == sorted(one["bom-ref"] for one in components.values())


def test_the_record_lists_every_file(wheel):
    lines = wheel.text("RECORD").splitlines()
    assert sorted(line.rsplit(",", 2)[0].strip('"') for line in lines) == sorted(
        name for name in wheel.file.namelist() if not name.endswith("/")
    )


def test_no_path_of_this_machine_is_in_the_information(wheel):
    for name in wheel.names(""):
        assert str(ROOT) not in wheel.text(name)
