// SPDX-License-Identifier: Apache-2.0
#include "execute/lane_tables.h"

#include "support/environment.h"
#include "support/error.h"

namespace flyemu {

namespace lanes_baseline {
const LaneTable &table();
}
#if defined(__x86_64__)
namespace lanes_avx2 {
const LaneTable &table();
}
namespace lanes_avx512 {
const LaneTable &table();
}
#endif

namespace {

struct Choice {
  const char *name;
  const LaneTable *table;
};

Choice choose() {
  const std::string wanted = environmentString("FLYDSL_EMU_ISA", "");
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("x86-64-v4") != 0;
  const bool avx2 = __builtin_cpu_supports("x86-64-v3") != 0;
  if (avx512 && (wanted.empty() || wanted == "avx512"))
    return {"avx512", &lanes_avx512::table()};
  if (avx2 && (wanted.empty() || wanted == "avx2"))
    return {"avx2", &lanes_avx2::table()};
#endif
  if (wanted.empty() || wanted == "baseline")
    return {"baseline", &lanes_baseline::table()};
  throw EmulatorError(hipErrorInvalidValue,
                      "FLYDSL_EMU_ISA=" + wanted +
                          ": this machine has no such variant (baseline, avx2, avx512)");
}

const Choice &chosen() {
  static const Choice choice = choose();
  return choice;
}

} // namespace

const LaneTable &laneTable() { return *chosen().table; }
const char *laneTableName() { return chosen().name; }

} // namespace flyemu
