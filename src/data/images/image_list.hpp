#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/options.hpp"

namespace trainrt::data {

/// The images that a word of a source names, by their names alone.
struct ImageList {
  std::string base;                 ///< folder that the paths are relative to; empty: they are as they are
  std::vector<std::string> paths;   ///< sorted bytewise, or in the order of a list
  std::vector<std::string> labels;  ///< of each image in its list, or the name of its class folder; none: they have none
  bool are_listed = false;          ///< the labels stand in a list
  std::uint64_t others = 0;         ///< files in the folder whose names are not those of images
};

/// Whether a name is that of an image.
bool is_image_name(std::string_view path);

/// `word`: a folder, with all images below it; a pattern or an image; or a list (also @LIST), a line an image: its path,
/// relative to the list's folder, and, behind the last comma or tab, its label. Names in a list that are absolute or lead
/// out by `..` are UsageErrors that name list and line; so is a word without images.
ImageList list_images(const std::string& word);

}  // namespace trainrt::data
