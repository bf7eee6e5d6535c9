#pragma once
#include <map>
#include <string>
#include <string_view>

namespace trainrt::trainer {

/// The libraries that computed the values of a rank, by name, such as "OpenBLAS". A text has the name of the library's file
/// and the identifier of its build: "libopenblasp-r0.3.21.so (build 0b35d7e1c0ad)".
using Libraries = std::map<std::string, std::string>;

/// Returns the loaded libraries on which the bits of results may depend: BLAS, OpenMP, mathematical functions,
/// frameworks, CUDA, NCCL. They are loaded in this process, or in a program that it has started, but not in commands of
/// that program. Libraries that are loaded later are not found.
Libraries loaded_libraries();

/// Finds the libraries on which the bits of results may depend in `maps`, the content of /proc/PID/maps. Returns the
/// name of each library ("OpenBLAS") by the path of its file. Pure function.
std::map<std::string, std::string> libraries_in_maps(std::string_view maps);

/// Returns a text that differs between builds of a library: the name of its file, and its GNU build ID or, without one, its
/// size. `root`: prefix of the path under which this process opens the file.
std::string build_of_library(const std::string& path, const std::string& root = {});

}  // namespace trainrt::trainer
