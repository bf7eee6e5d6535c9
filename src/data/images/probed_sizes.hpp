#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "data/images/image_codec.hpp"

namespace trainrt::data {

/// The sizes of the images of a dataset that were probed before a run starts.
class ProbedSizes {
 public:
  /// `what` names the image in messages ("image 'a.png'").
  void add(const std::string& what, ImageSize size);
  /// Returns the size of the first image that was added.
  std::optional<ImageSize> first() const { return count_ == 0 ? std::nullopt : std::optional(first_); }
  /// Returns whether an image has another size than the first.
  bool differ() const { return !different_.empty(); }
  /// Throws UsageError, with the ranges of heights and widths, unless all images have the same size.
  void require_equal() const;

 private:
  std::uint64_t count_ = 0;
  ImageSize first_, min_, max_;
  std::string different_;  ///< name and size of the first image whose size is not first_
};

}  // namespace trainrt::data
