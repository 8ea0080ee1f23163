# SPDX-License-Identifier: Apache-2.0
"""The kernel library: one kernel per file, by family.

Importing this package or any module of it needs fly-runtime only. A builder (`build_…`, `compile_…`) imports the
compiler when it is called, and says which extra to install when there is none.
"""
