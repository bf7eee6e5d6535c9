#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bytes/coding/packed_names.hpp"
#include "data/images/image_codec.hpp"

namespace trainrt::data {

/// The paths and labels of image files. The index of a file is the index of its sample. No file stays open. Several threads
/// may read at the same time.
class ImageFiles {
 public:
  /// `base`: folder to which the paths are relative, or "".
  explicit ImageFiles(std::string base) : base_(std::move(base)) {}
  void add(const std::string& path, std::int64_t label) {
    names_.add(path);
    labels_.push_back(label);
  }

  std::size_t size() const { return names_.size(); }
  std::string path(std::size_t number) const;
  /// Returns the name of an image for messages: "image 'cats/1.png'".
  std::string what(std::size_t number) const { return "image '" + path(number) + "'"; }
  std::int64_t label(std::size_t number) const { return labels_[number]; }
  /// Reads the file with the index `number` into `buffer`, which is enlarged if necessary, and returns the file's bytes.
  /// Waits while the storage is unavailable (io/storage_retry.hpp). Throws UsageError, which names the file, if the file
  /// does not exist, is not a regular file or has more than `max_bytes` bytes.
  EncodedImage read(std::size_t number, std::uint64_t max_bytes, std::vector<std::byte>& buffer) const;

  std::string packed() const;
  /// Returns the object that packed() encoded as `bytes`.
  static ImageFiles unpacked(std::string_view bytes);

 private:
  std::string base_;
  PackedNames names_;
  std::vector<std::int64_t> labels_;
};

/// The image files that one item of the key `source` names. They are found without opening them.
struct ImageList {
  std::string base;                    ///< folder to which `paths` are relative; "": the paths are used as they are
  std::vector<std::string> paths;      ///< paths of the images, in bytewise order or in the order of a list file
  std::vector<std::string> labels;     ///< label of each image in the list file, or its class folder; empty: no labels
  bool is_list_file = false;           ///< whether the paths and labels are from a list file with labels
  std::uint64_t other_file_count = 0;  ///< number of files without the name of an image
};

/// Returns whether the extension of `path` is that of an image: .jpg, .jpeg, .png or .webp, in upper or lower case.
bool is_image_name(std::string_view path);

/// Returns the images that `word`, one item of the key `source`, names. The item is one of:
/// - a folder: all images below it
/// - a pattern or an image
/// - a list file (also "@LIST"), with one image per line: its path relative to the folder of the list file and, after
///   the last comma or tab, its label
///
/// Throws UsageError if no images are found. Also throws UsageError, with the list file and the line, if a path in a list
/// file is absolute or contains "..".
ImageList list_images(const std::string& word);

}  // namespace trainrt::data
