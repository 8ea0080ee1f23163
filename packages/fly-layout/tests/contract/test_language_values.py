# SPDX-License-Identifier: Apache-2.0
"""The values that language users and older spellings get from layout functions."""

import pytest

import flydsl.layout as fl

RAKED = fl.Layout((2, 5), (5, 1)), fl.Layout((3, 4), (1, 3))

VALUES = [
    (lambda: fl.composition(fl.Layout((6, 2), (8, 2)), fl.Layout((4, 3), (3, 1))), "((2,2),3):((24,2),8)"),
    (lambda: fl.complement(fl.Layout(4, 1), 24), "6:4"),
    (lambda: fl.right_inverse(fl.Layout((4, 8), (8, 1))), "(8,4):(4,1)"),
    (lambda: fl.blocked_product(*RAKED), "((2,3),(5,4)):((5,10),(1,30))"),
    (lambda: fl.raked_product(*RAKED), "((3,2),(4,5)):((10,5),(30,1))"),
    (lambda: fl.zipped_divide(fl.Layout((4, 8), (8, 1)), (2, 4)), "((2,4),(2,2)):((8,1),(16,4))"),
    (lambda: fl.recast_layout(fl.Layout((4, 8), (8, 1)), 16, 32), "(4,4):(4,1)"),
    (lambda: fl.shape_div((6, 8), 12), "(1,4)"),
    (lambda: fl.get_flat_coord(3, fl.Layout(((2, 2), 4), ((1, 2), 4))), "(3,0)"),
    (lambda: fl.make_identity_layout((4, 8)), "(4,8):(1E0,1E1)"),
    (lambda: fl.crd2idx((3, 5), fl.Layout((8, 16), (1, 8))), "43"),
    (lambda: fl.idx2crd(43, fl.Layout((8, 16), (1, 8))), "(3,5)"),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES, ids=[expected for _, expected in VALUES])
def test_reference_value(compute, expected):
    assert fl.text_of(compute()) == expected
