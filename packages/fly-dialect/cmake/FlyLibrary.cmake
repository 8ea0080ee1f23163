# SPDX-License-Identifier: Apache-2.0
# Functions that declare the C++ parts of this package.
#
# Everything is compiled as object libraries and linked once, into libFlyDialect.so, which the Python bindings, fly-opt
# and the unit tests share. One copy means one TypeID per type.

# Warnings and code generation that hold for all of our own C++.
add_library(FlyCompileOptions INTERFACE)
target_include_directories(FlyCompileOptions INTERFACE ${PROJECT_SOURCE_DIR}/include)
# What tablegen generates does not meet our warnings; nor do LLVM's headers.
target_include_directories(FlyCompileOptions SYSTEM INTERFACE
  ${PROJECT_BINARY_DIR}/include ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(FlyCompileOptions INTERFACE
  _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
target_compile_options(FlyCompileOptions INTERFACE
  -Wall -Wextra -Werror -fno-exceptions -fvisibility-inlines-hidden -ffunction-sections -fdata-sections)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(FlyCompileOptions INTERFACE -fno-rtti)
endif()
# -O3, CMake's default for Release, costs a fifth more compile time and gains nothing measurable here.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}" CACHE STRING "Flags of Release builds" FORCE)

# fly_add_library(NAME SOURCES... [DEPENDS targets...] [LINK_LIBS files...])
#
# Adds an object library that becomes part of libFlyDialect.so. DEPENDS are tablegen targets whose headers it includes;
# LINK_LIBS are what libFlyDialect.so must link for it.
function(fly_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC FlyCompileOptions)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY FLY_OBJECT_LIBRARIES ${name})
  set_property(GLOBAL APPEND PROPERTY FLY_LINK_LIBRARIES ${ARG_LINK_LIBS})
endfunction()

# fly_add_executable(NAME SOURCES... [DEPENDS targets...]): a program that links libFlyDialect.so.
function(fly_add_executable name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE FlyCompileOptions FlyDialect)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # Relative, so that a copy of the build tree's bin and python_packages works.
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "\$ORIGIN/../python_packages/${FLY_INSTALL_ROOT}/_mlir_libs;${FLY_LLVM_LIB_DIR}" BUILD_RPATH_USE_ORIGIN ON)
endfunction()

function(fly_add_subdirectory_if_exists folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()
