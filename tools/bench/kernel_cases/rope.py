# SPDX-License-Identifier: Apache-2.0
"""x."""


def cases(arch):
    return iter(())
