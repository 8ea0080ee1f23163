# SPDX-License-Identifier: Apache-2.0
"""Compiling while other things happen: threads, forks, interrupts."""

from __future__ import annotations

import sys
import textwrap
import threading

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def increase_kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0


@flyc.jit
def increase(x: fx.Tensor):
    increase_kernel(x).launch(block=64)


def test_threads_that_call_at_once_compile_once():
    function = flyc.jit(increase.original)
    arrays = [np.zeros(64, np.float32) for _ in range(8)]
    errors = []

    def work(x):
        try:
            for _ in range(10):
                function(x)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    assert all(x.tolist() == [10.0] * 64 for x in arrays)
    assert (function.cache_info().misses, function.cache_info().currsize) == (1, 1)


PROLOGUE = """
    import os, random, signal, sys, time
    import numpy as np
    import flydsl.compiler as flyc, flydsl.expr as fx

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=64)

    def call(function):
        x = np.zeros(64, np.float32)
        function(x)
        return x[0] == 1.0

    def fresh(number):
        made = flyc.jit(launch.original)
        made.compile_hints["number"] = number  # compiled anew
        return made
"""


def script(text):
    return textwrap.dedent(PROLOGUE) + textwrap.dedent(text)


def test_the_first_compilation_waits_for_no_dialect_to_be_imported(run_script):
    text = """
    before = set(sys.modules)
    flyc.compile.only(launch, np.zeros(64, np.float32))
    print(sorted(one for one in set(sys.modules) - before if one.startswith("flydsl._mlir")))
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_a_compilation_asks_no_metadata_of_python(run_script):
    """It would bring the package for mail and what that needs, which takes as long as a small kernel's passes."""
    text = """
    os.environ["COMPILE_ONLY"] = "1"  # what loads an artifact may bring torch, which asks for them
    known = {"email", "importlib.metadata"} & set(sys.modules)
    flyc.compile.only(launch, np.zeros(64, np.float32))
    print(sorted({"email", "importlib.metadata"} & set(sys.modules) - known))
    from importlib import metadata
    from flydsl.compile.cache.toolchain import package_versions
    assert package_versions() == {one: metadata.version(one) for one in package_versions()}
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_a_process_that_forks(run_script):
    text = """
    assert call(fresh(1))  # the parent has a context, a device and loaded code
    child = os.fork()
    if child == 0:
        fine = call(fresh(1)) and call(fresh(2))
        os._exit(0 if fine else 3)
    assert os.waitpid(child, 0)[1] == 0
    assert call(fresh(2)) and call(fresh(3))
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="pools of older Pythons keep their processes")
def test_pools_whose_processes_compile_once(run_script):
    """A server that has imported the compiler forks a new process for each task, as others end."""
    done = run_script(
        """
        import multiprocessing, os
        from concurrent.futures import ProcessPoolExecutor
        import numpy as np
        import flydsl.compiler as flyc, flydsl.expr as fx

        @flyc.kernel
        def kernel(x: fx.Tensor, n: fx.Constexpr[int]):
            x[fx.thread_idx.x] = x[fx.thread_idx.x] + n

        @flyc.jit
        def launch(x: fx.Tensor, n: fx.Constexpr[int]):
            kernel(x, n).launch(block=64)

        def task(n):
            x = np.zeros(64, np.int32)
            launch(x, n)
            return x.tolist() == [n] * 64, os.getpid()

        if __name__ == "__main__":
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload(["__main__"])
            with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:
                answers = [one.result(timeout=240) for one in [pool.submit(task, n) for n in (1, 2, 1, 3)]]
            assert all(right for right, _ in answers), answers
            print(len({process for _, process in answers}), end="")
        """
    )
    assert (done.returncode, done.stdout) == (0, "4"), done.stderr


