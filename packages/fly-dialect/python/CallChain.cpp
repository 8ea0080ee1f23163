// SPDX-License-Identifier: Apache-2.0
//
// Two questions that a trace asks for each operation: which code makes it, and whether its operands
// are of the same trace. In Python their answers take longer than the operation.

#include "CallChain.h"
#include "StableAbi.h"

#include "mlir/Bindings/Python/IRCore.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace nb = nanobind;
namespace mp = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

using namespace nb::literals;

/// See the docstring below.
static nb::object callChain(nb::handle boundary, nb::dict library) {
  llvm::SmallVector<int64_t, 16> chain;
  nb::object frame =
      nb::steal(reinterpret_cast<PyObject *>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame.is_valid()) {
    auto *current = reinterpret_cast<PyFrameObject *>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(current)));
    if (code.is(boundary))
      break;
    nb::object filename = fly::python::fileOf(reinterpret_cast<PyCodeObject *>(code.ptr()));
    PyObject *isLibrary = PyDict_GetItemWithError(library.ptr(), filename.ptr());
    if (!isLibrary) {
      if (PyErr_Occurred())
        nb::raise_python_error();
      return filename;
    }
    if (isLibrary == Py_False) {
      chain.push_back(reinterpret_cast<int64_t>(code.ptr()));
      chain.push_back(fly::python::instructionOf(current));
    }
    frame = nb::steal(reinterpret_cast<PyObject *>(fly::python::callerOf(current)));
  }
  return nb::bytes(chain.data(), chain.size() * sizeof(int64_t));
}

/// See the docstring below.
static nb::object foreignOperand(nb::handle context, nb::sequence operands) {
  mp::PyMlirContext *expected = nb::cast<mp::PyMlirContext *>(context);
  if (&mp::DefaultingPyMlirContext::resolve() != expected)
    return nb::borrow(context);
  for (nb::handle operand : operands)
    if (nb::cast<mp::PyValue &>(operand).getParentOperation()->getContext().get() != expected)
      return nb::borrow(operand);
  return nb::none();
}

void fly::python::bindCallChain(nb::module_ &m) {
  m.def("call_chain", callChain, "boundary"_a, "library"_a,
        "Which instructions of users' code are being run, innermost first, as bytes: the address "
        "of the code and the offset in it of each frame up to the one that runs the code "
        "`boundary`. Frames whose file name is True in `library` are left out; a file name that it "
        "does not have is returned.");
  m.def("foreign_operand", foreignOperand, "context"_a, "operands"_a,
        "The first of the values that is not of the context; the context itself when another one "
        "is the current one; else None.");
}
