# SPDX-License-Identifier: Apache-2.0
"""Predictions of recorded launches: what a record says of its tensors, and what becomes of a record that is no good."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator.cli import main
from flydsl.emulator.cli_predict import _Server
from flydsl.emulator.device import Emulator
from flydsl.emulator.record_check import RecordError, check_record
from flydsl.emulator.record_contents import Paging, Routing, fill, fill_pages, paging_of, routing_of
from flydsl.emulator.records import device_of, is_warm
from predict.test_prediction import COPY

POINTER = {"kind": "pointer", "bytes": 4 << 20, "dtype": "uint32", "shape": [1 << 20], "at": 0}
COPY_LAUNCH: dict[str, Any] = {
    "object": "k.hsaco",
    "kernel": "f",
    "grid_workgroups": [1024, 1, 1],
    "block": [256, 1, 1],
    "dynamic_lds": 0,
    "args": [{**POINTER, "offset": 0}, {**POINTER, "offset": 8}],
}


def test_records(compile_object: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()))
    record = {
        "id": "copy",
        "shape": "4MiB",
        "arch": "gfx942",
        "device": {"name": "MI325X"},
        "work": {},
        "timing": {"cache": "same buffers every iteration"},
        "launches": [COPY_LAUNCH],
    }
    other = {**record, "id": "other", "arch": "gfx1250"}
    (tmp_path / "records.json").write_text(json.dumps({"records": [record, other]}))
    out = tmp_path / "out.json"
    status = main(
        ["predict", "--records", str(tmp_path / "records.json"), "--objects", str(tmp_path), "--out", str(out)]
    )
    results = json.loads(out.read_text())
    assert status == 1
    assert "predicted_us" not in results["other"]
    assert "gfx1250" in results["other"]["error"]
    copy = results["copy"]
    assert copy["predicted_us"] > 0
    assert copy["error_us"] > 0
    assert copy["bound"]
    assert copy["launches"][0]["loads"]["hbm"] == 0, "the buffers of the iteration before"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"launches": []}, "the record has no launches"),
        ({"launches": None}, "the record: launches is NoneType, not list"),
        ({"device": {}}, "device has no field 'name'"),
        ({"work": 3}, "work is int, not an object"),
        ({"arch": "gfx1250"}, "gfx1250"),
        ({"launches": [{"object": "k.hsaco"}]}, "launch 0 has no field 'kernel'"),
        ({"launches": [{**COPY_LAUNCH, "object": "none.hsaco"}]}, "none.hsaco"),
        ({"launches": [{**COPY_LAUNCH, "kernel": "g"}]}, "g"),
        ({"launches": [{**COPY_LAUNCH, "dynamic_lds": "much"}]}, "dynamic_lds is str, not int"),
        ({"launches": [{**COPY_LAUNCH, "dynamic_lds": -4}]}, "dynamic_lds is -4, not a number of bytes"),
        ({"launches": [{**COPY_LAUNCH, "args": [{**POINTER, "offset": 0, "bytes": 1 << 60}]}]}, "f: no room for the"),
        ({"work": {"routing": "uniform random"}, "shape": "large"}, "its shape 'large' not of tokens"),
    ],
)
def test_a_record_that_lacks_something_says_what(
    compile_object: Callable[..., bytes], tmp_path: Path, change: dict[str, object], message: str
) -> None:
    """And those beside it are predicted."""
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()))
    bare = {"arch": "gfx942", "device": {"name": "AMD Instinct MI300X"}, "launches": [COPY_LAUNCH]}
    records = [{**bare, "id": "broken", **change}, 7, {**bare, "id": "bare"}]
    (tmp_path / "records.json").write_text(json.dumps({"records": records}))
    out = tmp_path / "out.json"
    assert main(["predict", "--records", str(tmp_path / "records.json"), "--objects", str(tmp_path), "--out", str(out)])
    results = json.loads(out.read_text())
    assert message in results["broken"]["error"]
    assert results["record 1"]["error"] == "the record is int, not an object"
    assert results["bare"]["launches"][0]["device"] == "MI300X"


def test_a_launch_may_reach_a_little_behind_its_tensors(compile_object: Callable[..., bytes], tmp_path: Path) -> None:
    """The last workgroup copies 4 KiB from and to behind them; one that is 2 MiB behind is refused. What nobody reaches
    changes no prediction."""
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()))
    bare = {"arch": "gfx942", "device": {"name": "MI325X"}}
    records = [
        {**bare, "id": str(groups), "launches": [{**COPY_LAUNCH, "grid_workgroups": [groups, 1, 1]}]}
        for groups in (1024, 1025, 1024 + 600)
    ]
    (tmp_path / "records.json").write_text(json.dumps({"records": records}))
    out = tmp_path / "out.json"
    main(["predict", "--records", str(tmp_path / "records.json"), "--objects", str(tmp_path), "--out", str(out)])
    results = json.loads(out.read_text())
    assert results["1025"]["predicted_us"] == pytest.approx(results["1024"]["predicted_us"], rel=0.2)
    assert "outside of all registered memory" in results["1624"]["error"]


@pytest.mark.parametrize(
    ("stated", "device", "assumed"),
    [
        ({"name": "AMD Instinct MI325X"}, "MI325X", 0),
        ({"name": "a board", "cus": 304, "hbm_tbs": 6.0}, "MI325X", 0),
        ({"name": "MI308X", "cus": 80, "hbm_tbs": 5.3}, "MI300X", 1),
        ({"name": "a board"}, "MI300X", 1),
    ],
)
def test_a_device_is_known_by_name_or_facts(
    emulator: Emulator, stated: dict[str, Any], device: str, assumed: int
) -> None:
    """Another one is predicted as the first of its architecture, and that is told."""
    found, said = device_of(emulator, {"arch": "gfx942", "device": stated})
    assert found == device
    assert len(said) == assumed
    assert all(stated["name"] in one for one in said)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "texture"}, "launch 0, argument 1: its kind is 'texture', not one of pointer, scalar, struct"),
        ({"bytes": "many"}, "launch 0, argument 1: bytes is str, not int"),
        ({"kind": "scalar", "size": 3, "value": 1}, "launch 0, argument 1: a scalar of 3 bytes"),
        ({"kind": "scalar", "size": 2, "value": 0.5}, "a scalar of 2 bytes with the value 0.5"),
        ({"kind": "struct", "size": 4, "hex": "00"}, "hex has 1 bytes, size is 4"),
        ({"kind": "struct", "size": 4, "hex": "none"}, "hex is no hexadecimal number"),
        ({"shape": "16x16"}, "shape is '16x16', not a list of extents"),
        ({"offset": -8}, "offset is -8, not a number of bytes"),
        ({"at": "begin"}, "at is 'begin', not a number of bytes"),
    ],
)
def test_an_argument_that_is_no_argument(change: dict[str, object], message: str) -> None:
    first, second = COPY_LAUNCH["args"]
    launch = {**COPY_LAUNCH, "args": [first, {**second, **change}]}
    with pytest.raises(RecordError, match=message):
        check_record({"arch": "gfx942", "device": {"name": "MI325X"}, "launches": [launch]})


def test_other_spellings_of_a_record_say_the_same() -> None:
    struct = {"kind": "struct", "offset": 16, "size": 2, "hex": "0aff"}
    launch = {**COPY_LAUNCH, "args": [*COPY_LAUNCH["args"], struct]}
    usual = {"arch": "gfx942", "device": {"name": "MI325X"}, "launches": [launch]}
    first, second = ({**one, "kind": "POINTER", "dtype": "torch.uint32", "shape": None} for one in COPY_LAUNCH["args"])
    spelled = {
        **launch, "kernel": "f.kd", "dynamic_lds": None, "args": [first, second, {**struct, "hex": "0x0aff"}],
        "block": [float(extent) for extent in launch["block"]],
    }  # fmt: skip
    nothing = {"work": None, "timing": None, "fill": None}
    other = {**usual, "arch": "GFX942:sramecc+:xnack-", "device": "MI325X", "launches": [spelled], **nothing}
    got = check_record(other)
    assert [one.pop("shape") for one in usual["launches"][0]["args"][:2]] == [[1 << 20]] * 2  # what null says, too
    assert launch.pop("dynamic_lds") == 0
    assert got == usual
    with pytest.raises(RecordError, match="launch 0: kernel is NoneType, not str"):
        check_record({**usual, "launches": [{**launch, "kernel": None}]})


@pytest.mark.parametrize(
    ("cache", "warm"),
    [
        ("same buffers every iteration (warm)", True),
        ("buffers are reused", True),
        ("warm", True),
        ("rotates through deep copies of all tensors of the same size", False),
        ("cold: flushed before the same launch", False),
        ("not said", False),
    ],
)
def test_words_for_caches(cache: str, warm: bool) -> None:
    assert is_warm({"timing": {"cache": cache}}) == warm
    assert not is_warm({})


def test_what_is_not_said_of_tensors_is_assumed() -> None:
    """Which tensors decide what is read is known by their types."""
    bare = {"kind": "pointer", "offset": 8, "bytes": 64}
    tensors = {8: np.zeros(64, np.uint8)}
    told = fill({"launches": [{"args": [bare]}]}, [tensors])
    assert told == ["launch 0: the tensor at 8 of the arguments is zero: its type is not said"]
    typed = {**bare, "dtype": "float32"}
    told = fill({**ROUTED, "launches": [{"args": [typed]}]}, [tensors])
    assert told == ["the record tells of routing, and no launch has a tensor of whole numbers"]


def test_tensors_larger_than_the_memory_of_this_machine(compile_object: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()))
    first, second = COPY_LAUNCH["args"]
    launch = {**COPY_LAUNCH, "args": [{**first, "bytes": 1 << 38}, second]}
    record = {"id": "large", "arch": "gfx942", "device": {"name": "MI325X"}, "launches": [launch]}
    (tmp_path / "records.json").write_text(json.dumps({"records": [record]}))
    out = tmp_path / "out.json"
    arguments = ["--records", str(tmp_path / "records.json"), "--objects", str(tmp_path), "--out", str(out)]
    assert main(["predict", *arguments]) == 0
    assert json.loads(out.read_text())["large"]["predicted_us"] > 0


def test_pages_and_lengths_are_filled_as_the_record_says() -> None:
    """Each workgroup reads its sequence's length, then the pages of its row of the table: with tables of zeros, no page
    at all, with all rows the same, the same pages for all."""
    rows, columns, page = 64, 32, 16
    paging = paging_of({"fill": f"randn; page size {page}, context length 256; block tables shuffled"})
    assert paging == Paging(page, 256)
    assert paging_of({"fill": "randn", "shape": "256x256"}) is None
    integer = {"kind": "pointer", "dtype": "int32"}
    arguments = [
        {**integer, "offset": 0, "bytes": rows * columns * 4, "shape": [rows, columns]},
        {**integer, "offset": 8, "bytes": rows * 4, "shape": [rows]},
        {**integer, "offset": 16, "bytes": (rows + 1) * 4, "shape": [rows + 1]},
    ]
    tensors = {one["offset"]: np.zeros(one["bytes"], np.uint8) for one in arguments}
    fill_pages(paging, arguments, tensors)
    table, lengths, sums = (tensors[offset].view(np.int32) for offset in (0, 8, 16))
    assert sorted(table) == list(range(rows * columns))
    assert list(table) != sorted(table)
    assert set(lengths) == {256}
    assert list(np.diff(sums)) == [256] * rows
    fill_pages(Paging(page, None), arguments, tensors)
    assert set(lengths) == {columns * page}, "as many as there are pages for"


@pytest.mark.parametrize(
    ("said", "page", "length"),
    [
        ({"fill": "paged, block_size=64, kv_len 4096", "shape": "B4H8Hkv8D128"}, 64, 4096),
        ({"fill": "block tables shuffled", "shape": "B4_H8_kv8_ctx1000_page128"}, 128, 1000),
        ({"fill": "pages of 32; kv heads 8"}, 32, None),
        ({"fill": "paged cache, 1024 tokens per page", "work": {"context": "sequence length 333"}}, 1024, 333),
        ({"op": "pa_decode", "work": {"paging": "block table"}}, 16, None),
    ],
)
def test_words_for_pages(said: dict[str, Any], page: int, length: int | None) -> None:
    """Heads are no lengths."""
    assert paging_of(said) == Paging(page, length)


def test_pages_are_of_the_cache_that_there_is() -> None:
    table = {"kind": "pointer", "dtype": "int64", "offset": 0, "bytes": 8 * 6, "shape": [2, 3]}
    cache = {"kind": "pointer", "dtype": "float16", "offset": 8, "bytes": 2 * 1000 * 512, "shape": [1000, 8, 64]}
    tensors = {0: np.zeros(48, np.uint8), 8: np.zeros(1, np.uint8)}
    assert fill_pages(Paging(16, None), [table, cache], tensors) == {0}
    pages = tensors[0].view(np.int64)
    assert len(set(pages)) == 6
    assert 6 < pages.max() < 1000


def test_pages_may_stand_in_one_list() -> None:
    """What stands before the list says where each sequence begins in it."""
    rows, each, page = 8, 20, 16
    counts = {"queries": rows + 1, "begins": rows + 1, "pages": rows * each, "last": rows}
    arguments = [
        {"kind": "pointer", "dtype": "int32", "offset": 8 * i, "bytes": 4 * count, "shape": [count]}
        for i, count in enumerate(counts.values())
    ]
    tensors = {one["offset"]: np.zeros(one["bytes"], np.uint8) for one in arguments}
    assert fill_pages(Paging(page, None), arguments, tensors) == {0, 8, 16, 24}
    queries, begins, pages, last = (tensors[8 * i].view(np.int32) for i in range(4))
    assert sorted(pages) == list(range(rows * each))
    assert list(begins) == [each * i for i in range(rows + 1)]
    assert list(queries) == list(range(rows + 1))
    assert set(last) == {page}
    fill_pages(Paging(page, 100), arguments, tensors)
    assert begins[1] == 7
    assert set(last) == {100 - 6 * page}
    assert fill_pages(Paging(page, None), arguments[2:3], tensors) == set(), "nothing says where sequences begin"


ROUTED = {"shape": "t64-d128x128-e8k2", "work": {"routing": "torch.rand scores: uniform random; tile_m=16"}}


@pytest.mark.parametrize(
    ("said", "assumed"),
    [
        ({"fill": "router logits randn, top-k 8"}, "no tensor holds a routing: "),
        ({"fill": "logits uniform, top-k", "shape": "t64-e32k8"}, "no launch has a tensor of slots"),
        ({"fill": "new keys go to pages of the cache"}, "no launch has a table of them"),
    ],
)
def test_words_that_no_tensor_bears_out(said: dict[str, str], assumed: str) -> None:
    """A kernel that makes a routing, or writes to pages, has tensors of whole numbers of its own."""
    integer = {"kind": "pointer", "dtype": "int32", "offset": 0, "bytes": 1024, "shape": [256]}
    tensors = {0: np.zeros(1024, np.uint8)}
    told = fill({**said, "launches": [{"args": [integer]}]}, [tensors])
    assert any(assumed in one for one in told)
    assert "launch 0: the int32 at 0 of the arguments is zero: nothing is said of it" in told
    plain = {**integer, "dtype": "float32"}
    assert fill({**said, "launches": [{"args": [plain]}]}, [tensors]) == [], "what it says decides nothing"


def test_words_for_routing() -> None:
    assert routing_of(ROUTED) == Routing(64, 8, 2, 16)
    assert routing_of({"shape": "64x64", "fill": "randn"}) is None
    assert routing_of({"shape": "tokens=64_experts=8_topk=2", "fill": "routing uniform"}) == Routing(64, 8, 2, 0)
    with pytest.raises(RecordError, match="only a uniform random one is known, and the record says 'all to one'"):
        routing_of({**ROUTED, "work": {"routing": "all to one"}})
    with pytest.raises(RecordError, match="64 tokens that go to 9 of 8 experts"):
        routing_of({**ROUTED, "shape": "t64-d128x128-e8k9"})


@pytest.mark.parametrize("told", [ROUTED["work"]["routing"], "uniform random"])
def test_slots_and_blocks_are_known_by_their_extents(told: str) -> None:
    """Wherever they stand among the arguments, and without a word about the tile."""
    extents = {"other": 7, "slots": 64 * 2 + 8 * 15, "experts": 16, "used": 2}
    pointers = [
        {"kind": "pointer", "dtype": "int32", "offset": 8 * i, "bytes": 4 * count, "shape": [count]}
        for i, count in enumerate(extents.values())
    ]
    tensors = {one["offset"]: np.zeros(one["bytes"], np.uint8) for one in pointers}
    assumed = fill({**ROUTED, "work": {"routing": told}, "launches": [{"args": pointers}]}, [tensors])
    slots, experts, used = (tensors[8 * i].view(np.int32) for i in (1, 2, 3))
    assert used[1] == 64
    assert used[0] % 16 == 0
    tokens = slots[: used[0]] & 0xFFFFFF
    assert sorted(tokens[tokens < 64]) == sorted([*range(64), *range(64)]), "each goes to two experts"
    assert list(experts[: used[0] // 16]) == sorted(experts[: used[0] // 16])
    assert set(experts) == set(range(8))
    assert assumed == ["launch 0: the int32 at 0 of the arguments is zero: nothing is said of it"]


def test_a_tensor_may_begin_inside_of_its_memory(compile_object: Callable[..., bytes], tmp_path: Path) -> None:
    """What is assumed of a tensor is told, and makes the error bar wide."""
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()))
    first, second = COPY_LAUNCH["args"]
    inside = {**COPY_LAUNCH, "args": [{**first, "at": 64, "dtype": "int32"}, second]}
    bare = {"arch": "gfx942", "device": {"name": "MI325X"}, "launches": [COPY_LAUNCH]}
    records = [{**bare, "id": "begin"}, {**bare, "id": "inside", "launches": [inside]}, {**bare, "id": "begin"}]
    (tmp_path / "records.json").write_text(json.dumps({"records": records}))
    out = tmp_path / "out.json"
    assert main(["predict", "--records", str(tmp_path / "records.json"), "--objects", str(tmp_path), "--out", str(out)])
    results = json.loads(out.read_text())
    lines = [sum(results[name]["launches"][0]["loads"].values()) for name in ("begin", "inside")]
    assert lines[1] > lines[0], "64 bytes into a line"
    assert results["begin"]["assumed"] == []
    assert results["inside"]["assumed"] == ["launch 0: the int32 at 0 of the arguments is zero: nothing is said of it"]
    assert results["inside"]["error_us"] > 0.5 * results["inside"]["predicted_us"]
    assert results["begin (record 2)"] == {"error": "an earlier record has the id 'begin', too"}


def test_a_record_that_ends_its_process_ends_nothing_else(tmp_path: Path) -> None:
    bare = {"arch": "gfx942", "device": {"name": "MI325X"}, "launches": [COPY_LAUNCH]}
    server = _Server(tmp_path)
    assert "k.hsaco" in server.predict(bare)["error"]
    os.kill(server._process.pid, signal.SIGKILL)
    server._process.join()
    assert server.predict(bare) == {"error": "the process that predicted it ended with the status -9"}
    assert "k.hsaco" in server.predict(bare)["error"], "another process"
    server.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"--records": "missing.json"}, "missing.json: No such file"),
        ({"--records": "text.json"}, "text.json is no JSON: "),
        ({"--records": "list.json"}, 'list.json is not an object with a list "records"'),
        ({"--objects": "missing"}, "--objects missing: there is no such folder"),
        ({"--out": "missing/out.json"}, "--out missing/out.json: there is no folder missing"),
        ({"--match": "rmsnorm"}, "--match 'rmsnorm': none of 1 records has this in its id"),
    ],
)
def test_files_that_are_not_there_or_something_else(
    change: dict[str, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.json").write_text("{")
    Path("list.json").write_text("[]")
    Path("records.json").write_text('{"records": [{"id": "softmax"}]}')
    options = {"--records": "records.json", "--objects": ".", "--out": "out.json", **change}
    assert main(["predict", *(word for pair in options.items() for word in pair)]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out.json").exists()
