# SPDX-License-Identifier: Apache-2.0
"""What the compiler exported runs where only fly-runtime, fly-kernels and fly-emulator are installed, from wheels."""

import json
import os
import subprocess
import textwrap

import pytest
import torch
from kernels import scale

import flydsl.compiler as flyc
from flydsl.kernels.softmax_kernel import build_softmax_module

SERVICE = os.environ.get("FLYDSL_SERVICE_PYTHON")


def in_service(code, *arguments):
    """Run Python code in the service environment; returns the JSON that it printed last."""
    if SERVICE is None:
        pytest.fail("FLYDSL_SERVICE_PYTHON is not set: run this through tools/dev test integration")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [SERVICE, "-I", "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def scale_artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "scale.so"
    a, b = torch.ones(8), torch.ones(8)
    flyc.compile.only(scale, a, b, 2.0, 8).export(path)
    return path


@pytest.fixture(scope="module")
def softmax_artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "softmax.so"
    x = torch.ones(2, 257)
    flyc.compile.only(build_softmax_module(257, "f32"), x, x.clone(), 2).export(path)
    return path


def test_service_has_no_compiler():
    found = in_service(
        """
        import importlib.util, json
        names = ["flydsl.compiler", "flydsl.expr", "flydsl._mlir", "flydsl.dialect", "torch"]
        print(json.dumps([name for name in names if importlib.util.find_spec(name)]))
        """
    )
    assert found == []


def test_service_imports_every_kernel_module():
    imported = in_service(
        """
        import importlib, json, pkgutil
        import flydsl.kernels
        names = [m.name for m in pkgutil.walk_packages(flydsl.kernels.__path__, "flydsl.kernels.")]
        names = [name for name in names if not name.startswith("flydsl.kernels.operators")]
        for name in names:
            importlib.import_module(name)
        print(json.dumps(names))
        """
    )
    assert "flydsl.kernels.norm.softmax_kernel" in imported


def test_service_says_what_an_operator_lacks():
    text = in_service(
        """
        import json, flydsl.kernels
        try:
            flydsl.kernels.softmax
        except ImportError as error:
            print(json.dumps(str(error)))
        """
    )
    assert "torch is not installed" in text
    assert "pip install 'fly-kernels[torch]'" in text


def test_service_says_what_a_builder_lacks():
    text = in_service(
        """
        import json
        from flydsl.kernels.softmax_kernel import build_softmax_module
        try:
            build_softmax_module(4, 64, "f32")
        except ImportError as error:
            print(json.dumps(str(error)))
        """
    )
    assert "fly-kernels[jit]" in text


def test_service_runs_an_exported_kernel(scale_artifact):
    result = in_service(
        """
        import json, sys
        import numpy as np
        import flydsl.runtime as runtime
        artifact = runtime.load_artifact(sys.argv[1])
        a = np.random.default_rng(3).standard_normal(1000, dtype=np.float32)
        b = np.full(1000, np.nan, dtype=np.float32)
        artifact(a, b, 1.5, 1000)
        libraries = {line.split()[-1].rsplit("/", 1)[-1] for line in open("/proc/self/maps") if ".so" in line}
        print(json.dumps({
            "error": float(np.abs(b - a * np.float32(1.5)).max()),
            "device": repr(runtime.current_device()),
            "llvm": sorted(name for name in libraries if "LLVM" in name or "MLIR" in name),
        }))
        """,
        scale_artifact,
    )
    assert result["error"] == 0
    assert "emulated" in result["device"]
    assert result["llvm"] == []


def test_service_runs_an_exported_library_kernel(softmax_artifact):
    error = in_service(
        """
        import json, sys
        import numpy as np
        import flydsl.runtime as runtime
        softmax = runtime.load_artifact(sys.argv[1])
        x = np.random.default_rng(4).standard_normal((5, 257), dtype=np.float32) * 5
        y = np.full_like(x, np.nan)
        softmax(x, y, 5, None)
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        print(json.dumps(float(np.abs(y - e / e.sum(axis=1, keepdims=True)).max())))
        """,
        softmax_artifact,
    )
    assert error < 1e-6


def test_service_reports_a_wrong_argument_and_goes_on(scale_artifact):
    said = in_service(
        """
        import json, sys
        import numpy as np
        import flydsl.runtime as runtime
        artifact = runtime.load_artifact(sys.argv[1])
        a, b = np.ones(64, np.float32), np.zeros(64, np.float32)
        try:
            artifact(a.astype(np.float64), b, 2.0, 64)
        except TypeError as error:
            said = str(error)
        artifact(a, b, 2.0, 64)
        print(json.dumps([said, float(b.sum())]))
        """,
        scale_artifact,
    )
    assert "A" in said[0]
    assert "float64" in said[0]
    assert "float32" in said[0]
    assert said[1] == 128.0


def test_service_tunes_what_was_exported(scale_artifact, tmp_path):
    said = in_service(
        """
        import json, os, sys
        import numpy as np
        import flydsl.runtime as runtime
        from flydsl.autotune import Config, autotune
        os.environ["FLYDSL_AUTOTUNE_CACHE_DIR"] = sys.argv[2]
        artifact = runtime.load_artifact(sys.argv[1])

        @autotune([Config(parts=4), Config(parts=1), Config(parts=1, waves_per_eu=2)], key=["n"])
        def scale(a, b, n, parts):
            for piece in np.split(np.arange(n), parts):
                artifact(a[piece[0]:piece[-1] + 1], b[piece[0]:piece[-1] + 1], 1.5, len(piece))

        a, b = np.ones(4096, np.float32), np.zeros(4096, np.float32)
        scale(a, b, 4096)
        print(json.dumps([scale.resolve_config(a, b, 4096).to_dict(), float(b.sum())]))
        """,
        scale_artifact,
        tmp_path,
    )
    assert said == [{"parts": 1}, 1.5 * 4096]  # one launch; no compiler could follow the hint
