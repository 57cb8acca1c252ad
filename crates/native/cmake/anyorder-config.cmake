# For projects whose tests run under `anyorder run`:
#
#   find_package(anyorder CONFIG REQUIRED)          # -Danyorder_DIR=.../crates/native/cmake
#   target_link_libraries(queue PUBLIC anyorder::annotations)
#   anyorder_add_test(NAME queue COMMAND queue_tests --fast OPTIONS --confirm)
#
# anyorder::annotations has the folder of anyorder.h. anyorder::recorded builds for `anyorder run`,
# too: all targets with code that is to be seen need it, or the flags by CMAKE_CXX_FLAGS.

if(NOT TARGET anyorder::annotations)
  add_library(anyorder::annotations INTERFACE IMPORTED)
  get_filename_component(anyorder_include "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
  set_target_properties(anyorder::annotations PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${anyorder_include}")

  add_library(anyorder::recorded INTERFACE IMPORTED)
  set(anyorder_flags -g -fsanitize=thread)
  if(CMAKE_C_COMPILER_ID MATCHES Clang OR CMAKE_CXX_COMPILER_ID MATCHES Clang)
    list(APPEND anyorder_flags -shared-libsan
      "SHELL:-mllvm -tsan-instrument-read-before-write=1")
  endif()
  set_target_properties(anyorder::recorded PROPERTIES
    INTERFACE_LINK_LIBRARIES anyorder::annotations
    INTERFACE_COMPILE_OPTIONS "${anyorder_flags}"
    INTERFACE_LINK_OPTIONS "${anyorder_flags}")
endif()

find_program(ANYORDER_EXECUTABLE anyorder DOC "The command that runs tests for anyorder_add_test")

# Adds a test that runs a program under `anyorder run`: it fails with a finding, too.
function(anyorder_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME" "COMMAND;OPTIONS")
  if(NOT test_NAME OR NOT test_COMMAND OR test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "anyorder_add_test: expected NAME and COMMAND, and OPTIONS of anyorder run")
  endif()
  if(NOT ANYORDER_EXECUTABLE)
    message(FATAL_ERROR "anyorder_add_test: no anyorder in PATH; set ANYORDER_EXECUTABLE")
  endif()
  list(POP_FRONT test_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${test_NAME}
    COMMAND ${ANYORDER_EXECUTABLE} run ${test_OPTIONS} ${program} ${test_COMMAND})
endfunction()
