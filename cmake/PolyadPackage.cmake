# cpack: a Debian package, and an archive that may be unpacked anywhere. Both hold the program, the libraries with their
# headers, the manual pages and the completion scripts.

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME polyad)
set(CPACK_PACKAGE_CONTACT "The Polyad authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "decompose, complete and contract very large tensors")
set(CPACK_PACKAGE_DESCRIPTION "CP decomposition of sparse tensors, matrix completion for recommenders and contraction of \
dense tensors, on the threads of one machine or on many machines through MPI. Holds the program polyad, the C++ library, \
manual pages and completion scripts for shells.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME polyad-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/polyad)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
if(POLYAD_MPI)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)  # mpirun
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/polyad RENAME copyright)
include(CPack)
