# SPDX-License-Identifier: Apache-2.0
"""Searches that do not try everything: spaces with constraints, methods, budgets, and what is remembered of them."""
