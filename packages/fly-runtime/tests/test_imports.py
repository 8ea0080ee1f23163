# SPDX-License-Identifier: Apache-2.0
"""Imports without the collections of Python's that they would set off."""

import gc

import pytest

from flydsl.runtime.imports import without_collections_of_imports


@pytest.fixture
def begun():
    found = []
    gc.callbacks.append(lambda phase, info: found.append(phase) if phase == "start" else None)
    yield found
    gc.callbacks.pop()


def test_what_is_made_meanwhile_sets_off_no_collection(begun):
    gc.collect()
    begun.clear()
    with without_collections_of_imports():
        made = [[] for _ in range(10_000)]
        assert not gc.isenabled()
    assert gc.isenabled()
    more = [[] for _ in range(100)]  # the next collection does not look at it
    assert not begun
    assert len(made) + len(more) == 10_100


def test_what_is_garbage_is_collected_later():
    with without_collections_of_imports():
        ring = []
        ring.append(ring)
        del ring
    assert gc.collect() > 0


def test_what_the_process_has_frozen_stays_so():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with without_collections_of_imports():
            pass
        assert gc.get_freeze_count() == frozen > 0
        assert gc.isenabled()
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with without_collections_of_imports():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_import_that_fails_leaves_it_on():
    with pytest.raises(ModuleNotFoundError), without_collections_of_imports():
        import no_such_module_anywhere  # noqa: F401
    assert gc.isenabled()
