# What every target of the project is compiled with, and the one-line ways to add a test.

add_library(polyad_flags INTERFACE)
target_compile_options(polyad_flags INTERFACE -Wall -Wextra -Wshadow -Wno-sign-compare)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(polyad_flags INTERFACE -Wno-restrict)  # GCC 12 sees overlap in "x" + std::string
endif()
if(POLYAD_SANITIZE)
  target_compile_options(polyad_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_compile_definitions(polyad_flags INTERFACE _GLIBCXX_ASSERTIONS POLYAD_FEW_WIDTHS)
  target_link_options(polyad_flags INTERFACE -fsanitize=address,undefined)
endif()

if(POLYAD_FUZZ)
  # The macro lets readers pass over checksums, which no fuzzer would guess.
  target_compile_options(polyad_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                                                -fno-sanitize-recover=all)
  target_compile_definitions(polyad_flags INTERFACE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION _GLIBCXX_ASSERTIONS)
  # Checked 128-bit arithmetic is in clang's own runtime library.
  target_link_options(polyad_flags INTERFACE -fsanitize=address,undefined -rtlib=compiler-rt --unwindlib=libgcc)
endif()

# Open MPI keeps memory until the end, so leaks are not looked for.
set(POLYAD_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1" "OMP_NUM_THREADS=3"
    "POLYAD_SHARED_DATA=${CMAKE_SOURCE_DIR}/../shared/data" "POLYAD_TEST_DATA=${CMAKE_SOURCE_DIR}/tests/data")
if(POLYAD_MPI)
  list(APPEND POLYAD_TEST_ENVIRONMENT "POLYAD_MPIRUN=${MPIEXEC_EXECUTABLE}")  # for tools/mpirun
endif()

# Some builds hold only the tests with a label, and name them after it in the summary, which shows all builds
# together.
set(POLYAD_TEST_LABEL "" CACHE STRING "Build only the tests with this label (empty: all)")
if(POLYAD_SANITIZE)
  set(POLYAD_TEST_LABEL sanitize)
elseif(NOT POLYAD_MPI)
  set(POLYAD_TEST_LABEL serial)
endif()

# True in `out` when a test with these labels belongs to this build.
function(polyad_in_this_build out labels)
  if(NOT POLYAD_TEST_LABEL OR POLYAD_TEST_LABEL IN_LIST labels)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(polyad_test_name out name)
  if(POLYAD_TEST_LABEL)
    set(name "${POLYAD_TEST_LABEL}/${name}")
  endif()
  set(${out} ${name} PARENT_SCOPE)
endfunction()

function(polyad_test_executable target source)
  add_executable(${target} ${source}.cpp)
  target_link_libraries(${target} PRIVATE ${ARGN} polyad_flags)
  target_compile_options(${target} PRIVATE -Wno-missing-field-initializers)  # designated ones have defaults
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
endfunction()

# polyad_add_test(room/x LABELS sanitize serial): tests/room/x_test.cpp, one process, no MPI.
function(polyad_add_test path)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  string(REPLACE "/" "_" target ${path}_test)
  polyad_test_executable(${target} ${path}_test polyad_serial GTest::gtest_main)
  polyad_test_name(name ${path})
  add_test(NAME ${name} COMMAND ${target})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
                                          ENVIRONMENT "${POLYAD_TEST_ENVIRONMENT}")
endfunction()

# polyad_add_mpi_test(room/x PROCESSES 1 2 3 TIMEOUT 60): one start per process count; the test loops
# over its cases inside. Without MPI it runs once, on the one-process twin.
function(polyad_add_mpi_test path)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;PROCESSES" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  string(REPLACE "/" "_" target ${path}_test)
  polyad_test_executable(${target} ${path}_test polyad polyad_mpi_test_main GTest::gtest)
  if(NOT POLYAD_MPI)
    set(ARG_PROCESSES 1)
  elseif(POLYAD_TEST_LABEL STREQUAL mpich)
    set(ARG_PROCESSES 2)  # it never yields while it waits: more processes than cores would take minutes
  elseif(POLYAD_TEST_LABEL)
    set(ARG_PROCESSES 2 3)
  endif()
  foreach(count IN LISTS ARG_PROCESSES)
    polyad_test_name(name ${path}-on-${count})
    if(POLYAD_MPI)
      add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tools/mpirun ${count} $<TARGET_FILE:${target}>)
    else()
      add_test(NAME ${name} COMMAND ${target})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2
                                            ENVIRONMENT "${POLYAD_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;OMP_WAIT_POLICY=passive")
  endforeach()
endfunction()

# polyad_add_script_test(room/x): tests/room/x_test.py against the built program.
function(polyad_add_script_test path)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  polyad_test_name(name ${path})
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${path}_test.py)
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${POLYAD_TEST_ENVIRONMENT};POLYAD=$<TARGET_FILE:polyad_program>;POLYAD_SOURCE=${CMAKE_SOURCE_DIR};POLYAD_WITH_MPI=${POLYAD_MPI}")
endfunction()
