// SPDX-License-Identifier: Apache-2.0
#include "sanitize/outstanding.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

bool countsAsVector(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch;
}
/// From gfx10 on flat accesses keep the order of both counters.
bool inAnyOrder(OpClass cls, const CounterSet &set) {
  return cls == OpClass::Flat && !set.separateStores();
}
bool countsAsLocal(OpClass cls) { return cls == OpClass::Lds || cls == OpClass::Flat; }

/// The oldest that may be left are those behind the first `keep`.
void retireInOrder(std::deque<Outstanding::Operation> &queue, uint32_t keep) {
  while (queue.size() > keep)
    queue.pop_front();
}

} // namespace

bool Outstanding::isDirect(const Instruction &inst) {
  return inst.opcode->cls == OpClass::Global || inst.opcode->cls == OpClass::Scratch;
}

bool Outstanding::writesBack(const Instruction &inst) {
  return inst.opcode->cls == OpClass::Control && inst.opcode->name == "buffer_wbl2";
}

/// Of those issued, `keep` may be left. One is certain to be complete if more than that would be
/// left with it: itself, and those issued later that return in order.
void Outstanding::retire(std::deque<Operation> &queue, size_t keep) {
  if (keep == 0)
    return queue.clear();
  auto behind =
      static_cast<size_t>(std::count_if(queue.begin(), queue.end(), [](const Operation &operation) {
        return operation.order == Return::InOrder;
      }));
  const auto isComplete = [&](const Operation &operation) {
    behind -= operation.order == Return::InOrder ? 1 : 0;
    return 1 + (operation.order == Return::AnyTime ? 0 : behind) > keep;
  };
  std::deque<Operation> left;
  for (Operation &operation : queue)
    if (!isComplete(operation))
      left.push_back(std::move(operation));
  queue = std::move(left);
}

void Outstanding::before(const Wave &wave, const Instruction &inst) {
  if (inst.opcode->cls != OpClass::Wait) {
    if (signals(inst))
      arrive(waves_[wave.index]);
    return;
  }
  Counters &counters = waves_[wave.index];
  const WaitCounts counts = waitCounts(inst, wave.launch->generation);
  if (counters.irregular == 0) {
    retireInOrder(counters.vector, counts.loads);
  } else if (counts.loads != WaitCounts::kAny) {
    retire(counters.vector, counts.loads);
    counters.irregular = static_cast<uint32_t>(
        std::count_if(counters.vector.begin(), counters.vector.end(),
                      [](const Operation &one) { return one.order != Return::InOrder; }));
  }
  retireInOrder(counters.stores, counts.stores);
  retireInOrder(counters.async, counts.async);
  retireInOrder(counters.tensor, counts.tensor);
  if (counts.local != WaitCounts::kAny)
    retire(counters.local, counts.local);
  if (counts.scalars == 0) // they return in any order
    counters.scalars.clear();
}

bool Outstanding::signals(const Instruction &inst) {
  return inst.opcode->cls == OpClass::Control &&
         inst.opcode->name.rfind("s_barrier_signal", 0) == 0;
}

void Outstanding::arrive(Counters &counters) const {
  Arrival arrival;
  arrival.retired = retired(counters);
  arrival.retiredStores = retiredStores(counters);
  arrival.retiredDirect = retiredDirect(counters);
  arrival.localRetired = localRetired(counters);
  for (const Operation &operation : counters.local)
    if (!operation.lds.empty())
      arrival.unordered.push_back(operation);
  counters.arrival = std::make_unique<Arrival>(std::move(arrival));
}

const Outstanding::Arrival &Outstanding::arrival(uint32_t wave) {
  Counters &counters = waves_[wave];
  if (counters.arrival == nullptr)
    arrive(counters);
  return *counters.arrival;
}

void Outstanding::barrier() {
  for (Counters &counters : waves_)
    counters.arrival.reset();
}

