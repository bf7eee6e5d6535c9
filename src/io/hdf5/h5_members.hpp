#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// The datasets below a group, sorted by path.
struct H5Members {
  std::vector<std::string> datasets;                         ///< paths relative to the group: "images", "a/b"
  std::vector<std::pair<std::string, std::string>> ignored;  ///< path of a link that is not followed, and the reason
};

/// Returns the datasets below a group. Does not follow soft and external links, which may lead out of the file. Throws
/// Error.
H5Members h5_members(hid_t group);

/// Opens a group by a path that consists of hard links. Throws Error that names the component that is not one.
H5Id h5_open_group(hid_t file, const std::string& path);
/// Opens a dataset by a path that consists of hard links, relative to `parent`, a file or group. Throws like
/// h5_open_group().
H5Id h5_open_dataset(hid_t parent, const std::string& path);

/// Calls `visit(path, id)` for the root "/" and every group and dataset below it, the members of each group in the order of
/// their names. Follows external links to datasets. Calls `broken(path, why)` for everything that cannot be opened or is
/// neither a group nor a dataset.
using H5Visit = std::function<void(const std::string& path, hid_t id)>;
using H5Broken = std::function<void(const std::string& path, const std::string& why)>;
void h5_walk(hid_t file, const H5Visit& visit, const H5Broken& broken);

}  // namespace trainrt::io
