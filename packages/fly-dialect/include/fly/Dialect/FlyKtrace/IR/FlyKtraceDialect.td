// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_TD
#define FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_TD

include "mlir/IR/DialectBase.td"

def FlyKtrace_Dialect : Dialect {
  let name = "fly_ktrace";
  let cppNamespace = "::fly::ktrace";
  let summary = "Events that the waves of a kernel record";
  let description = [{
    An event has a name, a time, the place of its wave on the chip and, optionally, a payload of 64 bits. It is recorded
    once per wave, whichever of its lanes are active. `convert-fly-ktrace-to-rocdl` writes events to a trace buffer, the
    kernel's last argument.
  }];
  let useDefaultTypePrinterParser = 1;
}

#endif // FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEDIALECT_TD
