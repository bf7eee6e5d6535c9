#include "data/reshape/operation.hpp"
#include "data/reshape/operation_words.hpp"
#include "data/reshape/window.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view sequence_form = "LENGTH [stride=N] [within=FIELD] [pad]";

class Sequence final : public Operation {
 public:
  explicit Sequence(Dataset::Windows windows) : windows_(std::move(windows)) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    return windowed_fields(before, windows_);
  }

  void apply(DatasetImpl& dataset) const override { window(dataset, windows_); }

 private:
  Dataset::Windows windows_;
};

std::unique_ptr<Operation> make_sequence(const std::string& text) {
  OperationWords words(text, sequence_form);
  Dataset::Windows windows;
  windows.pad = words.has("pad");
  windows.within = words.value("within").value_or("");
  if (const auto stride = words.number("stride")) windows.stride = *stride < 1 ? 0 : static_cast<std::uint64_t>(*stride);
  windows.length = words.take_number(1);
  words.end();
  return std::make_unique<Sequence>(std::move(windows));
}

}  // namespace

namespace plugins {

extern const OperationKind sequence{
    .name = "sequence",
    .help =
        "makes samples of LENGTH neighbours, whose fields get that axis in front; the next one begins N (1) samples "
        "further. within: neighbours are those of one value of that field. pad: zeros fill up the last ones, and the "
        "field count has how many are not filled up; else they are left out",
    .form = sequence_form,
    .make = make_sequence,
    .place = 1};

}  // namespace plugins

}  // namespace trainrt::data
