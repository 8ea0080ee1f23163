// SPDX-License-Identifier: Apache-2.0
//
// The types of the fly_rocdl dialect: one file per kind of atom.

#ifndef FLY_DIALECT_FLYROCDL_IR_FLYROCDLTYPES_TD
#define FLY_DIALECT_FLYROCDL_IR_FLYROCDLTYPES_TD

include "fly/Dialect/FlyROCDL/IR/CopyAtoms.td"
include "fly/Dialect/FlyROCDL/IR/MmaAtoms.td"
include "fly/Dialect/FlyROCDL/IR/TensorAtoms.td"

#endif // FLY_DIALECT_FLYROCDL_IR_FLYROCDLTYPES_TD
