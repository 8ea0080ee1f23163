# SPDX-License-Identifier: Apache-2.0
"""The layout algebra, one operation a file. In the order in which they import each other:

`sizes`, `coalesce`; `complement`, `composition`, `inverse`; `divide`; `product`; `common`, `compact`, `recast`,
`reshape`.
"""
