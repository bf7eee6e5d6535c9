#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/data/convert/data_writer.hpp"

namespace trainrt::cli::datasets {

/// Writes rows as lines of text. Lines are made in prepare(), by several threads.
class LineWriter final : public RowWriter {
 public:
  /// Appends one row of a block to `text`, as a line. The columns are in the order of the fields.
  using Line = std::function<void(std::string& text, const RowBlock& block, std::uint64_t row)>;
  /// `head` is written at the beginning of the file.
  LineWriter(ResumableFile& file, const std::string& head, Line line);
  std::unique_ptr<PreparedRows> prepare(RowBlock block) override;
  void append(std::unique_ptr<PreparedRows> prepared) override;
  std::string position() const override { return std::to_string(bytes_); }
  std::uint64_t finish() override { return bytes_; }

 private:
  ResumableFile& file_;
  Line line_;
  std::uint64_t bytes_ = 0;
};

/// Writes rows into a file in which the values of each field are contiguous, at a known offset. Blocks are written in
/// prepare(), by several threads.
class FixedColumnWriter final : public RowWriter {
 public:
  /// `offsets`: offset of the values of each field. `finish` completes the file and returns its size in bytes.
  FixedColumnWriter(const WriterJob& job, ResumableFile& file, std::vector<std::uint64_t> offsets,
                    std::function<std::uint64_t()> finish);
  std::unique_ptr<PreparedRows> prepare(RowBlock block) override;
  std::uint64_t finish() override { return finish_(); }

 private:
  std::vector<Dataset::Field> fields_;
  ResumableFile& file_;
  std::vector<std::uint64_t> offsets_;
  std::function<std::uint64_t()> finish_;
};

}  // namespace trainrt::cli::datasets
