# SPDX-License-Identifier: Apache-2.0
"""Packages of others that use HIP, as they come: only the library that they load is ours.

tinygrad runs with the other tests where it is installed. The others are large: `pytest -m slow` fetches them with pip
(and rocPRIM with apt) into the cache of pytest, and skips what cannot be fetched. docs/emulator/foreign.md has the
versions and what came of it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import tool

from flydsl.emulator._library import library_path

FOREIGN = Path(__file__).parent / "foreign"
SCALE = """
__attribute__((amdgpu_kernel)) void scale(__attribute__((address_space(1))) float *x, float factor, int n) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) x[i] *= factor;
}
"""
CORES = ["elementwise", "integer", "softmax", "matmul", "movement", "convolution", "captured"]


def run(command: list[str], **variables: str) -> str:
    """What it prints last; a failure with the emulator's own words."""
    environment = {**os.environ, "FLYDSL_EMU_SANITIZE": "all", "FLYDSL_EMU_LOG": "1", **variables}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout.strip().rpartition("\n")[2]


@pytest.fixture
def rocm(tmp_path: Path) -> Path:
    """A folder like ROCm's, with the emulator as its HIP library."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libamdhip64.so").symlink_to(library_path())
    return tmp_path


def fetched(pytestconfig: pytest.Config, *requirements: str) -> Path:
    """A folder with packages of the Python index, without what they depend on."""
    folder = Path(str(pytestconfig.cache.mkdir("foreign"))) / "-".join(requirements).replace("=", "")
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.{os.getpid()}.part")  # tests run side by side
        # `tools/dev` says where uv is: the environments that it makes have no pip.
        uv = os.environ.get("UV")
        installer = [uv, "--no-config", "pip"] if uv else [sys.executable, "-m", "pip"]
        command = [*installer, "install", "-q", "--no-deps", "--target", str(part), *requirements]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            shutil.rmtree(part, ignore_errors=True)
            pytest.skip(f"{installer[0]} cannot fetch {requirements}: {done.stderr[-300:]}")
        try:
            part.rename(folder)
        except OSError:  # another test was faster
            shutil.rmtree(part)
    return folder


def tinygrad(rocm: Path, arch: str, cases: list[str], **variables: str) -> str:
    llvm = Path(tool("llvm-config")).resolve().parent.parent / "lib"
    library = next(iter(sorted(llvm.glob("libLLVM*.so*"))), None)
    if library is None:
        pytest.skip(f"no libLLVM in {llvm}")
    variables |= {"DEV": "HIP", "ROCM_PATH": str(rocm), "LLVM_PATH": str(library), "PARALLEL": "0"}
    client = [sys.executable, str(FOREIGN / "tinygrad_client.py"), tool("ld.lld"), *cases]
    return run(client, FLYDSL_GPU_ARCH=arch, **variables)


@pytest.mark.skipif(importlib.util.find_spec("tinygrad") is None, reason="tinygrad is not installed")
def test_tinygrad(rocm: Path, arch: str) -> None:
    assert tinygrad(rocm, arch, CORES) == "all right"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.13.0", "0.14.0"])
def test_all_of_tinygrad(pytestconfig: pytest.Config, rocm: Path, arch: str, version: str) -> None:
    packages = fetched(pytestconfig, f"tinygrad=={version}")
    for seed in ("0", "3"):
        assert tinygrad(rocm, arch, [], FLYDSL_EMU_SEED=seed, PYTHONPATH=str(packages)) == "all right"


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_triton(pytestconfig: pytest.Config, rocm: Path, chip: str) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("Triton's tensors are torch's, which is not installed")
    variables = {"PYTHONPATH": str(fetched(pytestconfig, "triton==3.9.0")), "FLYDSL_GPU_ARCH": chip}
    variables |= {"TRITON_CACHE_DIR": str(rocm / "cache"), "TRITON_LIBHIP_PATH": str(rocm / "lib/libamdhip64.so")}
    assert run([sys.executable, str(FOREIGN / "triton_client.py")], **variables) == "all right"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["6.4.4.555.40", "7.2.2.562.43"])
def test_hip_python(
    pytestconfig: pytest.Config, rocm: Path, compile_object: Callable[..., bytes], version: str
) -> None:
    packages = fetched(pytestconfig, f"hip-python=={version}")
    image = rocm / "scale.hsaco"
    image.write_bytes(compile_object(SCALE, "gfx942", "c", ("-O2",)))
    variables = {"LD_LIBRARY_PATH": str(rocm / "lib"), "FLYDSL_EMU_DEVICES": "gfx942,gfx950"}
    client = [sys.executable, str(FOREIGN / "hip_python_client.py"), str(image)]
    assert run(client, PYTHONPATH=str(packages), **variables) == "all right"


@pytest.mark.slow
@pytest.mark.parametrize("rocm_version", ["70", "72"])
def test_bitsandbytes(pytestconfig: pytest.Config, rocm: Path, arch: str, rocm_version: str) -> None:
    packages = fetched(pytestconfig, "bitsandbytes==0.50.2")
    library = packages / "bitsandbytes" / f"libbitsandbytes_rocm{rocm_version}.so"
    listing = subprocess.run(
        [tool("llvm-nm"), "-D", "--undefined-only", str(library)], capture_output=True, text=True, timeout=600
    )
    names = [line.split()[-1].partition("@")[0] for line in listing.stdout.splitlines()]
    stubs = "".join(f"int {name}(void) {{ return 1; }}\n" for name in names if name.startswith(("hipblas", "rocblas")))
    for soname, source in (("libhipblas.so.3", stubs), ("libhipblaslt.so.1", "")):
        command = [tool("clang"), "-shared", "-fPIC", "-x", "c", "-", "-o", str(rocm / "lib" / soname)]
        subprocess.run([*command, f"-Wl,-soname,{soname}"], input=source, text=True, check=True, timeout=600)
    client = [sys.executable, str(FOREIGN / "bitsandbytes_client.py"), library_path(), str(library)]
    assert run(client, LD_LIBRARY_PATH=str(rocm / "lib"), FLYDSL_GPU_ARCH=arch) == "all right"


@pytest.mark.slow
def test_iree(pytestconfig: pytest.Config, rocm: Path, arch: str) -> None:
    """Another compiler, and another HIP client."""
    packages = fetched(pytestconfig, "iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0")
    variables = {"LD_LIBRARY_PATH": str(rocm / "lib"), "PYTHONPATH": str(packages), "FLYDSL_GPU_ARCH": arch}
    assert run([sys.executable, str(FOREIGN / "iree_client.py"), arch], **variables) == "all right"


@pytest.mark.slow
def test_flydsl(pytestconfig: pytest.Config, rocm: Path, arch: str) -> None:
    """Another compiler of the same language, with its own HIP runtime: the sources are those of tools/bench."""
    if importlib.util.find_spec("torch") is None or not (FOREIGN.parents[2] / "bench" / "shared_kernels.py").exists():
        pytest.skip("needs torch, and the repository's tools/bench")
    packages = fetched(pytestconfig, "flydsl==0.4.2")
    linker = rocm / "llvm" / "bin" / "ld.lld"
    linker.parent.mkdir(parents=True)
    linker.symlink_to(tool("ld.lld"))
    (rocm / "amdgcn" / "bitcode").mkdir(parents=True)
    (rocm / "lib" / "libamdhip64.so.7").symlink_to(library_path())
    variables = {"LD_LIBRARY_PATH": str(rocm / "lib"), "PYTHONPATH": str(packages), "ROCM_PATH": str(rocm)}
    variables |= {"FLYDSL_GPU_ARCH": arch, "ARCH": arch, "FLYDSL_RUNTIME_CACHE_DIR": str(rocm / "cache")}
    assert run([sys.executable, str(FOREIGN / "flydsl_client.py")], **variables) == "all right"


@pytest.fixture
def debian(pytestconfig: pytest.Config) -> Path:
    """HIP 5.2, its device library and rocPRIM 5.3 of Debian 12, unpacked and not installed."""
    folder = Path(str(pytestconfig.cache.mkdir("foreign"))) / "rocprim"
    packages = ["librocprim-dev", "libamdhip64-dev", "rocm-device-libs", "hipcc"]
    if not (folder / "usr/include/rocprim").is_dir():
        if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
            pytest.skip("rocPRIM comes from Debian's packages")
        folder.mkdir(exist_ok=True)
        done = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, timeout=600)
        if done.returncode != 0:
            pytest.skip(f"apt-get cannot download {packages}")
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True, timeout=600)
    bitcode = folder / "usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
    for arch in ("942", "950"):  # it has gfx940, whose number is all that is in these files
        link = bitcode / f"oclc_isa_version_{arch}.bc"
        if not link.exists():
            link.symlink_to("oclc_isa_version_940.bc")
    return folder / "usr"


@pytest.mark.slow
def test_rocprim(debian: Path, tmp_path: Path) -> None:
    program, unit = tmp_path / "rocprim", tmp_path / "rocprim.o"
    paths = [f"--rocm-path={debian}", f"--hip-path={debian}", "-isystem", str(debian / "include")]
    paths += [f"--rocm-device-lib-path={debian}/lib/x86_64-linux-gnu/amdgcn/bitcode"]
    flags = ["-mcode-object-version=5", "-D__HIP_PLATFORM_AMD__", "-std=c++17", "-O2", "-w"]
    flags += ["--offload-arch=gfx942", "--offload-arch=gfx950", "-include", str(FOREIGN / "rocprim_hip52.h")]
    command = [tool("clang++"), "-x", "hip", *paths, *flags, "-c", str(FOREIGN / "rocprim.hip"), "-o", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-4000:]
    subprocess.run([tool("clang++"), str(unit), library_path(), "-o", str(program)], check=True, timeout=600)
    for arch in ("gfx942", "gfx950"):
        for seed in ("0", "1", "5"):
            variables = {"LD_LIBRARY_PATH": str(Path(library_path()).parent), "FLYDSL_EMU_SEED": seed}
            variables |= {"FLYDSL_GPU_ARCH": arch}
            assert run([str(program), "without"], **variables) == "all right"
        # Blocks of the segmented sort read LDS that nobody wrote and drop what they read: no case for `init`.
        variables |= {"FLYDSL_EMU_SANITIZE": "memory,race,wait,barrier"}
        assert run([str(program)], **variables) == "all right"
