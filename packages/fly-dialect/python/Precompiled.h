// SPDX-License-Identifier: Apache-2.0
//
// What most files of the Python bindings include, MLIR's own among them: parsed once for all of
// them. A file still includes what it uses.
#ifndef FLY_PYTHON_PRECOMPILED_H
#define FLY_PYTHON_PRECOMPILED_H

#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "mlir/Bindings/Python/IRAttributes.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/IRTypes.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#endif // FLY_PYTHON_PRECOMPILED_H
