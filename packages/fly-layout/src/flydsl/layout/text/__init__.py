# SPDX-License-Identifier: Apache-2.0
"""The textual form: `printing` writes it, `parsing` reads it."""
