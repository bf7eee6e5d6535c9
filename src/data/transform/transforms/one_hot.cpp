#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// A whole number below `classes` becomes as many f32: 1 at its place, 0 elsewhere.
class OneHot final : public FieldMap {
 public:
  OneHot(const Dataset::Field& from, std::size_t classes) : from_(from.dtype), field_(from), classes_(classes) {
    field_.dtype = DType::f32;
    field_.sample_shape.push_back(static_cast<std::int64_t>(classes));
  }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override {
    auto* const out = reinterpret_cast<float*>(to.data());
    const auto count = from.size() / size_of(from_);
    std::fill(out, out + count * classes_, 0.0F);
    for (std::size_t i = 0; i < count; ++i) {
      const auto label = number_at(from, from_, i);
      if (label < 0 || label >= static_cast<double>(classes_))
        throw UsageError(fmt::format("the field {} holds {}, and one_hot makes {} classes of it: 0 to {}", field_.name,
                                     label, classes_, classes_ - 1));
      out[i * classes_ + static_cast<std::size_t>(label)] = 1;
    }
  }

 private:
  DType from_;
  Dataset::Field field_;
  std::size_t classes_;
};

std::unique_ptr<FieldMap> make_one_hot(const Dataset::Field& field, std::span<const std::string> arguments) {
  constexpr std::int64_t most = 1 << 20;
  const auto classes = arguments.size() == 1 ? parse_integer(arguments[0]) : std::nullopt;
  if (!classes || *classes < 1 || *classes > most)
    throw UsageError(fmt::format("{} needs the number of classes, 1 to {}", field.name, most));
  const bool is_whole = field.dtype == DType::i64 || field.dtype == DType::i32 || field.dtype == DType::i16 ||
                        field.dtype == DType::i8 || field.dtype == DType::u8 || field.dtype == DType::boolean;
  if (!is_whole) throw UsageError(fmt::format("{} is {}; it must hold whole numbers", field.name, name_of(field.dtype)));
  return std::make_unique<OneHot>(field, static_cast<std::size_t>(*classes));
}

}  // namespace

namespace plugins {

extern const Transform one_hot{.name = "one_hot",
                               .help = "makes CLASSES f32 of a whole number: 1 at its place, 0 elsewhere",
                               .arguments = "CLASSES",
                               .make = make_one_hot};

}  // namespace plugins

}  // namespace trainrt::data
