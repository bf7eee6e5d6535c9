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
  std::vector<std::pair<std::string, std::string>> ignored;  ///< links that are not followed: path and reason
};

/// Returns the datasets below a group, at any depth. Does not follow soft and external links, which may point out of the
/// file. Throws Error if groups are nested too deeply or if HDF5 reports an error.
H5Members h5_members(hid_t group);

/// Opens the group at `path`, a path that consists of hard links only. Throws Error, which names the component that is
/// not a hard link.
H5Id h5_open_group(hid_t file, const std::string& path);
/// Opens the dataset at `path`, relative to `parent` (a file or group). The path must consist of hard links only. Throws
/// like h5_open_group().
H5Id h5_open_dataset(hid_t parent, const std::string& path);

/// Walks through an HDF5 file. Calls `visit(path, id)` for the root "/" and every group and dataset below it; visits the
/// members of a group in the order of their names. Follows external links to datasets.
///
/// Calls `broken(path, why)` for each object that is not visited: soft links, further names of a group that was visited,
/// objects that cannot be opened, and objects of other kinds than groups and datasets.
using H5Visit = std::function<void(const std::string& path, hid_t id)>;
using H5Broken = std::function<void(const std::string& path, const std::string& why)>;
void h5_walk(hid_t file, const H5Visit& visit, const H5Broken& broken);

}  // namespace trainrt::io
