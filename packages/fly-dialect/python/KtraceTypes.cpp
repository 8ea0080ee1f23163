// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyKtraceDialect: the type of the fly_ktrace dialect.

#include "TypeBinding.h"

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace fly::python {
namespace {

struct PyToken : TypeBinding<PyToken, ktrace::TokenType> {
  static constexpr const char *pyClassName = "TokenType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](mp::DefaultingPyMlirContext context) {
          mlir::MLIRContext *cpp = loadContext<ktrace::FlyKtraceDialect>(context);
          return PyToken(context->getRef(), wrap(mlir::Type(CppType::get(cpp))));
        },
        "context"_a = nb::none());
  }
};

} // namespace
} // namespace fly::python

NB_MODULE(_flyKtraceDialect, m) {
  m.doc() = "The type of the fly_ktrace dialect.";
  fly::python::PyToken::bind(m);
  m.def(
      "recording_chips",
      [] {
        return std::vector<std::string>(std::begin(fly::ktrace::recordingChips),
                                        std::end(fly::ktrace::recordingChips));
      },
      "The chips that record events.");
}
