# SPDX-License-Identifier: Apache-2.0
"""Results of device code against a reference, in units in the last place."""

import numpy as np

__all__ = ["assert_within"]


def assert_within(bound, got, truth, operands):
    """Check that each result is the rounded reference, or finite as that is and at most `bound` ulp from it.

    Zeros have the reference's sign.

    Args:
        bound: in units in the last place of the results' type; of its least normal number below that.
        got: the results, an array of floats.
        truth: the reference, in a wider type.
        operands: the arrays that the results are of, for the message.
    """
    kind = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = truth.astype(got.dtype)
        ulp = np.exp2(np.maximum(np.floor(np.log2(np.abs(truth))), kind.minexp) - kind.nmant)
        errors = np.abs(got.astype(truth.dtype) - truth) / ulp
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(got)
    wrong = ~np.where(finite, same | (errors <= bound), same)
    wrong |= (got == 0) & (rounded == 0) & (np.signbit(got) != np.signbit(rounded))
    shown = [(*(float(one[at]) for one in operands), got[at], rounded[at]) for at in np.flatnonzero(wrong)[:5]]
    assert not shown, f"operands, result, expected: {shown}; {wrong.sum()} of {wrong.size} beyond {bound} ulp"
