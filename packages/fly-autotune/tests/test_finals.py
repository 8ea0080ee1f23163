# SPDX-License-Identifier: Apache-2.0
"""The fastest are measured again in turns, until their order is settled."""

import random

import pytest

from flydsl.autotune import Config, autotune, tuner
from flydsl.autotune.search.finals import ROUNDS, settle


class Clock:
    """Times by name, each with noise of its own, of a device that becomes slower with every call."""

    def __init__(self, noise=0.0, drift=0.0, **times):
        self.times, self.noise, self.drift = times, noise, drift
        self.draws, self.calls = random.Random(1), []

    def __call__(self, name):
        self.calls.append(name)
        slower = 1.0 + self.drift * len(self.calls)
        return self.times[name] * slower * (1.0 + self.noise * self.draws.uniform(-1.0, 1.0))


def test_the_first_look_does_not_decide():
    """It found c faster, because it came first while the clock was high."""
    clock = Clock(noise=0.01, drift=0.001, a=1.0, b=1.03, c=1.02)
    found = settle([("c", 0.95), ("a", 1.0), ("b", 1.02)], clock)
    assert (found.best, found.certain) == ("a", True)
    assert found.times["a"] < found.times["c"] < found.times["b"]
    assert found.rounds < ROUNDS


def test_they_take_turns_in_orders_drawn_anew():
    clock = Clock(noise=0.05, a=1.0, b=1.0, c=1.0)
    found = settle([(name, 1.0) for name in "abc"], clock)
    rounds = [tuple(clock.calls[start : start + 3]) for start in range(0, 15, 3)]
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)
    assert len(set(rounds)) > 1
    assert (found.rounds, found.certain) == (ROUNDS, False), "noise of 5 % does not tell what is equal"


def test_who_is_surely_slower_leaves():
    clock = Clock(noise=0.002, a=1.0, b=1.05, c=1.0005)
    found = settle([(name, 1.0) for name in "abc"], clock)
    counts = {name: clock.calls.count(name) for name in "abc"}
    assert counts["b"] == 5 <= counts["a"] == found.rounds
    assert found.times["b"] == pytest.approx(1.05 * found.times["a"], rel=0.01)


def test_equal_ones_end_it():
    found = settle([("a", 1.0), ("b", 1.0)], Clock(a=1.0, b=1.001))
    assert (found.best, found.rounds, found.certain) == ("a", 5, True)


def test_far_ones_and_more_than_eight_take_no_part():
    clock = Clock(**dict.fromkeys("abcdefghijk", 1.0))
    found = settle([("z", 1.2), *((name, 1.0) for name in "abcdefghijk")], clock)
    assert list(found.times) == list("abcdefgh")
    alone = settle([("z", 1.2), ("a", 1.0)], clock)
    assert (alone.best, alone.rounds, alone.times, alone.certain) == ("a", 0, {"a": 1.0}, True)
    with pytest.raises(ValueError, match="nothing to measure again"):
        settle([], clock)


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_settle_the_wrong_order(seed):
    clock = Clock(noise=0.02, a=1.0, b=1.02)
    clock.draws = random.Random(seed)
    assert settle([("b", 1.0), ("a", 1.01)], clock, seed=seed).best == "a"


def test_a_tuner_lets_them_take_turns_on_hardware(kernel, monkeypatch, capsys):
    """What emulated devices predict does not vary, and a measurement of one's own is its owner's."""
    looks = {1: [5.0], 2: [3.0], 3: [2.95]}  # the first look; then what they are in turns
    in_turns = {2: 3.0, 3: 3.1}
    calls = []

    def measure(call, warmup, rep):
        block = call_block(call)
        calls.append((block, warmup, rep))
        return looks[block].pop() if looks[block] else in_turns[block]

    def call_block(call):
        call()
        return kernel.runs[-1].block

    monkeypatch.setattr(tuner, "measure", measure)
    monkeypatch.setattr(tuner.Autotuner, "measure", "device")
    tuned = autotune([Config(BLOCK=block) for block in (1, 2, 3)], key=["n"])(kernel)
    assert tuned.resolve_config([1.0], 1) == Config(BLOCK=2)
    assert calls[:3] == [(block, 5, 25) for block in (1, 2, 3)]
    assert {one[0] for one in calls[3:]} == {2, 3}
    assert {one[1:] for one in calls[3:]} == {(1, 5)}
    said = capsys.readouterr().out
    assert "the fastest 2 again, in turns, 5 rounds: settled" in said
    assert "best: Config(BLOCK=2) (3.000 ms)" in said
