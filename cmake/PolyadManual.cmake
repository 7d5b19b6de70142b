# Installs manual pages and completion scripts, which the program writes when it is installed. A program for another kind of
# machine cannot be run here: then they are left out.

set(POLYAD_MANUAL_COMMANDS "")
file(GLOB commands RELATIVE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/cli/cmd_*.cpp)
foreach(command IN LISTS commands)
  string(REGEX REPLACE "cmd_(.*)\\.cpp" "\\1" command ${command})
  list(APPEND POLYAD_MANUAL_COMMANDS ${command})
endforeach()
list(APPEND POLYAD_MANUAL_COMMANDS completion)  # beside help in one file

if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    function(write_from_program file)
      set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\")
      cmake_path(GET file PARENT_PATH folder)
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:polyad_program>\" \${ARGN} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
      message(STATUS \"Writing: \${file}\")
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")
      set(CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_MANIFEST_FILES}\" PARENT_SCOPE)
    endfunction()
    write_from_program(${CMAKE_INSTALL_MANDIR}/man1/polyad.1 help --man)
    foreach(command ${POLYAD_MANUAL_COMMANDS})
      write_from_program(${CMAKE_INSTALL_MANDIR}/man1/polyad-\${command}.1 help --man \${command})
    endforeach()
    write_from_program(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/polyad completion bash)
    write_from_program(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_polyad completion zsh)
    write_from_program(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/polyad.fish completion fish)
  ")
endif()
