# The kernels' source as an array of a C file: cmake -DOUT=FILE -DFILES="a;b" -P embed.cmake
set(all "")
foreach(file ${FILES})
  file(READ ${file} hex HEX)
  string(APPEND all "${hex}")
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," all "${all}")
string(REGEX REPLACE "((0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],))" "\\1\n" all "${all}")
file(WRITE ${OUT} "// Made by cmake/embed.cmake.
#include \"batch/program.h\"
const char ${NAME}[] = {
${all}0};
")
