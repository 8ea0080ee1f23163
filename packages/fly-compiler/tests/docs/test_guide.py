# SPDX-License-Identifier: Apache-2.0
"""The guide to the language: every Python block runs (emulated, where there is no GPU), every output is right."""

import importlib.util
import subprocess
import sys

import pytest
from pages import GUIDE, blocks, pages

pytestmark = pytest.mark.skipif(not GUIDE.is_dir(), reason="the guide is not part of this checkout")


def device_problem():
    from flydsl.runtime.device import get_rocm_device_count

    try:
        return None if get_rocm_device_count() else "no device: install fly-emulator"
    except Exception as error:  # what is missing is the reason of the skip
        return str(error)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_page(page, tmp_path, capfd, monkeypatch):
    problem = device_problem() if importlib.util.find_spec("torch") else "the guide passes torch tensors"
    if problem:
        pytest.skip(problem)
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))
    namespace = {"__name__": page.stem}
    for number, block in enumerate(blocks(page)):
        # A file per block, its lines those of the page: kernels are compiled from their source.
        file = tmp_path / f"{page.stem}_{number}.py"
        file.write_text("\n" * (block.line - 1) + block.source)
        exec(compile(file.read_text(), str(file), "exec"), namespace)
        printed = capfd.readouterr().out
        if block.output is not None:
            assert printed == block.output, f"{page.name}:{block.line}"


def test_the_reference_is_up_to_date():
    made = subprocess.run(
        [sys.executable, GUIDE / "make_reference.py"], capture_output=True, text=True, check=True
    ).stdout
    shown = (GUIDE / "reference.md").read_text()
    assert made == shown, "run: python docs/language/make_reference.py > docs/language/reference.md"


def test_the_index_lists_every_page():
    index = (GUIDE / "README.md").read_text()
    for page in [*pages(), GUIDE / "reference.md"]:
        assert f"({page.name})" in index
