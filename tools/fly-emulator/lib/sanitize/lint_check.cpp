// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lint_check.h"

#include "execute/opcode.h"

namespace flyemu {

void LintCheck::before(Wave &wave, const Instruction &inst) {
  if (!gfx950_ || inst.srcCount < 3 || inst.opcode->name != "v_pk_fma_f32")
    return;
  const auto high = [&](unsigned i) { return (inst.src[i].modifiers & modifier::kOpSel) != 0; };
  if (!high(0) && high(1) && !high(2))
    sink_.add({"lint", wave, inst}, [] {
      return std::string("gfx950 silicon mis-executes v_pk_fma_f32 with op_sel:[0,1,0]; move the "
                         "high half of the second operand into a low half first");
    });
}

} // namespace flyemu
