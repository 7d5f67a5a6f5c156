# LAPACK, for the methods pinv, qr and sdls and newton-pcg's nearest_psd. Where the header or the
# libraries are missing these are left out, and sn_method_available() says so.
# Debian: liblapacke-dev libopenblas-dev.
option(SINEW_LAPACK "the methods that need LAPACKE: pinv, qr, sdls" ${PROJECT_IS_TOP_LEVEL})
set(SINEW_LAPACK_LIBS "")  # for sinew.pc
if(SINEW_LAPACK)
  find_path(SINEW_LAPACKE_INCLUDE lapacke.h PATH_SUFFIXES lapacke openblas)
  find_library(SINEW_LAPACKE_LIBRARY lapacke)
  find_library(SINEW_LAPACK_LIBRARY NAMES openblas lapack)
  mark_as_advanced(SINEW_LAPACKE_INCLUDE SINEW_LAPACKE_LIBRARY SINEW_LAPACK_LIBRARY)
  if(SINEW_LAPACKE_INCLUDE AND SINEW_LAPACKE_LIBRARY AND SINEW_LAPACK_LIBRARY)
    # by name, so that an installed sinew finds them wherever they are there
    get_filename_component(sinew_lapack_name ${SINEW_LAPACK_LIBRARY} NAME_WE)
    string(REGEX REPLACE "^lib" "" sinew_lapack_name ${sinew_lapack_name})
    set(sinew_lapack_definition SINEW_LAPACK)
    set(sinew_lapack_include ${SINEW_LAPACKE_INCLUDE})
    set(sinew_lapack_libraries lapacke ${sinew_lapack_name})
    set(SINEW_LAPACK_LIBS "-llapacke -l${sinew_lapack_name}")
  else()
    message(STATUS "sinew: no LAPACKE found, without the methods pinv, qr and sdls")
  endif()
endif()
