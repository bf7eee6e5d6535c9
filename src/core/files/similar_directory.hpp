#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// Returns the existing directory whose path is the most similar to `path`, which does not exist. The two paths differ in
/// one component. The directory, or a directory in it, contains a file with one of the names `markers`. Returns "" if
/// there is no such directory.
std::string similar_directory(const std::string& path, std::span<const std::string_view> markers);

/// Names of the files that mark a directory of trainrt: of a run, a sweep or a checkpoint.
inline constexpr std::string_view run_markers[] = {"run.json", "sweep.json", "manifest.json"};

}  // namespace trainrt
