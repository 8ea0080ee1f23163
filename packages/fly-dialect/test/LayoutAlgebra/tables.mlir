// SPDX-License-Identifier: Apache-2.0
// All rows of all tables in data/, as declared result types that inference has to agree with.
// RUN: %python %S/table_to_mlir.py %S/data | fly-opt --split-input-file --verify-diagnostics -o /dev/null
