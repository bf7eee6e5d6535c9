#include "data/reshape/pack.hpp"

#include "data/reshape/operation.hpp"
#include "data/reshape/operation_words.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view pack_form = "FIELD LENGTH [separator=VALUE]";

class Pack final : public Operation {
 public:
  Pack(std::string field, std::uint64_t length, std::optional<std::int64_t> separator)
      : field_(std::move(field)), length_(length), separator_(separator) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    return {packed_field(before[find_field(before, field_)], length_, separator_)};
  }

  void apply(DatasetImpl& dataset) const override { data::pack(dataset, field_, length_, separator_); }

 private:
  std::string field_;
  std::uint64_t length_;
  std::optional<std::int64_t> separator_;
};

std::unique_ptr<Operation> make_pack(const std::string& text) {
  OperationWords words(text, pack_form);
  const auto separator = words.number("separator");
  auto field = words.take();
  const auto length = words.take_number(1);
  words.end();
  return std::make_unique<Pack>(std::move(field), length, separator);
}

}  // namespace

namespace plugins {

extern const OperationKind pack{.name = "pack",
                                .help =
                                    "puts the values of a field that varies in length, documents of tokens say, one "
                                    "behind the other, with the separator after each, and cuts them into samples of "
                                    "LENGTH values, the only field then",
                                .form = pack_form,
                                .make = make_pack,
                                .place = 2};

}  // namespace plugins

}  // namespace trainrt::data
