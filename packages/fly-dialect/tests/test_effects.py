# SPDX-License-Identifier: Apache-2.0
"""Every operation of our dialects says what memory it touches."""

import pytest

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect
from flydsl._mlir.dialects import fly, fly_ktrace, fly_nvvm, fly_rocdl
from flydsl._mlir.passmanager import PassManager


def operations(dialect: object) -> list[str]:
    """The operations that the generated classes of a dialect are of."""
    prefix = dialect.__name__.rpartition(".")[2] + "."  # type: ignore[attr-defined]
    names = {getattr(one, "OPERATION_NAME", "") for one in vars(dialect).values()}
    return sorted(name for name in names if isinstance(name, str) and name.startswith(prefix))


@pytest.mark.parametrize(("dialect", "least"), [(fly, 90), (fly_rocdl, 3), (fly_ktrace, 6), (fly_nvvm, 5)])
def test_every_operation_states_its_effects(dialect: object, least: int, context: ir.Context) -> None:
    found = operations(dialect)
    assert len(found) >= least
    assert [name for name in found if not _flyDialect.states_memory_effects(name, context=context)] == []


def test_an_operation_that_states_nothing_is_told(context: ir.Context) -> None:
    assert not _flyDialect.states_memory_effects("gpu.func", context=context)
    assert _flyDialect.states_memory_effects("arith.addi", context=context)
    assert _flyDialect.states_memory_effects("scf.for", context=context)
    with pytest.raises(KeyError, match=r"fly\.no_such"):
        _flyDialect.states_memory_effects("fly.no_such", context=context)


@pytest.mark.usefixtures("context")
def test_what_touches_memory_stays_in_its_order() -> None:
    module = ir.Module.parse("""
      func.func @f(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, global>, %n: index) {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %i = %zero to %n step %one {
          %a = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
          %b = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
          fly.ptr.store(%a, %q) : (f32, !fly.ptr<f32, global>) -> ()
          fly_ktrace.mark "here"
          %unused = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
        }
        return
      }
    """)
    PassManager.parse("builtin.module(canonicalize,cse,loop-invariant-code-motion,sccp)").run(module.operation)
    function = module.body.operations[0]
    loop = next(op for op in function.regions[0].blocks[0].operations if op.name == "scf.for")
    names = [op.name for op in loop.regions[0].blocks[0].operations]
    assert names == ["fly.ptr.load", "fly.ptr.load", "fly.ptr.store", "fly_ktrace.mark", "fly.ptr.load", "scf.yield"]
