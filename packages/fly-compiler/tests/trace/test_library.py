# SPDX-License-Identifier: Apache-2.0
"""The list of the compiler's own folders is that of the wheel: what it leaves out is rewritten as a user's code is."""

from pathlib import Path

import flydsl.trace
from flydsl.trace.library import PACKAGES, is_of_compiler


def test_every_folder_of_the_wheel_is_listed():
    source = Path(flydsl.trace.__file__).parents[1]
    with_modules = {one.name for one in source.iterdir() if (one / "__init__.py").is_file()}
    other_wheels = {"layout", "runtime", "dialect", "_mlir", "kernels", "autotune", "emulator"}  # of one site-packages
    assert with_modules - other_wheels == set(PACKAGES)


def test_modules_are_told_by_whole_names():
    assert is_of_compiler("flydsl.call.launch")
    assert is_of_compiler("flydsl.call")
    assert not is_of_compiler("flydsl.callers")
    assert not is_of_compiler("flydsl.kernels.gemm")
