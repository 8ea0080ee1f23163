# SPDX-License-Identifier: Apache-2.0
"""Matrix products, one kernel a file."""
