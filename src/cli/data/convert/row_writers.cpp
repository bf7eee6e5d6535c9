#include "cli/data/convert/row_writers.hpp"

#include <utility>

namespace trainrt::cli::datasets {

namespace {

struct PreparedLines final : PreparedRows {
  std::string text;
};

}  // namespace

LineWriter::LineWriter(ResumableFile& file, const std::string& head, Line line) : file_(file), line_(std::move(line)) {
  bytes_ = file.done().parts == 0 ? head.size() : file.byte_position();
  if (file.done().parts == 0) file.write(0, head);
}

std::unique_ptr<PreparedRows> LineWriter::prepare(RowBlock block) {
  auto prepared = std::make_unique<PreparedLines>();
  for (std::uint64_t row = 0; row < block.count; ++row) line_(prepared->text, block, row);
  return prepared;
}

void LineWriter::append(std::unique_ptr<PreparedRows> prepared) {
  const auto& text = static_cast<const PreparedLines&>(*prepared).text;
  file_.write(bytes_, text);
  bytes_ += text.size();
}

FixedColumnWriter::FixedColumnWriter(const WriterJob& job, ResumableFile& file, std::vector<std::uint64_t> offsets,
                                     std::function<std::uint64_t()> finish)
    : fields_(job.fields), file_(file), offsets_(std::move(offsets)), finish_(std::move(finish)) {}

std::unique_ptr<PreparedRows> FixedColumnWriter::prepare(RowBlock block) {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    file_.write(offsets_[i] + block.first * data::sample_bytes(fields_[i]), block.columns[i].values);
  return nullptr;
}

}  // namespace trainrt::cli::datasets
