#pragma once
#include <map>
#include <string>
#include <string_view>

namespace trainrt::trainer {

/// The libraries that computed the values of a rank, by name, such as "OpenBLAS". A text has the name of the library's file
/// and the identifier of its build: "libopenblasp-r0.3.21.so (build 0b35d7e1c0ad)".
using Libraries = std::map<std::string, std::string>;

/// Returns those libraries of this process and of the programs that it has started on which the bits of results may depend:
/// BLAS, OpenMP, mathematical functions, frameworks, CUDA, NCCL. Commands that a program has started are left out. Only
/// libraries that are loaded already are found.
Libraries loaded_libraries();

/// Returns the paths of files in `maps`, the content of /proc/PID/maps, that are such libraries, each once, and the names
/// of these libraries. Pure function.
std::map<std::string, std::string> libraries_in_maps(std::string_view maps);

/// Returns a text that differs between builds of a library: the name of its file, and its GNU build ID or, without one, its
/// size. `root`: prefix of the path under which this process opens the file.
std::string build_of_library(const std::string& path, const std::string& root = {});

}  // namespace trainrt::trainer
