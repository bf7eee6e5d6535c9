#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// The image files that one item of `source` names. Finding them does not open the files.
struct ImageList {
  std::string base;                    ///< folder to which `paths` are relative; "": the paths are used as they are
  std::vector<std::string> paths;      ///< paths of the images, in bytewise order or in the order of a list file
  std::vector<std::string> labels;     ///< label of each image in the list file, or its class folder; empty: no labels
  bool is_list_file = false;           ///< the paths and labels are from a list file with labels
  std::uint64_t other_file_count = 0;  ///< number of files without the name of an image
};

/// Returns whether the extension of `path` is that of an image: .jpg, .jpeg, .png or .webp, in upper or lower case.
bool is_image_name(std::string_view path);

/// Returns the images that the item `word` of `source` names. The item is one of:
/// - a folder: all images below it
/// - a pattern or an image
/// - a list file (also "@LIST"), with one image per line: its path relative to the folder of the list file and, after
///   the last comma or tab, its label
///
/// Throws UsageError if there are no images. Throws UsageError that names the list file and the line if a path is
/// absolute or contains "..".
ImageList list_images(const std::string& word);

}  // namespace trainrt::data
