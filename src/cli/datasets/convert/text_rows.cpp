#include "cli/datasets/convert/text_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/options.hpp"

namespace trainrt::cli::datasets {

namespace {

struct PreparedLines final : PreparedRows {
  std::string text;
};

}  // namespace

TextRows::TextRows(ResumableFile& file, const std::string& head, Line line) : file_(file), line_(std::move(line)) {
  if (file.done().parts == 0) {
    file.write(0, head);
    bytes_ = head.size();
    return;
  }
  const auto position = parse_integer(file.done().position);
  if (!position || *position < 0)
    throw UsageError(fmt::format("what was noted of '{}' cannot be understood; --force begins anew", file.path()));
  bytes_ = static_cast<std::uint64_t>(*position);
}

std::unique_ptr<PreparedRows> TextRows::prepare(RowBlock block) {
  auto made = std::make_unique<PreparedLines>();
  for (std::uint64_t row = 0; row < block.count; ++row) line_(made->text, block, row);
  return made;
}

void TextRows::append(std::unique_ptr<PreparedRows> prepared) {
  const auto& text = static_cast<const PreparedLines&>(*prepared).text;
  file_.write(bytes_, text);
  bytes_ += text.size();
}

}  // namespace trainrt::cli::datasets
