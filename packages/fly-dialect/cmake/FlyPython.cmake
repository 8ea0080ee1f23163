# SPDX-License-Identifier: Apache-2.0
# Builds the tree of the Python package flydsl._mlir below ${FLY_PYTHON_ROOT}, and installs it.
#
# AddMLIRPython's functions are not used: they link the imported static LLVMSupport into every module, and symlink
# sources into the build tree.

# scikit-build-core asks for the limited API from Python 3.12 on (wheel.py-api in pyproject.toml).
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
if(SKBUILD_SABI_COMPONENT)
  set(FLY_STABLE_ABI ON)
  set(FLY_ABI_SUFFIX -abi3)
else()
  set(FLY_STABLE_ABI OFF)
  set(FLY_ABI_SUFFIX)
endif()
if(NOT nanobind_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_DIR RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "nanobind is not installed for ${Python_EXECUTABLE}: pip install 'nanobind>=2.9,<3'")
  endif()
endif()
# The interface of LLVM 22's bindings; nanobind 3 may change it.
find_package(nanobind 2.9 REQUIRED CONFIG)

# nanobind types and MLIR's binding classes are shared by the extension modules of this domain, and with nobody else's.
set(FLY_NB_DOMAIN flydsl)
# Headers of MLIR's bindings that python/CMakeLists.txt changes.
set(FLY_CHANGED_HEADERS ${PROJECT_BINARY_DIR}/changed_headers)
set(FLY_PYTHON_LIBS ${FLY_PYTHON_ROOT}/_mlir_libs)

function(fly_python_compile_flags target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/python)
  target_include_directories(${target} SYSTEM PRIVATE
    ${FLY_CHANGED_HEADERS} ${PROJECT_BINARY_DIR}/include ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  add_dependencies(${target} FlyIRIncGen FlyROCDLIncGen FlyNVVMIncGen FlyKtraceIncGen)
  target_compile_definitions(${target} PRIVATE
    _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS
    MLIR_PYTHON_PACKAGE_PREFIX=flydsl._mlir. MLIR_BINDINGS_PYTHON_DOMAIN=${FLY_NB_DOMAIN} NB_DOMAIN=${FLY_NB_DOMAIN})
  target_compile_options(${target} PRIVATE -frtti -fexceptions "SHELL:-Xclang -fno-pch-timestamp") # else ccache refuses
endfunction()

function(fly_install_python_library target rpath)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${FLY_PYTHON_LIBS}
    BUILD_RPATH "${rpath}"
    INSTALL_RPATH "${rpath}"
    INTERPROCEDURAL_OPTIMIZATION OFF
    INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)
  target_link_options(${target} PRIVATE LINKER:-z,undefs)
  install(TARGETS ${target} LIBRARY DESTINATION ${FLY_INSTALL_ROOT}/_mlir_libs)
endfunction()

