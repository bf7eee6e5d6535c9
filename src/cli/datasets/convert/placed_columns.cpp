#include "cli/datasets/convert/placed_columns.hpp"

#include <utility>

namespace trainrt::cli::datasets {

PlacedColumns::PlacedColumns(const WriterJob& job, ResumableFile& file, std::vector<std::uint64_t> places,
                             std::function<std::uint64_t()> finish)
    : fields_(job.fields), file_(file), places_(std::move(places)), finish_(std::move(finish)) {}

std::unique_ptr<PreparedRows> PlacedColumns::prepare(RowBlock block) {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    file_.write(places_[i] + block.first * data::sample_bytes(fields_[i]), block.columns[i].values);
  return nullptr;
}

}  // namespace trainrt::cli::datasets
