// SPDX-License-Identifier: Apache-2.0
#include "tvm_ffi.h"

#include "dtype.h"

#include <dlfcn.h>

namespace flydsl::runtime {

namespace {

struct TvmFfi {
  void (*raise)(const char *kind, const char *message) = nullptr;
  void *(*stream)(int32_t deviceType, int32_t deviceId) = nullptr;
};

void *look_up(const char *name) {
  if (void *found = dlsym(RTLD_DEFAULT, name))
    return found;
  // Not in the global scope: whoever called through tvm-ffi may have loaded it locally.
  void *library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

const TvmFfi &tvm_ffi() {
  static const TvmFfi functions = [] {
    TvmFfi found;
    found.raise = reinterpret_cast<decltype(found.raise)>(look_up("TVMFFIErrorSetRaisedFromCStr"));
    found.stream = reinterpret_cast<decltype(found.stream)>(look_up("TVMFFIEnvGetStream"));
    return found;
  }();
  return functions;
}

const char *python_exception(FlyStatus status) {
  switch (status) {
  case FLYDSL_ERROR_TYPE:
    return "TypeError";
  case FLYDSL_ERROR_VALUE:
    return "ValueError";
  case FLYDSL_ERROR_MEMORY:
    return "flydsl.OutOfMemoryError";
  case FLYDSL_ERROR_LAUNCH:
    return "flydsl.LaunchError";
  default:
    return "flydsl.DeviceError";
  }
}

} // namespace

void raise_last_error_in_tvm_ffi() noexcept {
  const LastError &error = last_error();
  if (tvm_ffi().raise != nullptr)
    tvm_ffi().raise(python_exception(error.status), error.text.c_str());
}

void *framework_stream(int kind, int device) noexcept {
  return tvm_ffi().stream == nullptr ? nullptr : tvm_ffi().stream(kind, device);
}

std::string describe_argument(const TVMFFIAny &argument) {
  switch (argument.type_index) {
  case kTVMFFINone:
    return "None";
  case kTVMFFIInt:
    return "the integer " + std::to_string(argument.v_int64);
  case kTVMFFIBigInt:
    return "an integer of more than 64 bits";
  case kTVMFFIBool:
    return argument.v_int64 != 0 ? "True" : "False";
  case kTVMFFIFloat:
    return "the number " + std::to_string(argument.v_float64);
  case kTVMFFIOpaquePtr:
    return "a pointer";
  case kTVMFFIDLTensorPtr:
    return "a " + dtype_name(static_cast<const DLTensor *>(argument.v_ptr)->dtype) + " tensor";
  case kTVMFFITensor:
    return "a " + dtype_name(TVMFFITensorGetDLTensorPtr(argument.v_obj)->dtype) + " tensor";
  case kTVMFFIRawStr:
  case kTVMFFIStr:
  case kTVMFFISmallStr:
    return "a string";
  case kTVMFFIBytes:
  case kTVMFFISmallBytes:
  case kTVMFFIByteArrayPtr:
    return "bytes";
  case kTVMFFIArray:
  case kTVMFFIList:
    return "a sequence";
  case kTVMFFIMap:
  case kTVMFFIDict:
    return "a mapping";
  case kTVMFFIDataType:
    return "a data type";
  case kTVMFFIDevice:
    return "a device";
  case kTVMFFIFunction:
    return "a function";
  default:
    return "an object of another kind";
  }
}

} // namespace flydsl::runtime
