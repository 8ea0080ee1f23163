# SPDX-License-Identifier: Apache-2.0
"""The device table, and predicted times of RDNA: waves of 32 lanes, split wait counters, workgroup processors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import Prediction, predict, profile
from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.records import host_launch
from rdna.harness import DEVICES, TEMPLATE

RDNA = {"gfx1100": "RX 7900 XTX", "gfx1201": "RX 9070 XT"}
WAITS = {
    "gfx1100": {"loads": "s_waitcnt vmcnt(0)", "stores": "s_waitcnt_vscnt null, 0x0", "scalar": "s_waitcnt lgkmcnt(0)"},
    "gfx1201": {"loads": "s_wait_loadcnt 0x0", "stores": "s_wait_storecnt 0x0", "scalar": "s_wait_kmcnt 0x0"},
}


@pytest.fixture(scope="module", autouse=True)
def rdna_devices(emulator: Emulator) -> Iterator[None]:
    """Devices of RDNA beside those of all tests."""
    emulator.set_devices(*DEVICES)
    yield
    emulator.set_devices(*DEVICES[:2])


def source(arch: str, code: str) -> str:
    """A kernel f(in, out) of waves of 32: s[4:7] are its arguments, v1 the thread's bytes, four for each."""
    return TEMPLATE.format(
        arch=arch, code=code, loads="", stores="", all_lanes="", vector_wait="", wave32=1, lanes=32,
        scalar_wait=WAITS[arch]["scalar"], vgprs=128, directives="", metadata="",
    )  # fmt: skip


def predicted(build: Callable[..., Module], arch: str, code: str, groups: int, words: int = 4096) -> Prediction:
    kernel = build(source(arch, code), arch, "asm", ()).kernel("f")
    x, y = np.zeros(words, np.uint32), np.zeros(words, np.uint32)
    with predict(RDNA[arch], sampled=True) as session:
        kernel(groups, 128, x, y)
    return session.last


def test_every_fact_has_a_source(emulator: Emulator) -> None:
    models = emulator.device_models()
    assert set(models) == {"MI300X", "MI325X", "MI355X", "RX 7900 XTX", "RX 9070 XT", "gfx1250"}
    for model in models.values():
        for fact in model["facts"].values():
            assert fact["value"] > 0
            assert fact["source"].startswith(("AMD", "assumed"))


@pytest.mark.parametrize(("ordinal", "arch"), list(enumerate(DEVICES)))
def test_devices_agree_with_the_chips_that_are_emulated(
    emulator: Emulator, compile_object: Callable[..., bytes], ordinal: int, arch: str
) -> None:
    """What HIP's clients are told of a device, and what the time model holds, are one."""
    name, _ = emulator.device_name(ordinal)
    flags = ("-O2", "-ffreestanding")
    image = compile_object("__attribute__((amdgpu_kernel)) void g(void) {}", arch, "c", flags)
    module = emulator.load(image, ordinal)
    with profile() as session:
        module.kernel("g")(1, 32)
    module.unload()
    device = session.last.data["device"]
    model = emulator.device_models()[session.last.timeline.device]
    assert model["arch"] == arch
    assert session.last.timeline.device in name
    assert device["compute_units"] == model["facts"]["units"]["value"]
    assert device["clock_hz"] == pytest.approx(model["facts"]["clock_ghz"]["value"] * 1e9)


@pytest.mark.parametrize("arch", RDNA)
def test_a_wave_waits_for_the_counter_that_it_names(build: Callable[..., Module], arch: str) -> None:
    """A load is waited for by its own counter; that of stores is down at once."""
    load = "  global_load_b32 v2, v1, s[4:5]\n"
    waits = predicted(build, arch, load + f"  {WAITS[arch]['loads']}\n", 1)
    other = predicted(build, arch, load + f"  {WAITS[arch]['stores']}\n", 1)
    assert waits.stalled["memory"] > 400
    assert other.stalled["memory"] == 0
    assert waits.stalled_instructions[0]["stalled"]["memory"] > 0


@pytest.mark.parametrize("arch", RDNA)
def test_dependent_vector_instructions_wait_for_their_pipeline(build: Callable[..., Module], arch: str) -> None:
    """Waves of 32 lanes issue every cycle, results come later: one wave alone waits, where it depends."""
    apart = predicted(build, arch, "".join(f"  v_add_f32 v{10 + i % 8}, v2, v3\n" for i in range(400)), 1)
    chain = predicted(build, arch, "  v_add_f32 v10, v10, v3\n" * 400, 1)
    assert apart.stalled["vector_result"] == 4 * 4, "of four waves, in the prologue"
    assert chain.data["unit_cycles"] > 3 * apart.data["unit_cycles"]
    assert chain.stalled["vector_result"] > 400


def test_matrix_work_takes_the_published_rate(build: Callable[..., Module], emulator: Emulator) -> None:
    """RX 9070 XT: 195 TFLOP/s of f16 at its boost clock, by AMD's specifications."""
    chain, units, waves = 400, 32, 4
    wmma = "  v_wmma_f32_16x16x16_f16 v[40:47], v[2:5], v[6:9], v[40:47]\n"
    got = predicted(build, "gfx1201", wmma * chain, units * 16)
    flops = 2 * 16**3 * chain * units * 16 * waves
    clock = emulator.device_models()["RX 9070 XT"]["facts"]["clock_ghz"]["value"]
    assert got.bound == "matrix"
    assert flops / got.data["unit_cycles"] * clock * 1e9 == pytest.approx(195e12, rel=0.05)


def test_a_stream_takes_the_bandwidth_of_memory(build: Callable[..., Module]) -> None:
    groups = 16384
    each = 128 * 16
    code = f"""
  s_mul_i32 s8, ttmp9, {each}
  v_lshlrev_b32 v1, 2, v1
  v_add_nc_u32 v1, s8, v1
  global_load_b128 v[4:7], v1, s[4:5]
  s_wait_loadcnt 0x0
  global_store_b128 v1, v[4:7], s[6:7]
"""
    got = predicted(build, "gfx1201", code, groups, groups * each // 4)
    assert got.bound == "hbm"
    assert 2 * groups * each / 640e9 < got.seconds < 2 * groups * each / 640e9 * 1.5


def test_the_launch_of_the_host_counts_where_it_was_timed() -> None:
    assert host_launch({"timing": {"method": "torch events ..., INCLUDES host launch cost when shorter"}}) > 30
    assert host_launch({"timing": {"method": "the profiler's device times"}}) == 0


def test_occupancy_is_of_a_workgroup_processor(build: Callable[..., Module]) -> None:
    got = predicted(build, "gfx1201", "  v_add_f32 v10, v10, v3\n" * 100, 32 * 10)
    assert got.data["occupancy"]["waves_per_simd"] == 10, "1536 registers; 128 are 144, by the granule"
    assert got.occupancy_over_time == pytest.approx([10.0] * 32)


def test_errors_are_wider_where_less_was_calibrated(build: Callable[..., Module]) -> None:
    first, other = (predicted(build, arch, "  v_mov_b32 v2, v3\n", 1).error for arch in ("gfx1201", "gfx1100"))
    assert first < other


def test_json_of_devices(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from flydsl.emulator.cli import main

    assert main(["predict", "--devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["RX 9070 XT"]["facts"]["mall_bytes"]["value"] == 64 << 20
