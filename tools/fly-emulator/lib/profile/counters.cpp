// SPDX-License-Identifier: Apache-2.0
#include "profile/counters.h"

#include <algorithm>

#include "support/format.h"

namespace flyemu {
namespace {

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

void Counters::add(const Counters &other) {
  instructions += other.instructions;
  lanes += other.lanes;
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  scalarBytes += other.scalarBytes;
  transactions += other.transactions;
  ldsBytes += other.ldsBytes;
  ldsAccesses += other.ldsAccesses;
  ldsConflictCycles += other.ldsConflictCycles;
  flops += other.flops;
  issueCycles += other.issueCycles;
  matrixCycles += other.matrixCycles;
  slotCycles += other.slotCycles;
}

double Counters::matrixShare() const { return ratio(matrixCycles, issueCycles); }

double Counters::matrixBound() const {
  return ratio(matrixCycles, std::max(matrixCycles, slotCycles));
}

std::string Counters::json() const {
  const struct {
    const char *name;
    uint64_t value;
  } fields[] = {{"instructions", instructions},
                {"lanes", lanes},
                {"bytes_loaded", bytesLoaded},
                {"bytes_stored", bytesStored},
                {"scalar_bytes", scalarBytes},
                {"transactions", transactions},
                {"lds_bytes", ldsBytes},
                {"lds_accesses", ldsAccesses},
                {"lds_conflict_cycles", ldsConflictCycles},
                {"flops", flops},
                {"issue_cycles", issueCycles},
                {"mfma_cycles", matrixCycles},
                {"slot_cycles", slotCycles}};
  std::string out;
  for (const auto &field : fields)
    out += format("%s\"%s\": %llu", out.empty() ? "{" : ", ", field.name,
                  static_cast<unsigned long long>(field.value));
  return out + "}";
}

} // namespace flyemu
