# SPDX-License-Identifier: Apache-2.0
"""Int-tuples, layouts and their algebra."""
