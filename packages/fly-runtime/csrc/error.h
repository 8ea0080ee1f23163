// SPDX-License-Identifier: Apache-2.0
//
// Failures: inside the library an exception, at the C boundary a status and a thread-local text.
#ifndef FLYDSL_CSRC_ERROR_H
#define FLYDSL_CSRC_ERROR_H

#include "flydsl/runtime.h"
#include "forks.h"

#include <cstdint>
#include <string>
#include <utility>

namespace flydsl::runtime {

// Thrown inside the library only; `guarded` turns it into a status before C code sees it.
struct Failure {
  FlyStatus status;
  std::string text;
  int argument = -1; // the one that was refused
};

[[noreturn]] inline void fail(FlyStatus status, std::string text) {
  throw Failure{status, std::move(text)};
}

// The calling thread's last failure.
struct LastError {
  FlyStatus status = FLYDSL_OK;
  std::string text;
  int argument = -1;
  bool launched = false; // the device had been given work
};
LastError &last_error() noexcept;

int32_t record_failure(Failure failure) noexcept;

// Says of the last failure that the device had been given work when it came, and returns its
// status: what was the library's failure is the device's then.
int32_t record_launched() noexcept;

// Records the exception in flight; to be called from a catch block.
int32_t record_current_exception() noexcept;

// Runs `body` at the C boundary: no exception leaves it, and no other thread forks meanwhile.
template <typename Body> int32_t guarded(Body &&body) noexcept {
  const InLibrary call;
  try {
    body();
    return FLYDSL_OK;
  } catch (...) {
    return record_current_exception();
  }
}

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_ERROR_H
