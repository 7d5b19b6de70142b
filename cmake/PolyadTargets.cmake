# What every target of the project is compiled with, and the one-line ways to add a test.

add_library(polyad_flags INTERFACE)
# Options for the C++ compiler: nvcc does not take them.
function(polyad_cxx_options)
  foreach(option IN LISTS ARGN)
    target_compile_options(polyad_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${option}>)
  endforeach()
endfunction()
# The last: no path of this machine is compiled in, so that clones of a version have the same objects.
polyad_cxx_options(-Wall -Wextra -Wshadow -Wno-sign-compare -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  polyad_cxx_options(-Wno-restrict)  # GCC 12 sees overlap in "x" + std::string
  if(POLYAD_UNITY)  # it takes the files that are compiled together for headers
    polyad_cxx_options(-Wno-subobject-linkage)
    # And looks for memory that it could free at every doubling of 128 MiB, which takes 5 % of the time.
    polyad_cxx_options(--param=ggc-min-heapsize=524288)
  endif()
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

# Open MPI keeps memory until the end, so leaks are not looked for. Threads that wait sleep: those of many tests
# at once, on any number of cores, would otherwise keep each other from working. mpirun looks for no graphics (see
# comm/runtime_mpi.cpp), and processes that wait for each other say where, before the test runs out of patience.
set(POLYAD_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1" "OMP_NUM_THREADS=3"
    "OMP_WAIT_POLICY=passive" "HWLOC_COMPONENTS=-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero" "POLYAD_TIMEOUT=240"
    "POLYAD_SHARED_DATA=${PROJECT_SOURCE_DIR}/../shared/data" "POLYAD_TEST_DATA=${PROJECT_SOURCE_DIR}/tests/data")
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

# polyad_test_program(target source libraries...): adds a source to a program, which is made if it does not exist.
function(polyad_test_program target source)
  if(TARGET ${target})
    target_sources(${target} PRIVATE ${source})
    return()
  endif()
  add_executable(${target} ${source})
  # Reading the headers takes most of the time of a test file, so that many are compiled together.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${POLYAD_UNITY} UNITY_BUILD_BATCH_SIZE 10)
  target_link_libraries(${target} PRIVATE ${ARGN} polyad_flags)
  # Designated initialisers have defaults. Tests spend their time in the library: compiling them with -O1 takes a quarter
  # longer, with -O3 longer still, and saves nothing.
  target_compile_options(${target} PRIVATE -Wno-missing-field-initializers -Og)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# Tests with the label `thorough` are left to ./run check: those that repeat others on more processes, those with hostile input and
# failing machines, those of the documentation as a whole, and long ones of what hardly depends on the machine. ./run test runs the
# others, which show that a build can be trusted.

# What CTest is told about a test: one that ends with code 77 has skipped all that it would have tested. The time limit is only
# against tests that hang: no test is slow by itself, but machines are, and may be shared.
function(polyad_describe_test name labels processors)
  # Not the settings of whoever runs the tests, such as measured constants of the machine or stored partitions.
  set(home ${PROJECT_BINARY_DIR}/test-homes/${name})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" PROCESSORS ${processors} TIMEOUT 1500
                                          SKIP_RETURN_CODE 77
                                          ENVIRONMENT_MODIFICATION "POLYAD_MACHINE=unset:"
                                          ENVIRONMENT "${POLYAD_TEST_ENVIRONMENT};XDG_CONFIG_HOME=${home};XDG_CACHE_HOME=${home};${ARGN}")
endfunction()

