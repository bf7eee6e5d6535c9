# What `cmake --install` lays down, besides the modules and the client in Python: those are in their folders.
install(TARGETS trainrt RUNTIME DESTINATION bin)
install(TARGETS trainrt_shared LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT library)
install(DIRECTORY include/trainrt DESTINATION include COMPONENT library)
install(DIRECTORY jobs/ DESTINATION share/trainrt/jobs USE_SOURCE_PERMISSIONS)
install(DIRECTORY hdf5_schemas/ DESTINATION share/trainrt/hdf5_schemas FILES_MATCHING PATTERN "*.json")
install(PROGRAMS slurm/minicluster/minicluster DESTINATION share/trainrt/slurm)
# The module file and the pkg-config file carry the prefix of the installation, which is known only when it is installed.
install(CODE "
  set(TRAINRT_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(${PROJECT_SOURCE_DIR}/slurm/modulefiles/trainrt.in
                 \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/modulefiles/trainrt/${PROJECT_VERSION}\" @ONLY)
")
install(CODE "
  set(TRAINRT_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  configure_file(${PROJECT_SOURCE_DIR}/src/trainrt.pc.in
                 \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/pkgconfig/trainrt.pc\" @ONLY)
" COMPONENT library)
