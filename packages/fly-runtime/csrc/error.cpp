// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <exception>
#include <new>
#include <system_error>

namespace flydsl::runtime {

namespace {

// What std::thread and the locks throw when the system has no more of something.
bool is_shortage(const std::exception &error) {
  const auto *system = dynamic_cast<const std::system_error *>(&error);
  return system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                               system->code() == std::errc::not_enough_memory);
}

// A message may itself come when there is no memory for it.
std::string copied(const char *text) noexcept {
  try {
    return text;
  } catch (const std::bad_alloc &) {
    return {};
  }
}

} // namespace

LastError &last_error() noexcept {
  thread_local LastError error;
  return error;
}

int32_t record_failure(Failure failure) noexcept {
  LastError &error = last_error();
  error.status = failure.status;
  error.text = std::move(failure.text);
  error.argument = failure.argument;
  error.launched = false;
  return error.status;
}

int32_t record_launched() noexcept {
  LastError &error = last_error();
  error.launched = true;
  if (error.status == FLYDSL_ERROR_RUNTIME)
    error.status = FLYDSL_ERROR_LAUNCH;
  return error.status;
}

int32_t record_current_exception() noexcept {
  try {
    throw;
  } catch (Failure &failure) {
    return record_failure(std::move(failure));
  } catch (const std::bad_alloc &) {
    return record_failure({FLYDSL_ERROR_MEMORY, "out of memory"}); // too short for an allocation
  } catch (const std::exception &error) {
    return record_failure(
        {is_shortage(error) ? FLYDSL_ERROR_MEMORY : FLYDSL_ERROR_RUNTIME, copied(error.what())});
  } catch (...) {
    return record_failure({FLYDSL_ERROR_RUNTIME, copied("unknown C++ exception")});
  }
}

} // namespace flydsl::runtime