# fly_python_support(SOURCES... [LINK_OPTIONS options...])
#
# nanobind, and the classes that extension modules derive theirs from: they exist once, in libraries that all extension
# modules share; in a static build in libFlyDialect.so.
function(fly_python_support)
  cmake_parse_arguments(ARG "" "" "LINK_OPTIONS" ${ARGN})
  if(FLY_STATIC)
    set(nanobind nanobind-static${FLY_ABI_SUFFIX})
    nanobind_build_library(${nanobind} AS_SYSINCLUDE)
    add_library(FlyPythonSupport OBJECT ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(FlyPythonSupport PUBLIC ${nanobind})
    target_sources(FlyDialect PRIVATE $<TARGET_OBJECTS:FlyPythonSupport>)
    target_link_libraries(FlyDialect PRIVATE ${nanobind})
    target_link_options(FlyDialect PRIVATE ${ARG_LINK_OPTIONS})
    nanobind_set_visibility(FlyPythonSupport)
  else()
    set(nanobind nanobind${FLY_ABI_SUFFIX}-${FLY_NB_DOMAIN})
    nanobind_build_library(${nanobind} AS_SYSINCLUDE)
    fly_install_python_library(${nanobind} "\$ORIGIN")
    add_library(FlyPythonSupport SHARED ${ARG_UNPARSED_ARGUMENTS})
    target_link_options(FlyPythonSupport PRIVATE ${ARG_LINK_OPTIONS})
    target_link_libraries(FlyPythonSupport PUBLIC ${nanobind} PRIVATE FlyDialect)
    fly_install_python_library(FlyPythonSupport "\$ORIGIN;${FLY_LLVM_LIB_DIR}")
  endif()
  target_compile_definitions(${nanobind} PRIVATE NB_DOMAIN=${FLY_NB_DOMAIN})
  if(FLY_STABLE_ABI)
    target_compile_definitions(${nanobind} PUBLIC Py_LIMITED_API=0x030C0000)
  endif()
  target_compile_definitions(FlyPythonSupport PRIVATE MLIR_CAPI_BUILDING_LIBRARY=1)
  fly_python_compile_flags(FlyPythonSupport)
  target_precompile_headers(FlyPythonSupport PRIVATE ${PROJECT_SOURCE_DIR}/python/Precompiled.h)
endfunction()

# fly_python_extension(NAME sources... [WARNINGS] [LINK_OPTIONS options...]): the extension module
# flydsl._mlir._mlir_libs.NAME. WARNINGS compiles it with our own warning flags; MLIR's sources are compiled without. In a static build the module's
# code is in libFlyDialect.so, and the module itself is a call into that.
function(fly_python_extension name)
  cmake_parse_arguments(ARG "WARNINGS" "" "LINK_OPTIONS" ${ARGN})
  set(module FlyPython.${name})
  if(FLY_STATIC)
    set(compiled ${module}.objects)
    add_library(${compiled} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${compiled} PRIVATE nanobind-static${FLY_ABI_SUFFIX})
    nanobind_set_visibility(${compiled})
    target_sources(FlyDialect PRIVATE $<TARGET_OBJECTS:${compiled}>)
    target_link_options(FlyDialect PRIVATE LINKER:--defsym=FlyInit_${name}=PyInit_${name})
    configure_file(static_module.c.in ${name}.c @ONLY)
    add_library(${module} MODULE ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    target_link_libraries(${module} PRIVATE FlyDialect)
    if(FLY_STABLE_ABI)
      nanobind_extension_abi3(${module})
    else()
      nanobind_extension(${module})
    endif()
    nanobind_strip(${module})
    fly_install_python_library(${module} "\$ORIGIN")
  else()
    set(compiled ${module})
    set(stable)
    if(FLY_STABLE_ABI)
      set(stable STABLE_ABI)
    endif()
    nanobind_add_module(${module} ${stable} NB_SHARED NB_DOMAIN ${FLY_NB_DOMAIN} NOMINSIZE ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${module} PRIVATE FlyPythonSupport FlyDialect)
    target_link_options(${module} PRIVATE ${ARG_LINK_OPTIONS})
    fly_install_python_library(${module} "\$ORIGIN;${FLY_LLVM_LIB_DIR}")
  endif()
  set_target_properties(${module} PROPERTIES OUTPUT_NAME ${name})
  fly_python_compile_flags(${compiled})
  target_precompile_headers(${compiled} REUSE_FROM FlyPythonSupport)
  if(ARG_WARNINGS)
    target_compile_options(${compiled} PRIVATE -Wall -Wextra -Werror)
  endif()
endfunction()

add_custom_target(FlyPythonSources ALL)

# fly_python_sources(ROOT folder [DESTINATION package-folder] files...)
#
# Copies files below ROOT to the same place below the package folder, by default that of flydsl._mlir.
function(fly_python_sources)
  cmake_parse_arguments(ARG "" "ROOT;DESTINATION" "" ${ARGN})
  if(NOT ARG_DESTINATION)
    set(ARG_DESTINATION ${FLY_INSTALL_ROOT})
  endif()
  set(copies)
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS)
    set(copy ${PROJECT_BINARY_DIR}/python_packages/${ARG_DESTINATION}/${file})
    add_custom_command(OUTPUT ${copy} DEPENDS ${ARG_ROOT}/${file}
      COMMAND ${CMAKE_COMMAND} -E copy ${ARG_ROOT}/${file} ${copy} VERBATIM)
    get_filename_component(folder ${file} DIRECTORY)
    install(FILES ${ARG_ROOT}/${file} DESTINATION ${ARG_DESTINATION}/${folder})
    list(APPEND copies ${copy})
  endforeach()
  string(SHA1 hash "${ARG_ROOT};${copies}")
  add_custom_target(FlyPythonSources.${hash} DEPENDS ${copies})
  add_dependencies(FlyPythonSources FlyPythonSources.${hash})
endfunction()

# fly_python_dialect(NAME td-file [ENUMS td-file] [SEARCH folders...] [DEPENDS targets...])
#
# Generates dialects/_NAME_ops_gen.py (and _NAME_enum_gen.py) from the ops that td-file includes.
function(fly_python_dialect name td)
  cmake_parse_arguments(ARG "" "ENUMS" "SEARCH" ${ARGN})
  set(folder ${FLY_PYTHON_ROOT}/dialects)
  set(includes -I ${MLIR_INCLUDE_DIRS})
  foreach(path IN LISTS ARG_SEARCH)
    list(APPEND includes -I ${path})
  endforeach()
  set(outputs)
  macro(generate output file)
    add_custom_command(OUTPUT ${folder}/${output} DEPENDS ${file} DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/${output}.d
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} ${includes} ${file} -o ${folder}/${output}
              -d ${CMAKE_CURRENT_BINARY_DIR}/${output}.d
      VERBATIM)
    install(FILES ${folder}/${output} DESTINATION ${FLY_INSTALL_ROOT}/dialects)
    list(APPEND outputs ${folder}/${output})
  endmacro()
  generate(_${name}_ops_gen.py ${td} -gen-python-op-bindings -bind-dialect=${name})
  if(ARG_ENUMS)
    generate(_${name}_enum_gen.py ${ARG_ENUMS} -gen-python-enum-bindings)
  endif()
  add_custom_target(FlyPythonDialect.${name} DEPENDS ${outputs})
  add_dependencies(FlyPythonSources FlyPythonDialect.${name})
