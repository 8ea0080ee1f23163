# SPDX-License-Identifier: Apache-2.0
"""What the package promises as a whole: its public names, no dependency, a short import."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import flydsl.layout as fl

SOURCE = Path(fl.__file__).parent


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_every_public_name_resolves_and_is_listed_for_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    guarded = next(n for n in tree.body if isinstance(n, ast.If))
    imports = [n for n in guarded.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    imported = {a.asname or a.name for n in imports for a in n.names} - {"Any"}
    aliases = {t.id for n in guarded.body if isinstance(n, ast.Assign) for t in n.targets}
    assert imported == {*fl._HOME, *fl._SUBPACKAGES}
    assert aliases == set(fl._ALIASES)
    for name in {*imported, *aliases, *fl.__all__}:
        assert getattr(fl, name) is not None
    assert set(fl.__all__) <= imported | aliases


def test_no_public_name_was_lost():
    kept = json.loads((Path(__file__).parent / "public_names.json").read_text())
    for module, names in kept.items():
        now = importlib.import_module(module)
        assert sorted(now.__all__) == names, f"{module}: public_names.json is the list; a name may only be added to it"


def test_what_modules_ask_of_higher_layers_is_there():
    asked = {
        (node.attr, file.name)
        for file in SOURCE.rglob("*.py")
        if file.name != "__init__.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "above"
    }
    assert asked
    for name, file in asked:
        assert name in {*fl._HOME, *fl._SUBPACKAGES}, f"{file}: above.{name}"


def test_modules_import_at_the_top():
    # An import inside a function would hide from the reader which layer a module stands on. The standard library may.
    for file in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for node in ast.walk(function):
                    assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file}:{node.lineno}"


def test_a_star_import_shadows_no_builtin():
    import builtins

    assert not set(fl.__all__) & set(dir(builtins))


def test_unknown_names_are_attribute_errors():
    try:
        fl.nonsense
    except AttributeError as e:
        assert "nonsense" in str(e)
    else:
        raise AssertionError


def test_only_the_standard_library_is_imported():
    code = (
        "import sys, flydsl.layout as fl; [getattr(fl, n) for n in dir(fl)];"
        "print(*sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)))"
    )
    extra = {m for m in run(code).split() if not m.startswith(("_", "sitecustomize", "usercustomize"))}
    assert extra <= {"flydsl"}


def test_no_namespace_init_and_typed():
    assert not (SOURCE.parent / "__init__.py").exists()
    assert (SOURCE / "py.typed").exists()


def test_each_file_says_its_licence():
    for file in [*SOURCE.rglob("*.py"), *Path(__file__).parent.rglob("*.py")]:
        assert file.read_text().startswith("# SPDX-License-Identifier: Apache-2.0"), file


def test_the_types_of_signatures_are_there_for_users():
    code = "import sys, flydsl.layout as fl; fl.Layout((4, 8)); print('flydsl.layout.types' in sys.modules)"
    assert run(code) == "False", "only type checkers, and whoever asks for them, load them"
    types = importlib.import_module("flydsl.layout.types")
    used = {
        name.id
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.arg) and node.annotation is not None
        for name in ast.walk(node.annotation)
        if isinstance(name, ast.Name)
    }
    for name in types.__all__:
        assert getattr(types, name) is not None
        assert name in used, f"no signature says {name}"