uint64_t Outstanding::retired(const Counters &counters) const {
  return counters.vector.empty() ? counters.issued : counters.vector.front().sequence - 1;
}
uint64_t Outstanding::retiredStores(const Counters &counters) const {
  if (!set_.separateStores())
    return retired(counters);
  uint64_t out = counters.stores.empty() ? counters.issued : counters.stores.front().sequence - 1;
  for (const std::deque<Operation> *copies : {&counters.async, &counters.tensor})
    for (const Operation &operation : *copies)
      if (operation.inst->opcode->name.find("_store_") != std::string::npos)
        out = std::min(out, operation.sequence - 1);
  return out;
}
uint64_t Outstanding::retiredDirect(const Counters &counters) const {
  if (counters.async.empty() && counters.tensor.empty())
    return set_.separateScalars() ? counters.issued : retired(counters);
  uint64_t out = counters.issued;
  for (const std::deque<Operation> *copies : {&counters.async, &counters.tensor})
    if (!copies->empty())
      out = std::min(out, copies->front().sequence - 1);
  return out;
}
uint64_t Outstanding::localRetired(const Counters &counters) {
  for (const Operation &operation : counters.local)
    if (!operation.scalar)
      return operation.localSequence - 1;
  return counters.localIssued;
}

void Outstanding::ldsAccess(const Wave &wave, const Instruction &inst, const LaneAccess &access) {
  if (isDirect(inst))
    return;
  std::vector<LdsPart> &parts = waves_[wave.index].lds;
  parts.push_back({access.kind, access.bytes, access.lanes, {}});
  std::array<uint32_t, kLanes> &to = parts.back().address;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = static_cast<uint32_t>(access.address[lane]);
}

void Outstanding::after(const Wave &wave, const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  Counters &counters = waves_[wave.index];
  const Operand dst = inst.dstCount != 0 ? inst.dst[0] : Operand();
  if (const Counter copy = countsAsVector(cls) ? copyCounter(inst) : Counter::Load;
      copy != Counter::Load) {
    std::deque<Operation> &queue = copy == Counter::Tensor ? counters.tensor : counters.async;
    if (queue.size() >= set_.most(copy))
      queue.pop_front();
    queue.push_back({dst, &inst, false, Return::InOrder, {}, ++counters.issued, 0});
  } else if (countsAsVector(cls)) {
    const Counter counter = set_.home(countsAsStore(inst) ? Counter::Store : Counter::Load);
    std::deque<Operation> &queue = counter == Counter::Store ? counters.stores : counters.vector;
    if (queue.size() >= set_.most(counter)) { // the counter would overflow: hardware waits
      counters.irregular -= queue.front().order != Return::InOrder && counter == Counter::Load;
      queue.pop_front();
    }
    // Where a flat access went to LDS, it may be counted off before earlier ones to memory.
    const bool early = inAnyOrder(cls, set_) && !counters.lds.empty();
    counters.irregular += early && counter == Counter::Load;
    queue.push_back(
        {dst, &inst, false, early ? Return::AnyTime : Return::InOrder, {}, ++counters.issued, 0});
  } else if (writesBack(inst)) {
    ++counters.irregular;
    counters.vector.push_back({dst, &inst, false, Return::Uncounted, {}, ++counters.issued, 0});
  }
  if (cls == OpClass::ScalarMemory && set_.separateScalars()) {
    counters.scalars.push_back({dst, &inst, true, Return::AnyTime, {}, 0, 0});
    return;
  }
  if (countsAsLocal(cls) || cls == OpClass::ScalarMemory) {
    // The same, where returns are in order.
    while (counters.local.size() >= set_.most(Counter::Local) && !counters.local.front().scalar)
      counters.local.pop_front();
    const bool isScalar = cls == OpClass::ScalarMemory;
    const uint64_t sequence = isScalar ? 0 : ++counters.localIssued;
    const Return order = isScalar || inAnyOrder(cls, set_) ? Return::AnyTime : Return::InOrder;
    counters.local.push_back({dst, &inst, isScalar, order, std::move(counters.lds), 0, sequence});
    counters.lds.clear();
    // Behind its signal a wave is past the barrier already, as far as the others know.
    if (counters.arrival != nullptr && wave.signalled && !isScalar)
      counters.arrival->unordered.push_back(counters.local.back());
  }
}

} // namespace flyemu
