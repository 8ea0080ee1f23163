// SPDX-License-Identifier: Apache-2.0
//
// Values of the algebra from and to plain Python values.

#ifndef FLY_PYTHON_PYTUPLES_H
#define FLY_PYTHON_PYTUPLES_H

#include "TypeBinding.h"

namespace fly::python {

/// Stands for a leaf whose value is known at run time only.
struct Dynamic {
  int32_t width = 32;
  int32_t divisibility = 1;
};

/// Stands for a basis element.
struct BasisElement {
  nb::object value;
  std::vector<int32_t> modes;
};

/// The tuple that a Python value spells: an int (or what has `__index__`), None, a Dynamic, a
/// BasisElement, an IntTupleType or a BasisType, or a non-empty tuple or list of these. Throws
/// TypeError, ValueError or OverflowError.
IntTuple tupleFromPython(nb::handle value);
/// The reverse: ints, None, Dynamic, BasisElement and nested tuples.
nb::object tupleToPython(const IntTuple &tuple);

/// The tile that a Python value spells: an int, None, a LayoutType, a TileType, or a tuple or list
/// of these.
Tile tileFromPython(nb::handle value);

void bindTupleValues(nb::module_ &m);

} // namespace fly::python

#endif // FLY_PYTHON_PYTUPLES_H
