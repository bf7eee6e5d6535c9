#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "cli/datasets/convert/data_writer.hpp"

namespace trainrt::cli::datasets {

/// Writes rows into a file in which each field has its place, its rows one after another.
class PlacedColumns final : public RowWriter {
 public:
  /// `places`: the first byte of each field. `finish` does what is left to do, and returns the bytes of the file.
  PlacedColumns(const WriterJob& job, ResumableFile& file, std::vector<std::uint64_t> places,
                std::function<std::uint64_t()> finish);
  std::unique_ptr<PreparedRows> prepare(RowBlock block) override;
  std::uint64_t finish() override { return finish_(); }

 private:
  std::vector<Dataset::Field> fields_;
  ResumableFile& file_;
  std::vector<std::uint64_t> places_;
  std::function<std::uint64_t()> finish_;
};

}  // namespace trainrt::cli::datasets
