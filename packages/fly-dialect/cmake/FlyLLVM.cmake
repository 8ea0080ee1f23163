# SPDX-License-Identifier: Apache-2.0
# Finds LLVM and MLIR, and how to link them.
#
# libMLIR.so and libLLVM.so are named by path, never as CMake's imported static targets: those would link second copies
# of MLIR's libraries into this process, and every type and dialect would exist twice. With FLY_STATIC, which is how a
# release is built, what is needed of them is linked into libFlyDialect.so, the only library that there is then.

find_package(MLIR 22.1 REQUIRED CONFIG
  HINTS /usr/lib/llvm-22/lib/cmake/mlir
  PATHS /usr/lib/llvm-22)

set(FLY_LLVM_LIB_DIR ${LLVM_LIBRARY_DIR})
# What code is generated for; a static build holds no other target.
set(FLY_LLVM_TARGETS AMDGPU NVPTX X86)
find_library(FLY_LIBMLIR MLIR PATHS ${FLY_LLVM_LIB_DIR} NO_DEFAULT_PATH REQUIRED)
find_library(FLY_LIBLLVM LLVM PATHS ${FLY_LLVM_LIB_DIR} NO_DEFAULT_PATH REQUIRED)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# AddMLIR's tablegen functions write below these.
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Sets `output` to the archives libMLIR<component>.a, which libMLIR.so does not contain.
function(fly_mlir_archives output)
  set(files)
  foreach(component IN LISTS ARGN)
    set(file ${FLY_LLVM_LIB_DIR}/libMLIR${component}.a)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "${file} does not exist; is libmlir-${LLVM_VERSION_MAJOR}-dev complete?")
    endif()
    list(APPEND files ${file})
  endforeach()
  set(${output} ${files} PARENT_SCOPE)
endfunction()

find_program(FLY_LLD NAMES ld.lld-${LLVM_VERSION_MAJOR} ld.lld)
if(FLY_LLD)
  add_link_options(--ld-path=${FLY_LLD})
endif()
add_link_options(LINKER:--gc-sections LINKER:-z,defs)
