# SPDX-License-Identifier: Apache-2.0
"""What a trace is: its state and source locations, builders of operations, values and what wraps them, hints."""
