# SPDX-License-Identifier: Apache-2.0
"""``fly-emu predict``: the predicted time of a kernel, or of recorded launches."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, EmulatorError


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of `predict` beside those that describe a launch."""
    command.add_argument("--device", help="such as MI325X (see --devices; default: the best known of the architecture)")
    command.add_argument("--warm", action="store_true", help="the data are in the Infinity Cache as far as they fit")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--trace", type=Path, help="write the waves of a compute unit over time (ui.perfetto.dev)")
    command.add_argument("--html", type=Path, help="write the prediction as a page of HTML")
    command.add_argument("--devices", action="store_true", help="list the devices, with the source of each fact")
    command.add_argument("--records", type=Path, help="predict the launches of this file of recorded timings")
    command.add_argument("--objects", type=Path, help="the folder with the code objects of --records")
    command.add_argument("--out", type=Path, help="where the predictions of --records go, as JSON by id")
    command.add_argument("--match", default="", help="only records whose id has this text in it")


# The options of each of the three things that `predict` does, with what they are where they are not given.
_OF_A_LAUNCH: dict[str, object] = {
    "arguments": [], "kernel": None, "grid": (1, 1, 1), "block": (64, 1, 1), "lds": 0, "arch": None, "device": None,
    "warm": False, "trace": None, "html": None,
}  # fmt: skip
_OF_RECORDS: dict[str, object] = {"records": None, "objects": None, "out": None, "match": ""}


def check_options(options: argparse.Namespace) -> None:
    """Refuse what would be ignored: options of a launch beside --records or --devices, and those of --records without.

    Raises ValueError that names them.
    """
    image, as_json = {"image": None}, {"json": False}
    if options.records is not None:
        what, others = "--records", {**image, **_OF_A_LAUNCH, **as_json, "devices": False}
    elif options.devices:
        what, others = "--devices", {**image, **_OF_A_LAUNCH, **_OF_RECORDS}
    else:
        what, others = "a code object", _OF_RECORDS
    given = [name for name, default in others.items() if getattr(options, name) != default]
    names = ", ".join({"image": "a code object", "arguments": "arguments"}.get(one, f"--{one}") for one in given)
    if given and what == "a code object":
        raise ValueError(f"predict: {names} can only be given with --records")
    if given:
        raise ValueError(f"predict: {names} and {what} do not go together")
    if what == "a code object" and options.image is None:
        raise ValueError("predict: which code object? (or --records, or --devices)")


def _answer(record: object, objects: Path) -> dict[str, Any]:
    """A record's prediction, or what was wrong with it."""
    from flydsl.emulator.record_check import check_record
    from flydsl.emulator.records import predict_record

    try:
        checked = check_record(record)
        emulator = Emulator()
        emulator.set_devices(checked["arch"])
        return predict_record(emulator, checked, objects)
    except (EmulatorError, OSError, ValueError) as error:
        return {"error": str(error)}
    except Exception as error:  # whatever else is wrong with one record is no reason to lose the others
        return {"error": f"{type(error).__name__}: {error}"}


_MOST_SECONDS = "3600"  # of a launch: a machine may be busy, and what waits for ever is found out before


def _serve(connection: Connection, objects: Path) -> None:
    """Predict the records that come, until there are no more."""
    os.environ.setdefault("FLYDSL_EMU_MAX_SECONDS", _MOST_SECONDS)
    while (record := connection.recv()) is not None:
        connection.send(_answer(record[0], objects))


class _Server:
    """A process that predicts records; another one in its place where a record ends it."""

    def __init__(self, objects: Path) -> None:
        self._objects = objects
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    def predict(self, record: object) -> dict[str, Any]:
        """A record's prediction, or its error."""
        if self._process is None:
            self._own, theirs = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(theirs, self._objects), daemon=True)
            self._process.start()
            theirs.close()
        try:
            self._own.send((record,))
            answer: dict[str, Any] = self._own.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code, self._process = self._process.exitcode, None
            return {"error": f"the process that predicted it ended with the status {code}"}
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._own.send(None)
            self._process.join()


def predict_records(options: argparse.Namespace) -> int:
    """Predict each record and write, by id: predicted time, error bar, bound and terms, or the reason for none.

    The file is written after each record, and a record that ends the process that predicts it ends nothing else.
    """
    if options.objects is None or options.out is None:
        raise ValueError("--records needs --objects (the code objects) and --out (the predictions)")
    if not options.objects.is_dir():
        raise ValueError(f"--objects {options.objects}: there is no such folder")
    if not options.out.parent.is_dir():
        raise ValueError(f"--out {options.out}: there is no folder {options.out.parent}")
    try:
        found = json.loads(options.records.read_bytes())
    except ValueError as error:
        raise ValueError(f"{options.records} is no JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("records"), list):
        raise ValueError(f'{options.records} is not an object with a list "records"')
    results: dict[str, dict[str, Any]] = {}
    server = _Server(options.objects)
    for number, record in enumerate(found["records"]):
        name = str(record["id"]) if isinstance(record, dict) and "id" in record else f"record {number}"
        if options.match not in name:
            continue
        if name in results:
            answer = {"error": f"an earlier record has the id {name!r}, too"}
            name = f"{name} (record {number})"
        else:
            answer = server.predict(record)
        results[name] = answer
        told = f"{answer['predicted_us']:.4g} us, {answer['bound']}" if "predicted_us" in answer else answer["error"]
        print(f"{name}: {told}", *answer.get("assumed", ()), sep="\n  assumed: ", file=sys.stderr)
        _write(options.out, results)
    server.close()
    if not results and options.match:
        raise ValueError(f"--match {options.match!r}: none of {len(found['records'])} records has this in its id")
    _write(options.out, results)
    failed = sum("predicted_us" not in result for result in results.values())
    print(f"{len(results) - failed} launches predicted, {failed} not; written to {options.out}")
    return 1 if failed else 0


def _write(path: Path, results: dict[str, dict[str, Any]]) -> None:
    """In one piece: whoever reads it meanwhile finds the whole file."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(results, indent=1))
    part.replace(path)


def list_devices(as_json: bool) -> int:
    """Print the devices of the time model: each published fact with its source, and the fitted constants."""
    models = Emulator().device_models()
    if as_json:
        print(json.dumps(models, indent=1))
        return 0
    for name, model in models.items():
        print(f"{name} ({model['arch']})")
        for fact, entry in model["facts"].items():
            print(f"  {fact:22} {entry['value']:<12g} {entry['source']}")
        for constant, value in model["constants"].items():
            print(f"  {constant:22} {value:<12g} fitted or assumed: docs/emulator/prediction.md")
    return 0


def predict_launch(options: argparse.Namespace, arch: str, launch: Callable[[Emulator], Any]) -> int:
    """Predict the launch that the command line describes; its results are not written, for only a sample runs."""
    from flydsl.emulator.predicting import Prediction

    emulator = Emulator()
    emulator.set_prediction(options.device or arch, sampled=True, warm=options.warm, trace=options.trace is not None)
    try:
        launch(emulator)
    finally:
        emulator.set_prediction(None)
    prediction = Prediction(emulator.prediction())
    if options.trace is not None:
        prediction.write_trace(options.trace)
    if options.html is not None:
        prediction.write_html(options.html)
    print(prediction.to_json() if options.json else prediction.report())
    return 0
