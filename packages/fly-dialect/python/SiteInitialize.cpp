// SPDX-License-Identifier: Apache-2.0
//
// MLIR's bindings import a module of this name when they are loaded: it says what every context
// that Python creates knows.

#include "fly/Emit/CrashGuard.h"
#include "fly/Registration.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/CAPI/IR.h"

NB_MODULE(_site_initialize_0, m) {
  m.doc() = "Registers the dialects and passes of FlyDSL with MLIR's Python bindings.";
  m.def("register_dialects",
        [](MlirDialectRegistry registry) { fly::registerDialects(*unwrap(registry)); });
  fly::registerPasses();
  fly::raiseBadAlloc(); // nanobind makes a MemoryError of it
}