def test_a_fork_waits_for_what_another_thread_compiles(run_script):
    """Else the child has the locks that thread held, and no garbage collector, for good."""
    text = """
    import gc, threading

    inside, forked = threading.Event(), threading.Event()

    def linger():
        inside.set()
        forked.wait(0.5)  # a fork that does not wait comes now

    @flyc.kernel
    def slow_kernel(x: fx.Tensor):
        linger()
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0

    @flyc.jit
    def slow(x: fx.Tensor):
        slow_kernel(x).launch(block=64)

    assert call(fresh(1))
    thread = threading.Thread(target=call, args=(slow,))
    thread.start()
    assert inside.wait(600)
    child = os.fork()
    forked.set()
    if child == 0:
        signal.alarm(120)
        os._exit(0 if gc.isenabled() and call(slow) and call(fresh(2)) else 3)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    assert call(slow)
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


def test_a_fork_at_any_time_of_a_first_call(run_script):
    """Compiling, loading the artifact, loading the module, launching: each holds locks of its own."""
    text = """
    import threading

    assert call(fresh(1))
    for number in range(12):
        function = fresh(100 + number)
        thread = threading.Thread(target=call, args=(function,))
        thread.start()
        time.sleep(random.Random(number).random() * 0.15)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if call(function) and call(fresh(1)) else 3)
        assert os.waitpid(child, 0)[1] == 0, number
        thread.join()
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


def test_a_fork_while_another_thread_prints(run_script):
    """What a kernel printed goes to Python, in the call: its thread needs the interpreter to end it."""
    text = """
    import threading

    writing, forked = threading.Event(), threading.Event()

    class Slow:
        def write(self, text):
            writing.set()
            forked.wait(0.3)  # in a fork that keeps the interpreter nothing ends

        def flush(self):
            pass

    @flyc.kernel
    def talking_kernel(x: fx.Tensor):
        fx.printf("{}\\n", x[0])
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0

    @flyc.jit
    def talking(x: fx.Tensor):
        talking_kernel(x).launch(block=64)

    assert call(fresh(1))
    kept, sys.stdout = sys.stdout, Slow()
    thread = threading.Thread(target=call, args=(talking,))
    thread.start()
    assert writing.wait(600)
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if call(talking) and call(fresh(1)) else 3)
    forked.set()
    assert time.monotonic() - start < 30
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    sys.stdout = kept
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


def test_a_fork_while_other_threads_launch_all_the_time(run_script):
    text = """
    import threading

    over = False

    def work():
        x = np.zeros(64, np.float32)
        while not over:
            known(x)

    known = fresh(1)
    assert call(known)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if call(known) else 3)
        assert time.monotonic() - start < 30
        assert os.waitpid(child, 0)[1] == 0, number
    over = True
    for thread in threads:
        thread.join()
    assert call(known)
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


def test_a_fork_in_a_compilation_waits_for_nobody(run_script):
    text = """
    children = []

    class Forks:  # a call of os.fork() in traced code is refused; what Python itself calls is not traced
        def __del__(self):
            children.append(os.fork())
            if children[-1] == 0:
                os._exit(0)

    @flyc.kernel
    def forking_kernel(x: fx.Tensor):
        Forks()
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0

    @flyc.jit
    def forking(x: fx.Tensor):
        forking_kernel(x).launch(block=64)

    assert call(forking)
    assert children and all(os.waitpid(one, 0)[1] == 0 for one in children)
    assert call(fresh(1))
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr


def test_an_interrupt_while_compiling_leaves_everything_usable(run_script):
    """The clock is that of the process: what else the machine does moves no interrupt to another place."""
    text = """
    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGPROF, interrupt)
    random.seed(0)
    assert call(fresh(-1))  # loads what is loaded once
    begin = time.process_time()
    assert call(fresh(-2))
    whole = time.process_time() - begin
    interrupted = number = 0
    while interrupted < 10:
        number += 1
        assert number < 200, f"{interrupted} of {number} were interrupted"
        function = fresh(number)
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, random.uniform(0.02, 0.9) * whole)
                call(function)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        except KeyboardInterrupt:
            interrupted += 1
        assert call(function)
    """
    done = run_script(script(text))
    assert done.returncode == 0, done.stderr
