// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD
#define FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD

include "fly/Dialect/Fly/IR/FlyAttributes.td"
include "fly/Dialect/Fly/IR/FlyInterfaces.td"
include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.td"
include "mlir/IR/AttrTypeBase.td"

// Every atom is verified when it is made: what exists as a type is an operation of the architecture.
class FlyROCDL_Atom<string name, string typeMnemonic, list<Trait> traits>
    : TypeDef<FlyROCDL_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

class FlyROCDL_CopyAtom<string name, string typeMnemonic, list<Trait> traits = []>
    : FlyROCDL_Atom<name, typeMnemonic,
                    [DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>] # traits>;

// `overrides` are methods of the interface that it answers itself though they have a default.
class FlyROCDL_MmaAtom<string name, string typeMnemonic, list<Trait> traits = [],
                       list<string> overrides = []>
    : FlyROCDL_Atom<name, typeMnemonic,
                    [DeclareTypeInterfaceMethods<Fly_MmaOpTypeInterface, overrides>] # traits>;

defvar FlyROCDL_Stateful = DeclareTypeInterfaceMethods<Fly_StatefulOpTypeInterface>;
defvar FlyROCDL_WholeTile
    = DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface, ["isWholeTileCopy"]>;

#endif // FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD
