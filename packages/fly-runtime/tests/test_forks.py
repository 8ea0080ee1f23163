# SPDX-License-Identifier: Apache-2.0
"""Forks beside other threads: nobody waits for a lock that only a thread of the parent could give back."""

from __future__ import annotations

import os
import threading
import time

import pytest

from flydsl.runtime import forks


def exit_status(child: int, seconds: float = 60) -> int:
    """Return what a child ends with; one that hangs is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def can_take(lock, timeout: float = 5) -> bool:
    taken = lock.acquire(timeout=timeout)
    if taken:
        lock.release()
    return taken


@pytest.fixture
def elsewhere():
    """Run a context manager in another thread until the test is over."""
    over, threads = threading.Event(), []

    def enter(context):
        entered = threading.Event()

        def hold():
            with context:
                entered.set()
                over.wait(60)

        threads.append(threading.Thread(target=hold))
        threads[-1].start()
        assert entered.wait(60)
        return over

    yield enter
    over.set()
    for thread in threads:
        thread.join()


def test_a_lock_of_another_thread_is_free_in_the_child(elsewhere):
    lock = forks.new_lock()
    elsewhere(lock)
    child = os.fork()
    if child == 0:
        os._exit(0 if can_take(lock) else 3)
    assert exit_status(child) == 0
    assert not can_take(lock, 0.01)  # in the parent it is held as before


def test_a_lock_of_the_thread_that_forks_stays_its_own():
    lock = forks.new_lock()
    found = []
    with lock:
        child = os.fork()
        if child == 0:
            thread = threading.Thread(target=lambda: found.append(can_take(lock, 0.01)))
            thread.start()
            thread.join()
    if child == 0:
        os._exit(0 if found == [False] and can_take(lock) else 3)
    assert exit_status(child) == 0
    assert can_take(lock)


def test_a_fork_waits_for_a_block_that_is_undivided(elsewhere):
    over = elsewhere(forks.undivided())
    timer = threading.Timer(0.3, over.set)
    timer.start()
    child = os.fork()
    if child == 0:
        os._exit(0 if over.is_set() else 3)
    assert exit_status(child) == 0


def test_a_fork_waits_no_longer_than_its_patience(elsewhere, monkeypatch):
    monkeypatch.setattr(forks, "_PATIENCE", 0.3)
    elsewhere(forks.undivided())
    child = os.fork()
    if child == 0:
        with forks.undivided():
            os._exit(0)
    assert exit_status(child) == 0
    with forks.undivided():  # nobody is said to be forking any more
        pass


def test_forks_of_many_threads_at_once():
    def work():
        for _ in range(5):
            with forks.undivided():
                pass
            child = os.fork()
            if child == 0:
                with forks.undivided():
                    os._exit(0)
            assert exit_status(child) == 0
            done.append(child)

    done = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 20


def test_a_fork_that_fails_lets_others_in(monkeypatch):
    import resource

    if os.geteuid() == 0:
        pytest.skip("root may make any number of processes")
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, hard))
    try:
        with pytest.raises(BlockingIOError):
            os.fork()
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    assert forks._gate.forking == set()
