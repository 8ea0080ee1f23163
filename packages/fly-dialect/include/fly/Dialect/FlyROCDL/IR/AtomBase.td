// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD
#define FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD

include "fly/Dialect/Fly/IR/AtomOpInterface.td"
include "fly/Dialect/Fly/IR/FlyAttributes.td"
include "fly/Dialect/Fly/IR/FlyInterfaces.td"
include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.td"
include "mlir/IR/AttrTypeBase.td"

// Every atom is verified when it is made: what exists as a type is an operation of the architecture.
// `answers` are methods of AtomOpTypeInterface that it answers itself though they have a default.
class FlyROCDL_Atom<string name, string typeMnemonic, list<Trait> traits, list<string> answers = []>
    : TypeDef<FlyROCDL_Dialect, name,
              [DeclareTypeInterfaceMethods<Fly_AtomOpTypeInterface, answers>] # traits> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

class FlyROCDL_CopyAtom<string name, string typeMnemonic, list<Trait> traits = [],
                        list<string> answers = []>
    : FlyROCDL_Atom<name, typeMnemonic,
                    [DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>] # traits, answers>;

// `overrides` are such methods of MmaOpTypeInterface.
class FlyROCDL_MmaAtom<string name, string typeMnemonic, list<Trait> traits = [],
                       list<string> overrides = [], list<string> answers = []>
    : FlyROCDL_Atom<name, typeMnemonic,
                    [DeclareTypeInterfaceMethods<Fly_MmaOpTypeInterface, overrides>] # traits,
                    answers>;

defvar FlyROCDL_Stateful = DeclareTypeInterfaceMethods<Fly_StatefulOpTypeInterface>;
defvar FlyROCDL_WholeTile
    = DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface, ["isWholeTileCopy"]>;

#endif // FLY_DIALECT_FLYROCDL_IR_ATOMBASE_TD
