#pragma once
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// What is below a group, sorted.
struct H5Members {
  std::vector<std::string> datasets;                         ///< paths below the group: "images", "a/b"
  std::vector<std::pair<std::string, std::string>> ignored;  ///< path, and why
};

/// The datasets below a group. Soft and external links are not followed: they may lead out of the file. Throws Error.
H5Members h5_members(hid_t group);

/// Opens the group at a path, each step of which is a hard link. Throws Error that names the step.
H5Id h5_open_group(hid_t file, const std::string& path);
/// The same for a dataset, from a file or group on.
H5Id h5_open_dataset(hid_t parent, const std::string& path);

}  // namespace trainrt::io
