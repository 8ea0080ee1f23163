# SPDX-License-Identifier: Apache-2.0
"""LLVM's options are those of the process: who has some of its own generates code alone."""

import threading

import pytest

from flydsl.compile.llvm_options import llvm_options

OWN = {"amdgpu-early-inline-all": True}


@pytest.mark.parametrize(("first", "second"), [({}, OWN), (OWN, {}), (OWN, OWN)])
def test_one_with_options_waits_for_the_others_and_they_for_it(first, second):
    inside = threading.Event()

    def work() -> None:
        with llvm_options(second):
            inside.set()

    other = threading.Thread(target=work)
    with llvm_options(first):
        other.start()
        assert not inside.wait(0.1)
    other.join(60)
    assert inside.is_set()


def test_those_without_options_go_on_beside_each_other():
    inside = threading.Event()

    def work() -> None:
        with llvm_options({}):
            inside.set()

    other = threading.Thread(target=work)
    with llvm_options({}):
        other.start()
        assert inside.wait(60)
    other.join(60)


def test_an_option_that_is_refused_lets_the_next_one_in():
    with pytest.raises(RuntimeError, match="Unknown LLVM option"), llvm_options({"no-such-option": True}):
        pass
    with llvm_options(OWN), llvm_options(OWN):
        pass
