#include "cli/datasets/row_choice.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "cli/byte_progress.hpp"
#include "cli/datasets/in_order.hpp"
#include "cli/datasets/opened_data.hpp"
#include "data/order/shuffle.hpp"
#include "data/source/row_bitmap.hpp"
#include "data/source/selected_source.hpp"
#include "data/text/row_predicate.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr auto word_bits = data::RowBitmap::word_bits;
using Selected = data::SelectedSource<data::RowBitmap>;

std::uint64_t words_of(std::uint64_t samples) { return (samples + word_bits - 1) / word_bits; }

void set_bit(std::vector<std::uint64_t>& bits, std::uint64_t at) {
  bits[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
}

}  // namespace

SharedSource rows_where(const SharedSource& source, const std::string& condition, std::uint64_t at_once, int threads,
                        bool quiet) {
  const data::RowPredicate predicate(condition, source->fields());
  const auto size = source->size(), each = words_of(at_once) * word_bits;
  std::vector<std::uint64_t> bits(words_of(size));
  ByteProgress progress("where", quiet);
  InOrder blocks(0, (size + each - 1) / each);
  blocks.run(
      threads,
      [&](std::uint64_t block) {
        const auto first = block * each, count = std::min(each, size - first);
        const auto holds = predicate.holds(read_samples(*source, predicate.fields(), first, count), count);
        std::vector<std::uint64_t> words(words_of(count));
        for (std::uint64_t i = 0; i < count; ++i)
          if (holds[i] != 0) set_bit(words, i);
        return words;
      },
      [&](std::uint64_t block, const std::vector<std::uint64_t>& words) {
        std::copy(words.begin(), words.end(), bits.begin() + static_cast<std::ptrdiff_t>(block * each / word_bits));
        progress.show((block + 1) * each, size);
      });
  data::RowBitmap rows(std::move(bits));
  if (rows.size() == 0) throw UsageError(fmt::format("--where: none of {} samples meets the condition", size));
  return std::make_shared<Selected>(source, std::move(rows));
}

std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed) {
  const auto size = source->size();
  const auto first = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(size)));
  if (first == 0 || first >= size)
    throw UsageError(fmt::format("--split {}: of {} samples one of the parts would be empty", share, size));
  constexpr std::uint64_t for_splits = 2, piece = 1 << 16;
  const data::Shuffle shuffle(size, mix_seed(seed, for_splits));
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

}  // namespace trainrt::cli::datasets
