# What `cmake --install` lays down, besides the modules and the client in Python: those are in their folders.
install(TARGETS trainrt RUNTIME DESTINATION bin)
install(TARGETS h5_examiner RUNTIME DESTINATION lib/trainrt/modules)
install(TARGETS h5_examiner RUNTIME DESTINATION lib/trainrt/modules COMPONENT library)
install(TARGETS trainrt_shared LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT library)
install(DIRECTORY include/trainrt DESTINATION include COMPONENT library)
install(DIRECTORY jobs/ DESTINATION share/trainrt/jobs USE_SOURCE_PERMISSIONS PATTERN "README.md" EXCLUDE)
install(DIRECTORY hdf5_schemas/ DESTINATION share/trainrt/hdf5_schemas FILES_MATCHING PATTERN "*.json")
install(PROGRAMS slurm/minicluster/minicluster DESTINATION share/trainrt/slurm)
install(FILES slurm/minicluster/namespaces.sh DESTINATION share/trainrt/slurm)
# The guides keep their folders, and so their links to each other. The manual pages are the program's own help.
file(GLOB_RECURSE guides RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS src/*.md jobs/*.md slurm/*.md hdf5_schemas/*.md tests/*.md)
foreach(guide README.md ${guides})
  get_filename_component(folder ${guide} DIRECTORY)
  install(FILES ${guide} DESTINATION share/doc/trainrt/${folder})
endforeach()
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:trainrt>\" help --man-pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man1\"
                              COMMAND_ERROR_IS_FATAL ANY)")
# The module file carries the prefix of the installation, which is known only when it is installed: centres copy it elsewhere.
install(CODE "
  set(TRAINRT_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(${PROJECT_SOURCE_DIR}/slurm/modulefiles/trainrt.in
                 \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/modulefiles/trainrt/${PROJECT_VERSION}\" @ONLY)
")
# pkg-config's file and CMake's find the prefix by their own place, so that the installed tree may be moved.
configure_file(src/trainrt.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/trainrt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/trainrt.pc DESTINATION lib/pkgconfig COMPONENT library)
include(CMakePackageConfigHelpers)
configure_file(src/trainrtConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/trainrtConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/trainrtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/trainrtConfig.cmake ${PROJECT_BINARY_DIR}/cmake/trainrtConfigVersion.cmake
        DESTINATION lib/cmake/trainrt COMPONENT library)
