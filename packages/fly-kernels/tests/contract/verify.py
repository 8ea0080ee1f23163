# SPDX-License-Identifier: Apache-2.0
"""The check of outputs that tests of this language's kernels use."""


def verify_output(out, ref, atol, rtol, logits_diff_threshold=2e-3):
    """Whether fewer than 5 % of the elements exceed the tolerance, or else 1 - 2 Σxy / Σ(x² + y²) is small enough."""
    out, ref = out.double(), ref.double()
    exceeding = ((out - ref).abs() > atol + rtol * ref.abs()) | out.isnan()
    if exceeding.double().mean() < 0.05:
        return True
    distance = 1 - 2 * (out * ref).sum() / (out * out + ref * ref).sum()
    return bool(distance <= logits_diff_threshold)
