// SPDX-License-Identifier: Apache-2.0
//
// The fly_ktrace dialect: its token and its events.

#ifndef FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_H
#define FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fly::ktrace {

/// What an event says about its name. The numbers are those of the trace buffer.
enum class EventKind { Mark = 0, Push = 1, Pop = 2, Start = 3, Stop = 4 };

/// The chips that record events. Others have no s_memrealtime, or have other hardware registers
/// under the same numbers.
inline constexpr llvm::StringLiteral recordingChips[] = {"gfx942", "gfx950"};

} // namespace fly::ktrace

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.h.inc"
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceTypes.h.inc"

#define GET_OP_CLASSES
#include "fly/Dialect/FlyKtrace/IR/FlyKtraceOps.h.inc"

#endif // FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_H
