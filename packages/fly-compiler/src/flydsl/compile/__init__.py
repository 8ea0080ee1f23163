# SPDX-License-Identifier: Apache-2.0
"""From a traced module to an artifact: stages, backends, the cache, notes and reports."""
