// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyDialect: the types of the fly dialect.

#include "LayoutTypes.h"
#include "PyTuples.h"

using namespace nanobind::literals;

NB_MODULE(_flyDialect, m) {
  namespace python = fly::python;
  m.doc() = "Types of the fly dialect.";
  python::bindTupleValues(m);
  python::bindLayoutTypes(m);
  python::bindMemoryTypes(m);
  python::bindAtomTypes(m);
  m.def(
      "is_static_type",
      [](const python::mp::PyType &type) { return fly::isStaticType(unwrap(type.get())); },
      "type"_a,
      "Whether the type describes its value completely, so that the value can be rebuilt.");
}