# The tests of a folder are one program, and those with MPI another, so that less is compiled and linked. CTest has
# an entry for each file.
#
# polyad_add_test(module/x THREADS 3 LABELS sanitize serial): tests/module/x_test.cpp, one process, no MPI. THREADS:
# that it keeps busy, if it is more than one.
function(polyad_add_test path)
  cmake_parse_arguments(ARG "" "THREADS" "LABELS" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  cmake_path(GET path PARENT_PATH module)
  cmake_path(GET path FILENAME file)
  set(target ${module}_tests)
  polyad_test_program(${target} ${path}_test.cpp polyad_serial polyad_test_main GTest::gtest)
  polyad_test_name(name ${path})
  add_test(NAME ${name} COMMAND ${target} ${file})
  if(NOT ARG_THREADS)
    set(ARG_THREADS 1)
  endif()
  polyad_describe_test(${name} "${ARG_LABELS}" ${ARG_THREADS})
endfunction()

# polyad_add_mpi_test(module/x PROCESSES 1 2 3): one start per process count; the test loops over its cases
# inside. Without MPI it runs once, on the one-process implementation. OWN_MAIN: it has a main of its own, and is a
# program of its own.
function(polyad_add_mpi_test path)
  cmake_parse_arguments(ARG "OWN_MAIN" "" "LABELS;PROCESSES" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  cmake_path(GET path PARENT_PATH module)
  cmake_path(GET path FILENAME file)
  if(ARG_OWN_MAIN)
    set(target ${module}_${file}_test)
    set(file "")
    polyad_test_program(${target} ${path}_test.cpp polyad GTest::gtest)
  else()
    set(target ${module}_mpi_tests)
    polyad_test_program(${target} ${path}_test.cpp polyad polyad_mpi_test_main GTest::gtest)
  endif()
  if(NOT POLYAD_MPI)
    set(ARG_PROCESSES 1)
  elseif(POLYAD_TEST_LABEL STREQUAL mpich)
    set(ARG_PROCESSES 2)  # it never yields while it waits: more processes than cores would take minutes
  elseif(POLYAD_TEST_LABEL)
    set(ARG_PROCESSES 3)  # 1 and 2 find there what they find without sanitizers
  endif()
  # ./run test runs it on one process and on three, or on two where there is no such test.
  set(several 3)
  if(NOT 3 IN_LIST ARG_PROCESSES)
    set(several 2)
  endif()
  foreach(count IN LISTS ARG_PROCESSES)
    set(labels ${ARG_LABELS})
    if(NOT count EQUAL 1 AND NOT count EQUAL several)
      list(APPEND labels thorough)
    endif()
    polyad_test_name(name ${path}-on-${count})
    if(POLYAD_MPI)
      add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tools/mpirun ${count} $<TARGET_FILE:${target}> ${file})
    else()
      add_test(NAME ${name} COMMAND ${target} ${file})
    endif()
    polyad_describe_test(${name} "${labels}" ${count} "OMP_NUM_THREADS=1")
  endforeach()
endfunction()

# polyad_add_script_test(module/x CORES 2 SECONDS 40): tests/module/x_test.py against the built program. CORES: that it keeps
# busy on average, if it is more than one; most start a program after the other, only some of them on several processes, and wait
# meanwhile. SECONDS: about how long it takes, for those that take long, which CTest starts first when it has not measured yet.
function(polyad_add_script_test path)
  cmake_parse_arguments(ARG "" "CORES;SECONDS" "LABELS" ${ARGN})
  polyad_in_this_build(wanted "${ARG_LABELS}")
  if(NOT wanted)
    return()
  endif()
  polyad_test_name(name ${path})
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/support/run_script.py
    ${CMAKE_CURRENT_SOURCE_DIR}/${path}_test.py)
  if(NOT ARG_CORES)
    set(ARG_CORES 1)
  endif()
  list(JOIN MPI_CXX_INCLUDE_DIRS ":" mpi_include)
  polyad_describe_test(${name} "${ARG_LABELS}" ${ARG_CORES} "POLYAD=$<TARGET_FILE:polyad_program>"
    "POLYAD_SOURCE=${PROJECT_SOURCE_DIR}" "POLYAD_BUILD=${PROJECT_BINARY_DIR}" "POLYAD_CXX=${CMAKE_CXX_COMPILER}"
    "POLYAD_MPI_INCLUDE=${mpi_include}"
    "POLYAD_WITH_MPI=${POLYAD_MPI}")
  if(ARG_SECONDS)
    set_tests_properties(${name} PROPERTIES COST ${ARG_SECONDS})
  endif()
endfunction()
