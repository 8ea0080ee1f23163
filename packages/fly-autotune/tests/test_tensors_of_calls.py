# SPDX-License-Identifier: Apache-2.0
"""`reset_to_zero`, `restore_value` and hooks: the order of a measured call, and what is left after tuning."""

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
from flydsl.autotune import Config, autotune

FRAMEWORKS = {"numpy": lambda *values: np.array(values, np.float32), "torch": lambda *values: torch.tensor(values)}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_order_of_a_measured_call(framework):
    order = []
    x, out = FRAMEWORKS[framework](1.0, 2.0), FRAMEWORKS[framework](7.0, 7.0)

    def accumulate(x, out, BLOCK):
        order.append(("run", BLOCK, x.tolist(), out.tolist()))
        out += BLOCK
        x += 1

    def twice(call, warmup, rep):
        call()
        call()
        return 1.0 if order[-2][1] == 2 else 2.0

    def hook(name):
        return lambda arguments: order.append((name, sorted(arguments), arguments["BLOCK"]))

    configs = [Config(BLOCK=1, pre_hook=hook("of the config")), Config(BLOCK=2)]
    tuned = autotune(configs, key=[], reset_to_zero=["out"], restore_value=["x"], pre_hook=hook("pre"),
                     post_hook=hook("post"), do_bench=twice)(accumulate)  # fmt: skip
    tuned(x, out=out)

    first = [
        ("of the config", ["BLOCK", "out"], 1),
        ("pre", ["BLOCK", "out"], 1),
        ("run", 1, [1.0, 2.0], [0.0, 0.0]),
        ("post", ["BLOCK", "out"], 1),
    ]
    second = [
        ("pre", ["BLOCK", "out"], 2),
        ("run", 2, [1.0, 2.0], [0.0, 0.0]),
        ("post", ["BLOCK", "out"], 2),
    ]
    real = [("run", 2, [1.0, 2.0], [0.0, 0.0])]
    assert order == [*first, *first, *second, *second, *real]
    assert out.tolist() == [2.0, 2.0]
    assert x.tolist() == [2.0, 3.0]

    tuned(x, out=out)  # the configuration is known: no hook, but zero all the same
    assert order[-1] == ("run", 2, [2.0, 3.0], [0.0, 0.0])


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_tensors_are_restored_after_failures(framework):
    x = FRAMEWORKS[framework](1.0)

    def spoil(x, BLOCK):
        x += 1
        raise ValueError(BLOCK)

    tuned = autotune([Config(BLOCK=1)], restore_value=["x"], do_bench=lambda call, **_: call())(spoil)
    with pytest.raises(RuntimeError, match="All autotune configs failed"):
        tuned(x)
    assert x.tolist() == [1.0]


def test_resolve_config_leaves_restored_tensors_alone():
    x = torch.ones(2)

    def grow(x, BLOCK):
        x += BLOCK

    def once(call, **_):
        call()
        return 1.0

    autotune([Config(BLOCK=5)], restore_value=["x"], do_bench=once)(grow).resolve_config(x)
    assert x.tolist() == [1.0, 1.0]


def test_leaves_that_need_gradients():
    weight, out = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    def once(call, **_):
        call()
        return 1.0

    tuned = autotune([Config(BLOCK=1)], restore_value=["weight"], reset_to_zero=["out"], do_bench=once)(
        lambda weight, out, BLOCK: None
    )
    tuned(weight, out)
    assert out.tolist() == [0.0, 0.0]
    assert weight.requires_grad


def test_parts_of_a_tensor():
    whole = np.arange(6, dtype=np.float32)

    def once(call, **_):
        call()
        return 1.0

    def kernel(x, out, BLOCK):
        x += 100

    tuned = autotune([Config(BLOCK=1)], restore_value=["x"], reset_to_zero=["out"], do_bench=once)(kernel)
    tuned.resolve_config(whole[::2], whole[1::2])
    assert whole.tolist() == [0.0, 0.0, 2.0, 0.0, 4.0, 0.0]


def test_tensors_that_the_compiler_wrapped():
    x, out = torch.ones(2), torch.ones(2)

    def kernel(x, out, BLOCK):
        x.tensor.add_(1)
        out.tensor.add_(BLOCK)

    def twice(call, **_):
        call()
        call()
        return 1.0

    tuned = autotune([Config(BLOCK=3)], restore_value=["x"], reset_to_zero=["out"], do_bench=twice)(kernel)
    tuned(flyc.from_dlpack(x), flyc.from_dlpack(out))
    assert x.tolist() == [2.0, 2.0]
    assert out.tolist() == [3.0, 3.0]


def test_arguments_that_are_absent():
    def kernel(x, out=None, BLOCK=0):
        return BLOCK

    tuned = autotune([Config(BLOCK=1)], restore_value=["out"], reset_to_zero=["out"], do_bench=lambda call, **_: 1.0)(
        kernel
    )
    assert tuned(1) == 1
    assert tuned(1, out=None) == 1


@pytest.mark.parametrize(("what", "value"), [("reset_to_zero", 3), ("restore_value", (1, 2)), ("restore_value", 3.0)])
def test_what_is_no_tensor(what, value):
    tuned = autotune([Config(BLOCK=1)], do_bench=lambda call, **_: call() or 1.0, **{what: ["x"]})(lambda x, BLOCK: x)
    with pytest.raises(
        (TypeError, RuntimeError), match=f"{what}: argument 'x' is a {type(value).__name__}, not a tensor"
    ):
        tuned(value)
