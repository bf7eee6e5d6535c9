#include <algorithm>

#include <trainrt/error.hpp>

#include "data/batches/field_scan.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/kept_rows.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

using Keeps = std::function<bool(std::span<const TensorView>)>;

class Filter final : public Step {
 public:
  Filter(std::vector<std::string> fields, Keeps keeps) : fields_(std::move(fields)), keeps_(std::move(keeps)) {}
  Effect effect() const override { return Effect::thins; }

  Result apply(const DatasetPlan& input) const override {
    std::vector<std::size_t> numbers;
    for (const auto& field : fields_) numbers.push_back(find_field(input.source->fields(), field));
    auto rows = kept_rows(input, numbers);
    const auto before = input.source->size();
    if (rows.size() == 0) throw UsageError(fmt::format("the filter keeps 0 of {} samples", before));
    const auto digest = io::digest_of(std::as_bytes(std::span(rows.bits())));
    auto identity = fmt::format("{} of {} samples with digest {}", rows.size(), before, digest);
    return chosen(input, std::move(rows), std::move(identity));
  }

 private:
  /// Each rank scans its share of the words of bits.
  KeptRows kept_rows(const DatasetPlan& input, const std::vector<std::size_t>& fields) const {
    constexpr auto word_bits = KeptRows::word_bits;
    const auto samples = input.source->size();
    std::vector<std::int64_t> bits((samples + word_bits - 1) / word_bits);
    const auto [first, end] = input.team.own_share(bits.size());
    const auto scan = [&, first = first, end = end] {
      const auto note = [&](std::uint64_t sample, std::span<const TensorView> values) {
        if (keeps_(values)) bits[sample / word_bits] |= std::int64_t{1} << (sample % word_bits);
      };
      FieldScan(input, fields, "filter").scan(first * word_bits, std::min(end * word_bits, samples), note);
    };
    input.team.combine(scan, bits);
    return KeptRows({bits.begin(), bits.end()});
  }

  std::vector<std::string> fields_;
  Keeps keeps_;
};

}  // namespace

std::shared_ptr<const Step> filter_step(std::vector<std::string> fields, Keeps keeps) {
  return std::make_shared<Filter>(std::move(fields), std::move(keeps));
}

}  // namespace trainrt::data
