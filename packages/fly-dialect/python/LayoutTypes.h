// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_PYTHON_LAYOUTTYPES_H
#define FLY_PYTHON_LAYOUTTYPES_H

#include "TypeBinding.h"

namespace fly::python {

/// The layout that a LayoutType or ComposedLayoutType spells; otherwise TypeError naming `what`.
AnyLayout anyLayoutOf(const mp::PyType &type, const char *what);

/// IntTupleType, BasisType, SwizzleType, CoordSwizzleType, LayoutType, ComposedLayoutType,
/// TileType.
void bindLayoutTypes(nb::module_ &m);
/// PointerType, MemRefType, CoordTensorType.
void bindMemoryTypes(nb::module_ &m);
/// CopyAtomType, MmaAtomType, TiledCopyType, TiledMmaType and the universal operations.
void bindAtomTypes(nb::module_ &m);

} // namespace fly::python

#endif // FLY_PYTHON_LAYOUTTYPES_H
