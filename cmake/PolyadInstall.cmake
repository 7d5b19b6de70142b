# How other projects find the installed library: find_package(polyad), or pkg-config.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/polyad)
install(EXPORT polyadTargets NAMESPACE polyad:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/polyadConfig.cmake.in polyadConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(polyadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/polyadConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/polyadConfigVersion.cmake
  DESTINATION ${package_folder})

# polyad_pkg_config(name library libraries...): for pkg-config. All that a static library needs besides is listed in Libs,
# so that --static is not needed; a shared one names what it needs itself.
function(polyad_pkg_config name library)
  set(POLYAD_PC_NAME ${name})
  set(POLYAD_PC_LIBRARY ${library})
  # From the file itself, so that the folder can be chosen by cmake --install --prefix, or moved.
  file(RELATIVE_PATH POLYAD_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  set(needed_besides "")
  if(NOT BUILD_SHARED_LIBS)
    get_target_property(fmt_location fmt::fmt LOCATION)
    set(needed_besides ${LAPACK_LIBRARIES} ${fmt_location} -lz)
    if(POLYAD_CUDA)
      list(PREPEND needed_besides ${CUDA_cudart_static_LIBRARY} -ldl -lrt)
    endif()
    if(POLYAD_WITH_ARROW)
      get_target_property(arrow_location Arrow::arrow_shared LOCATION)
      get_target_property(parquet_location Parquet::parquet_shared LOCATION)
      list(PREPEND needed_besides ${parquet_location} ${arrow_location})
    endif()
  endif()
  string(JOIN " " POLYAD_PC_LIBS ${ARGN} ${needed_besides} ${OpenMP_CXX_FLAGS})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/polyad.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

polyad_pkg_config(polyad-serial polyad_serial)
if(POLYAD_MPI)
  set(POLYAD_PC_CFLAGS "")
  foreach(folder IN LISTS MPI_CXX_INCLUDE_DIRS)
    string(APPEND POLYAD_PC_CFLAGS " -I${folder}")
  endforeach()
  polyad_pkg_config(polyad polyad ${MPI_CXX_LIBRARIES})
endif()