endfunction()

# fly_python_stubs(NAME... OUTPUTS files...)
#
# Writes type stubs of extension modules, by importing them. OUTPUTS are relative to the folder of the extension modules.
function(fly_python_stubs)
  cmake_parse_arguments(ARG "" "" "OUTPUTS" ${ARGN})
  get_filename_component(nanobind_root ${nanobind_DIR} DIRECTORY)
  find_file(FLY_STUBGEN stubgen.py PATHS ${nanobind_root} ${nanobind_root}/src NO_DEFAULT_PATH REQUIRED)
  set(commands)
  set(modules)
  foreach(name IN LISTS ARG_UNPARSED_ARGUMENTS)
    list(APPEND modules FlyPython.${name})
    list(APPEND commands
      COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH= ${Python_EXECUTABLE} ${FLY_STUBGEN} --quiet --recursive
              --module flydsl._mlir._mlir_libs.${name} --import ${PROJECT_BINARY_DIR}/python_packages
              --output-dir ${FLY_PYTHON_LIBS})
  endforeach()
  list(TRANSFORM ARG_OUTPUTS PREPEND ${FLY_PYTHON_LIBS}/ OUTPUT_VARIABLE outputs)
  add_custom_command(OUTPUT ${outputs} ${commands} DEPENDS ${modules} FlyPythonSources VERBATIM
    COMMENT "Writing type stubs")
  add_custom_target(FlyPythonStubs ALL DEPENDS ${outputs})
  foreach(output IN LISTS ARG_OUTPUTS)
    get_filename_component(folder ${output} DIRECTORY)
    install(FILES ${FLY_PYTHON_LIBS}/${output} DESTINATION ${FLY_INSTALL_ROOT}/_mlir_libs/${folder})
  endforeach()
endfunction()
