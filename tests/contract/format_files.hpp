#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/cpp/scratch.hpp"

namespace contract {

/// A dataset that a row of format_files() has written.
struct WrittenDataset {
  std::map<std::string, std::string> keys;  ///< of [data.NAME], besides `format`
  std::string file;  ///< path of a file with samples, which tests damage; "": the format has no files
};

/// How the tests write data of one format.
struct FormatFiles {
  std::string_view format;
  /// Writes `samples` samples to files in `folder`: 0, 1 or 12. If the format has floats, sample i holds i + 0.5, and
  /// sample 2 holds NaN.
  WrittenDataset (*write)(const trainrt::test::Scratch& folder, std::size_t samples);
  std::string_view float_field =
      {};                    ///< name of the field with these floats; "": the format has no floats, or makes its values
  bool detects_cuts = true;  ///< false: a file that was cut between two samples is a valid file
};

/// Returns one row for each data format; a new format needs a new row.
const std::vector<FormatFiles>& format_files();

/// Returns the floats of the rows: i + 0.5 for sample i, but NaN for sample 2.
std::vector<float> sample_values(std::size_t samples);

}  // namespace contract
