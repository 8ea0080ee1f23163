# SPDX-License-Identifier: Apache-2.0
"""The layout algebra, one operation a file, in dependency order.

`sizes`, `coalesce`, `composition`, `complement`, `inverse`, `divide`, `product`, `recast`, `compact`, `reshape`,
`common`.
"""
