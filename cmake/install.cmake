# sinew::sinew for find_package, sinew.pc for pkg-config
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS sinew EXPORT sinew-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT sinew-targets FILE sinew-targets.cmake NAMESPACE sinew::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sinew-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew-config-version.cmake cmake/sinew-config.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
# relative, so that an installed tree can be moved
file(RELATIVE_PATH sinew_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/sinew.pc.in sinew.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(SINEW_TOOLS)
  install(TARGETS sinew_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  # man pages and completion, printed by the program itself
  if(NOT CMAKE_CROSSCOMPILING)
    add_custom_command(TARGET sinew_cli POST_BUILD COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:sinew_cli>
                       -DOUT=${CMAKE_CURRENT_BINARY_DIR}/share -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/manual.cmake)
    install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/sinew.bash
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sinew OPTIONAL)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/sinew.zsh
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _sinew OPTIONAL)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/sinew.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
  endif()
  # what `sinew fit -o take.html` starts from, where it was built
  install(FILES web/dist/sinew.html DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew OPTIONAL)
endif()
