# Removes Python modules in FOLDER that the file KEPT does not name, one relative path a line, and a module trainrt.py beside the package, which an
# older build has left.
cmake_minimum_required(VERSION 3.22)
file(STRINGS ${KEPT} kept)
file(GLOB_RECURSE found RELATIVE ${FOLDER} ${FOLDER}/*.py)
foreach(file IN LISTS found)
  if(NOT file IN_LIST kept)
    file(REMOVE ${FOLDER}/${file})
  endif()
endforeach()
file(REMOVE ${FOLDER}.py)
