#include "trainer/predictions/kept_texts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr std::size_t samples_at_once = 64;

void require_text(std::string_view text, const std::string& field, std::uint64_t sample, const std::string& dataset) {
  if (is_utf8(text) && text.find('\0') == std::string_view::npos) return;
  throw UsageError(fmt::format("--keep {}: the text of sample {} of [data.{}] {}, and only UTF-8 without NULs is kept",
                               field, sample, dataset, is_utf8(text) ? "holds a NUL" : "is not UTF-8"));
}

void look_at_part(const Dataset& dataset, const std::string& name, const Communicator& communicator,
                  std::map<std::string, std::int64_t>& widths) {
  const auto rank = static_cast<std::uint64_t>(communicator.rank()),
             ranks = static_cast<std::uint64_t>(communicator.size());
  const auto first = dataset.size() / ranks * rank + std::min(rank, dataset.size() % ranks);
  const auto count = dataset.size() / ranks + (rank < dataset.size() % ranks ? 1 : 0);
  if (count == 0) return;
  for (const auto& batch : dataset.epoch(0).range(first, count, samples_at_once))
    for (auto& [field, width] : widths)
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto text = batch.text(field, i);
        require_text(text, field, batch.indices()[i], name);
        width = std::max(width, static_cast<std::int64_t>(text.size()));
      }
}

}  // namespace

bool is_text(const Dataset::Field& field) { return field.varies && field.dtype == DType::u8; }

std::map<std::string, std::int64_t> widths_of_texts(const Dataset& dataset, const std::string& dataset_name,
                                                    const std::vector<KeptField>& kept, Communicator& communicator) {
  std::map<std::string, std::int64_t> widths;
  for (const auto& field : dataset.fields())
    if (is_text(field) && std::ranges::find(kept, field.name, &KeptField::field) != kept.end()) widths[field.name] = 1;
  if (widths.empty()) return widths;
  comm::collectively(
      communicator, [&] { look_at_part(dataset, dataset_name, communicator, widths); }, with_advice);
  for (auto& [field, width] : widths) width = communicator.all_reduced(width, Op::max);
  return widths;
}

std::string padded_texts(const Batch& batch, const std::string& field, std::int64_t width) {
  const auto bytes = static_cast<std::size_t>(width);
  std::string rows(batch.size() * bytes, '\0');
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto text = batch.text(field, i);
    if (text.size() > bytes)
      throw Error(fmt::format("--keep {}: the text of sample {} is longer than when the dataset was read first", field,
                              batch.indices()[i]));
    text.copy(rows.data() + i * bytes, text.size());
  }
  return rows;
}

}  // namespace trainrt::trainer
