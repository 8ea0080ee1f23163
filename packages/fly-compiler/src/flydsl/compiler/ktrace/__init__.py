# SPDX-License-Identifier: Apache-2.0
"""Recording of events inside kernels: what `fx.ktrace` emits is configured, buffered, decoded and drawn here.

Nothing is imported here: a process that records no events loads the settings alone.
"""
