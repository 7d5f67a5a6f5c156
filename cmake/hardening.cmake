# What a release defends itself with where the compiler and the linker can: a position-independent program,
# addresses that are read-only once it runs, a guard on the stack, checked copies.
option(SINEW_HARDENING "the release build defends itself against memory errors" ${PROJECT_IS_TOP_LEVEL})
if(SINEW_HARDENING AND NOT SINEW_SANITIZE AND NOT WIN32)
  include(CheckPIESupported)
  include(CheckCCompilerFlag)
  include(CheckLinkerFlag)
  check_pie_supported(LANGUAGES C)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  check_c_compiler_flag(-fstack-protector-strong SINEW_HAS_STACK_PROTECTOR)
  check_linker_flag(C "-Wl,-z,relro,-z,now" SINEW_HAS_RELRO)
  set(release $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  # checked copies need an optimizer; some distributions define it on their own, with another number
  target_compile_options(sinew_flags INTERFACE
    $<${release}:-U_FORTIFY_SOURCE> $<${release}:-D_FORTIFY_SOURCE=2>
    $<$<BOOL:${SINEW_HAS_STACK_PROTECTOR}>:-fstack-protector-strong>)
  target_link_options(sinew_flags INTERFACE $<$<BOOL:${SINEW_HAS_RELRO}>:-Wl,-z,relro,-z,now>)
endif()
