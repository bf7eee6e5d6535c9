#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Stores a number as T; one that T cannot hold is an error.
template <class T>
void store(double value, const std::string& field, std::byte* to) {
  constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
  const bool fits = std::is_floating_point_v<T> || (value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                                    (value < largest || (sizeof(T) < 8 && value == largest)));
  if (!fits)
    throw UsageError(fmt::format("the field {} holds {}, which {} cannot hold", field, value, name_of(dtype_of<T>::value)));
  const auto stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof(T));
}

using Store = void (*)(double, const std::string&, std::byte*);

Store store_as(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return store<double>;
    case DType::f32:
      return store<float>;
    case DType::i64:
      return store<std::int64_t>;
    case DType::i32:
      return store<std::int32_t>;
    case DType::i16:
      return store<std::int16_t>;
    case DType::i8:
      return store<std::int8_t>;
    case DType::u8:
      return store<std::uint8_t>;
    default:
      return nullptr;
  }
}

class Cast final : public FieldMap {
 public:
  Cast(const Dataset::Field& from, DType to) : from_(from.dtype), field_(from), store_(store_as(to)) { field_.dtype = to; }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from_ == field_.dtype) return static_cast<void>(std::memcpy(to.data(), from.data(), from.size()));
    const auto bytes = size_of(field_.dtype);
    for (std::size_t i = 0; i < to.size() / bytes; ++i)
      store_(number_at(from, from_, i), field_.name, to.data() + i * bytes);
  }

 private:
  DType from_;
  Dataset::Field field_;
  Store store_;
};

std::unique_ptr<FieldMap> make_cast(const Dataset::Field& field, std::span<const std::string> arguments) {
  if (arguments.size() != 1) throw UsageError(fmt::format("{} needs one type", field.name));
  const auto to = dtype_from(arguments[0]);
  if (!is_plain_number(field.dtype) || store_as(to) == nullptr)
    throw UsageError(fmt::format("{} is {}, and cannot become {}; casts are between f64, f32, i64, i32, i16, i8 and u8",
                                 field.name, name_of(field.dtype), arguments[0]));
  return std::make_unique<Cast>(field, to);
}

}  // namespace

namespace plugins {

extern const Transform cast{.name = "cast",
                            .help = "gives a field another type; a value that it cannot hold is an error",
                            .arguments = "TYPE",
                            .make = make_cast};

}  // namespace plugins

}  // namespace trainrt::data
