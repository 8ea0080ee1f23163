# SPDX-License-Identifier: Apache-2.0
"""``fly-emu`` end to end, in process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator.cli import main
from flydsl.emulator.device import Emulator

DATA = Path(__file__).parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()


@pytest.fixture
def image(compile_object: Callable[..., bytes], emulator: Emulator, tmp_path: Path) -> Path:
    path = tmp_path / "kernels.hsaco"
    path.write_bytes(compile_object(SOURCE, "gfx942"))
    yield path  # type: ignore[misc]
    emulator.set_devices("gfx942", "gfx950")
    emulator.set_sanitizers()
    emulator.set_profiling(False)


def vector_add(image: Path, folder: Path, command: str, *options: str) -> int:
    rng = np.random.default_rng(0)
    for name in ("a", "b", "c"):
        np.save(folder / f"{name}.npy", rng.standard_normal(300).astype(np.float32))
    arguments = [str(folder / "a.npy"), str(folder / "b.npy"), f"out={folder / 'c.npy'}", "i32:300"]
    return main([command, str(image), *arguments, "--kernel", "vector_add", "--grid", "2", "--block", "256", *options])


def test_run_writes_the_output(image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vector_add(image, tmp_path, "run", "--sanitize", "all", "--orders", "3") == 0
    a, b, c = (np.load(tmp_path / f"{name}.npy") for name in "abc")
    np.testing.assert_array_equal(c, a + b)
    assert "emulated" in capsys.readouterr().out


def test_profile_counts(image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vector_add(image, tmp_path, "profile", "--json", "--least-bytes", "3600") == 0
    profile = json.loads(capsys.readouterr().out)
    assert profile["emulated"] is True
    assert profile["classes"]["vmem"]["bytes_loaded"] == 2 * 300 * 4
    assert profile["classes"]["vmem"]["bytes_stored"] == 300 * 4
    assert profile["roofline"]["least_bytes"] == profile["roofline"]["bytes_moved"] == 3600
    assert profile["roofline"]["ratio"] == 1
    assert any(line.endswith((":5", ":26", ":27")) or ".c:" in line for line in profile["lines"])


def test_info_and_disassembly(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(image)]) == 0
    assert "vector_add" in capsys.readouterr().out
    assert main(["disasm", str(image)]) == 0
    code = capsys.readouterr().out
    assert "v_mfma_f32_32x32x8_f16" in code
    labels = [line[:-1] for line in code.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert {"vector_add", "gemm_f16", "softmax_f32"} <= set(labels), "each function under its own name"
    assert ".text" not in labels


def test_profile_prints_tables_and_writes_a_trace(
    image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    assert vector_add(image, tmp_path, "profile", "--trace", str(trace), "--least-bytes", "3600") == 0
    printed = capsys.readouterr().out
    assert "by source line" in printed
    assert "1.000 x the least" in printed.replace("\n", " ")
    assert json.loads(trace.read_text())["traceEvents"]


def test_save_and_replay(image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vector_add(image, tmp_path, "run", "--save", str(tmp_path / "saved")) == 0
    (launch,) = (tmp_path / "saved").iterdir()
    out = tmp_path / "after"
    command = ["replay", str(launch), "--out", str(out), "--profile", "--sanitize", "all", "--orders", "3"]
    assert main(command) == 0
    assert "vector_add on emulated gfx942" in capsys.readouterr().out
    (written,) = out.glob("out_*.npy")
    assert np.load(written).tobytes() == np.load(tmp_path / "c.npy").tobytes()
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "vector_add"
    assert main(["replay", str(image)]) == 2
    assert "is not a whole saved launch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.npy", "a.npy", "a.npy"], "takes 4 arguments, 3 came"),
        (["a.npy", "a.npy", "a.npy", "i64:3"], "'i64:3': 8 bytes, and vector_add takes 4"),
        (["a.npy", "a.npy", "a.npy", "a.npy"], "takes 4 bytes by value there, no array"),
        (["a.npy", "a.npy", "i32:3", "i32:3"], "'i32:3': 4 bytes, and vector_add takes 8"),
        (["a.npy", "a.npy", "missing.npy", "i32:3"], "there is no file missing.npy; scalars are TYPE:VALUE"),
        (["a.npy", "a.npy", "a.npy", "i32:three"], "'three' is no i32"),
        (["a.npy", "a.npy", "text.npy", "i32:3"], "text.npy is no .npy file"),
        (["a.npy", "a.npy", "many.npz", "i32:3"], "many.npz is an archive of arrays"),
        (["a.npy", "a.npy", "words.npy", "i32:3"], "words.npy holds <U2, no numbers"),
        (["a.npy", "a.npy", "a.npy", "i32:99999999999"], "'99999999999' is no i32"),
        (["a.npy", "a.npy", "a.npy", "bf16:1.5"], "2 bytes, and vector_add takes 4"),
        (["a.npy", "a.npy", "scalar.npy", "i32:3"], "holds a scalar; write TYPE:VALUE"),
    ],
)
def test_wrong_arguments(
    image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.zeros(64, np.float32))
    np.save("scalar.npy", np.float32(1))
    np.save("words.npy", np.array(["ab"]))
    np.savez("many.npz", a=np.zeros(1))
    Path("text.npy").write_text("no numbers")
    assert main(["run", str(image), *arguments, "--kernel", "vector_add"]) == 2
    assert said in capsys.readouterr().err


def test_options_and_arguments_in_any_order(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.ones(64, np.float32))
    np.save("c.npy", np.zeros(64, np.float32))
    before, after = ["run", str(image), "--kernel", "vector_add"], ["a.npy", "a.npy", "out=c.npy", "i32:64"]
    assert main([*before, "--grid", "1", *after]) == 0
    assert (np.load("c.npy") == 2).all()


@pytest.mark.parametrize("option", [["--grid", "two"], ["--seed", "-1"], ["--lds", "-4"], ["--unknown"]])
def test_wrong_options(image: Path, capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(image), *option])
    assert option[-1] in capsys.readouterr().err


@pytest.fixture
def artifact(image: Path, compile_object: Callable[..., bytes], tmp_path: Path) -> Path:
    """A library of the host with code objects among its data, as artifacts have them."""
    host = Path(sys.executable).resolve().read_bytes()[:4096]
    cut = compile_object(SOURCE, "gfx950")[:300]  # a header that something else begins with
    path = tmp_path / "artifact.so"
    path.write_bytes(host + image.read_bytes() + b"between" + compile_object(SOURCE, "gfx950") + b"behind" + cut)
    return path


def test_artifacts_are_opened(artifact: Path, image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(artifact), "--arch", "gfx950"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("gfx950")
    assert "vector_add" in printed
    assert vector_add(artifact, tmp_path, "run", "--arch", "gfx942") == 0
    a, b, c = (np.load(tmp_path / f"{name}.npy") for name in "abc")
    np.testing.assert_array_equal(c, a + b)
    capsys.readouterr()
    assert main(["disasm", str(artifact)]) == 2
    assert "code objects for gfx942, gfx950: choose one with --arch" in capsys.readouterr().err


def test_code_objects_are_extracted(
    artifact: Path, image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["extract", str(artifact), "--out", str(tmp_path / "out")]) == 0
    names = [f"{tmp_path / 'out' / 'artifact'}.{arch}.hsaco" for arch in ("gfx942", "gfx950")]
    assert capsys.readouterr().out.split() == names
    assert Path(names[0]).read_bytes() == image.read_bytes()
    assert main(["extract", str(artifact), "--arch", "gfx1250"]) == 2
    assert "it has gfx942, gfx950" in capsys.readouterr().err


def test_files_without_code_say_where_it_comes_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kernel.py").write_text("print(1)" * 100)
    for path in (tmp_path / "kernel.py", Path(sys.executable).resolve()):
        assert main(["info", str(path)]) == 2
        assert "fly-emu extract" in capsys.readouterr().err


def test_info_refuses_another_architecture(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(image), "--arch", "gfx950"]) == 2
    assert "it is for gfx942, not gfx950" in capsys.readouterr().err


def test_a_profile_in_a_pipe_is_not_cut(
    image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # which would be an order to cut
    long = tmp_path / "a_folder" / ("name_that_is_long_" * 6 + ".hsaco")
    long.parent.mkdir()
    long.write_bytes(image.read_bytes())
    assert vector_add(long, tmp_path, "profile") == 0
    printed = capsys.readouterr().out
    assert "…" not in printed
    header = next(line for line in printed.splitlines() if "instructions" in line and "issue cycles" in line)
    assert all(word in header for word in ("bytes loaded", "bytes stored", "coalescing", "LDS conflicts", "MFMA"))


def test_code_inside_of_a_host_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = Path(sys.executable).resolve().read_bytes()[:4096] + b"\0.hip_fatbin\0"
    (tmp_path / "library.so").write_bytes(library)
    assert main(["info", str(tmp_path / "library.so")]) == 2
    assert "--dump-section .hip_fatbin=" in capsys.readouterr().err


def test_wrong_usage_says_what_to_do(image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(image)]) == 2
    assert "--kernel is needed" in capsys.readouterr().err
    assert main(["run", str(image), "--kernel", "nothing"]) == 2
    assert "the code object has" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "missing.hsaco")]) == 2
    assert "missing.hsaco" in capsys.readouterr().err
    assert vector_add(image, tmp_path, "run", "--sanitize", "everything") == 1
    assert "no sanitizer 'everything'" in capsys.readouterr().err
    (tmp_path / "bad.hsaco").write_bytes(b"not an object" * 20)
    assert main(["info", str(tmp_path / "bad.hsaco")]) == 2
    assert "not an ELF file" in capsys.readouterr().err


def test_the_module_takes_the_same_arguments() -> None:
    """And does not ignore them; without, it tells what is installed."""
    command = [sys.executable, "-m", "flydsl.emulator"]
    refused = subprocess.run([*command, "predict"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "which code object?" in refused.stderr
    assert "fly-emulator" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
