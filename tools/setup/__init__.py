# SPDX-License-Identifier: Apache-2.0
"""How a machine gets ready to work on this repository; `tools/dev` is the command."""
