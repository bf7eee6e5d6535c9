#pragma once
#include <cstdint>
#include <string>

#include "data/images/image_codec.hpp"

namespace trainrt::data {

/// The sizes of the images of a dataset that were probed before a run starts.
class ProbedSizes {
 public:
  /// `what` names the image in messages ("image 'a.png'").
  void add(const std::string& what, ImageSize size);
  /// Throws UsageError, with the ranges of heights and widths, unless all images have the same size.
  void require_equal() const;

 private:
  std::uint64_t count_ = 0;
  ImageSize first_, min_, max_;
  std::string different_;  ///< name and size of the first image whose size is not first_
};

}  // namespace trainrt::data
