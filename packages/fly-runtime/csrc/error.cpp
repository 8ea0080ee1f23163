// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <exception>
#include <new>

namespace flydsl::runtime {

LastError &last_error() noexcept {
  thread_local LastError error;
  return error;
}

int32_t record_failure(FlyStatus status, std::string text) noexcept {
  LastError &error = last_error();
  error.status = status;
  error.text = std::move(text);
  return status;
}

int32_t record_current_exception() noexcept {
  try {
    throw;
  } catch (Failure &failure) {
    return record_failure(failure.status, std::move(failure.text));
  } catch (const std::bad_alloc &) {
    return record_failure(FLYDSL_ERROR_RUNTIME, "out of memory"); // short enough for no allocation
  } catch (const std::exception &error) {
    return record_failure(FLYDSL_ERROR_RUNTIME, error.what());
  } catch (...) {
    return record_failure(FLYDSL_ERROR_RUNTIME, "unknown C++ exception");
  }
}

} // namespace flydsl::runtime
