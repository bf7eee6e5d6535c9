#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "cli/datasets/convert/data_writer.hpp"

namespace trainrt::cli::datasets {

/// Writes rows as lines of text, one after another; other threads make the lines.
class TextRows final : public RowWriter {
 public:
  /// Appends the line of one row of a block; columns are in the order of the fields.
  using Line = std::function<void(std::string& text, const RowBlock& block, std::uint64_t row)>;
  /// `head`: what the file begins with.
  TextRows(ResumableFile& file, const std::string& head, Line line);
  std::unique_ptr<PreparedRows> prepare(RowBlock block) override;
  void append(std::unique_ptr<PreparedRows> prepared) override;
  std::string position() const override { return std::to_string(bytes_); }
  std::uint64_t finish() override { return bytes_; }

 private:
  ResumableFile& file_;
  Line line_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::cli::datasets
