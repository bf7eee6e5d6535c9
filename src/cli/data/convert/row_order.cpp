#include "cli/data/convert/row_order.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "cli/data/in_order.hpp"
#include "cli/data/opened_data.hpp"
#include "cli/terminal/progress_line.hpp"
#include "data/order/permutation.hpp"
#include "data/source/row_bitmap.hpp"
#include "data/source/selected_source.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr auto word_bits = data::RowBitmap::word_bits;
using Selected = data::SelectedSource<data::RowBitmap>;

std::uint64_t words_of(std::uint64_t samples) { return (samples + word_bits - 1) / word_bits; }

void set_bit(std::vector<std::uint64_t>& bits, std::uint64_t at) {
  bits[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
}

/// Appends one sample of a column to another column.
void append_sample(const Dataset::Field& field, const data::Column& from, std::uint64_t sample, data::Column& to) {
  const auto bytes = sample_of(field, from, sample);
  to.values.insert(to.values.end(), bytes.begin(), bytes.end());
  if (field.varies) to.ends.push_back(to.values.size());
}

}  // namespace

std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed) {
  const auto size = source->size();
  const auto first = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(size)));
  if (first == 0 || first >= size)
    throw UsageError(fmt::format("--split {}: one of the two files would get none of the {} samples; choose another share",
                                 share, size));
  constexpr std::uint64_t purpose = 2, piece = 1 << 16;
  const data::Shuffle shuffle(size, mix_seed(seed, purpose));
  std::vector<std::uint64_t> chosen(words_of(size)), numbers;
  for (std::uint64_t at = 0; at < first; at += piece) {
    numbers.resize(std::min(piece, first - at));
    shuffle.list(at, numbers);
    for (const auto number : numbers) set_bit(chosen, number);
  }
  auto others = chosen;
  for (auto& word : others) word = ~word;
  if (size % word_bits != 0) others.back() &= (std::uint64_t{1} << (size % word_bits)) - 1;
  return {std::make_shared<Selected>(source, data::RowBitmap(std::move(chosen))),
          std::make_shared<Selected>(source, data::RowBitmap(std::move(others)))};
}

RowOrder::RowOrder(SharedSource source, std::vector<std::size_t> fields, std::uint64_t sample_bytes, std::uint64_t at_once,
                   const Shuffling& shuffling)
    : source_(std::move(source)),
      fields_(std::move(fields)),
      at_once_(at_once),
      order_(data::EpochOrder::identity(source_->size())),
      is_shuffled_(shuffling.wanted) {
  const auto rows = source_->size();
  is_held_ = shuffling.wanted && shuffling.blocks.samples == 0 &&
             sample_bytes <= shuffling.memory / std::max<std::uint64_t>(rows, 1);
  if (is_held_) order_ = data::EpochOrder::shuffled(rows, shuffling.seed);
  if (is_shuffled_ && !is_held_)
    cut_windows(shuffling, sample_bytes);
  else
    for (std::uint64_t first = 0; first < rows; first += at_once)
      parts_.push_back({first, std::min(at_once, rows - first)});
}

/// Divides the order into parts, one per window: the samples of several blocks, which are shuffled together in memory.
void RowOrder::cut_windows(const Shuffling& shuffling, std::uint64_t sample_bytes) {
  constexpr std::uint64_t windows_in_memory = 8, default_blocks = 256;
  blocks_ = shuffling.blocks;
  const auto window = std::max<std::uint64_t>(shuffling.memory / windows_in_memory / sample_bytes, default_blocks);
  if (blocks_.samples == 0) blocks_ = {std::max<std::uint64_t>(window / default_blocks, 1), default_blocks};
  const auto rows = source_->size();
  order_ = data::EpochOrder::in_blocks(rows, shuffling.seed, blocks_);
  const data::BlockOrder order(rows, shuffling.seed, blocks_);
  for (std::uint64_t first = 0; first < rows;) {
    auto low = first, high = rows;  // the last position of the window is in [low, high)
    while (high - low > 1) {
      const auto middle = low + (high - low) / 2;
      (order.window_of(middle) == order.window_of(first) ? low : high) = middle;
    }
    parts_.push_back({first, low + 1 - first});
    first = low + 1;
  }
  max_threads_ = windows_in_memory / 2;  // read_sorted() has two copies of a window
}

std::string RowOrder::description() const {
  if (!is_shuffled_) return "in their order";
  if (is_held_) return "shuffled";
  return fmt::format("shuffled in blocks of {} samples, {} of them at a time", blocks_.samples, blocks_.window);
}

std::vector<data::Column> RowOrder::columns() const {
  std::vector<data::Column> made;
  for (const auto field : fields_) made.push_back({field, {}, {}});
  return made;
}

void RowOrder::hold(int threads, bool quiet) {
  if (!is_held_) return;
  ProgressLine progress("read", quiet);
  held_.resize(parts_.size());
  InOrder all(0, parts_.size());
  all.run(
      threads, [&](std::uint64_t part) { return read_samples(*source_, fields_, parts_[part].first, parts_[part].count); },
      [&](std::uint64_t part, std::vector<data::Column> read) {
        held_[part] = std::move(read);
        progress.show(part + 1, parts_.size());
      });
}

/// Reads samples sorted by number, so that neighbors in the files are read together. Returns them in the order of
/// `numbers`.
std::vector<data::Column> RowOrder::read_sorted(const std::vector<std::uint64_t>& numbers) const {
  auto sorted_numbers = numbers;
  std::sort(sorted_numbers.begin(), sorted_numbers.end());
  auto sorted = columns();
  source_->read(sorted_numbers, sorted);
  std::vector<std::ptrdiff_t> positions;  // positions of `numbers` in `sorted_numbers`
  for (const auto number : numbers)
    positions.push_back(std::ranges::lower_bound(sorted_numbers, number) - sorted_numbers.begin());
  auto ordered = columns();
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    ordered[i].values.reserve(sorted[i].values.size());
    for (const auto at : positions)
      append_sample(source_->fields()[fields_[i]], sorted[i], static_cast<std::uint64_t>(at), ordered[i]);
    sorted[i] = {};
  }
  return ordered;
}

RowBlock RowOrder::read(std::uint64_t part) const {
  const auto [first, count] = parts_[part];
  if (!is_shuffled_) return {first, count, read_samples(*source_, fields_, first, count)};
  std::vector<std::uint64_t> numbers(count);
  order_.list(first, numbers);
  if (!is_held_) return {first, count, read_sorted(numbers)};
  RowBlock block{first, count, columns()};
  for (std::size_t i = 0; i < fields_.size(); ++i)
    for (const auto number : numbers)
      append_sample(source_->fields()[fields_[i]], held_[number / at_once_][i], number % at_once_, block.columns[i]);
  return block;
}

}  // namespace trainrt::cli::datasets
