#include "cli/predict/prediction_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;  // a multiple of the size of each type
constexpr std::size_t page_padding = 2 * 4096;             // additional bytes, since only complete pages are read

}  // namespace

PredictedValues::PredictedValues(const PredictedTable& table, trainer::PredictedRows rows)
    : table_(table),
      rows_(std::move(rows)),
      file_(io::PositionalFile::open(rows_.path, io::PositionalFile::Cache::use)),
      pool_(piece_bytes + page_padding, piece_bytes + page_padding) {}

void PredictedValues::stream(std::size_t field, std::uint64_t first, std::uint64_t count, const Take& take) {
  const auto row = table_.fields[field].row_bytes();
  const auto begin = rows_.offsets[field] + first * row;
  const auto end = begin + count * row;
  for (auto at = begin; at < end; at += piece_bytes) {
    const auto block = pool_.take();
    take(file_.read(at, std::min<std::uint64_t>(piece_bytes, end - at), block));
  }
}

std::vector<std::byte> PredictedValues::read(std::size_t field, std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> values;
  stream(field, first, count, [&](auto piece) { values.insert(values.end(), piece.begin(), piece.end()); });
  return values;
}

const PredictionWriter& prediction_writer_for(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  std::vector<std::string> known;
  for (const auto* writer : predictions::writer_table()) {
    if (writer->extension == extension) return *writer;
    known.emplace_back(writer->extension);
  }
  throw UsageError(fmt::format("unknown extension of the output file '{}'{}; valid extensions are {}", path,
                               did_you_mean(extension, known), join(known)));
}

}  // namespace trainrt::cli
