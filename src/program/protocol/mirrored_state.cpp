#include "program/protocol/mirrored_state.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

TensorEntry& set_placement(TensorEntry& entry, const Json& description) {
  const auto placement = text_field(description, "placement");
  if (placement == "replicated") return entry;
  if (placement == "per_rank") return entry.per_rank();
  if (placement == "sum") return entry.part_of_sum();
  if (placement == "sharded")
    return entry.sharded(static_cast<int>(std::min<std::int64_t>(number_field(description, "axis"), 1 << 20)),
                         number_field(description, "first"), number_field(description, "global_extent"));
  throw UsageError(fmt::format(
      "train.program: the placement of tensor '{}' is '{}'; it must be replicated, sharded, slab, per_rank or sum",
      entry.name, placement));
}

/// Stores the JSON value `from` in the State's value `name`. Throws UsageError if the type of `from` differs.
struct Take {
  const Json& from;
  const std::string& name;
  void operator()(std::int64_t& into) const {
    const bool fits = from.is_number_integer() &&
                      (!from.is_number_unsigned() || from.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!fits) refuse("a 64-bit integer");
    into = from.get<std::int64_t>();
  }
  void operator()(double& into) const { into = real_from(from, "the value '" + name + "'"); }
  void operator()(bool& into) const {
    if (!from.is_boolean()) refuse("true or false");
    into = from.get<bool>();
  }
  void operator()(std::string& into) const {
    if (!from.is_string()) refuse("a string");
    into = from.get<std::string>();
  }
  [[noreturn]] void refuse(const char* wanted) const {
    throw UsageError(fmt::format("train.program: the value '{}' of the State must be {}: its type is fixed", name, wanted));
  }
};

/// Returns the names in the message's "sums". The checkpoint stores the total of each of these values over the ranks.
std::set<std::string> sums_of(const Json& body) {
  std::set<std::string> names;
  if (!body.contains("sums")) return names;
  const auto& values = field(body, "values", Json::value_t::object);
  for (const auto& name : field(body, "sums", Json::value_t::array)) {
    if (!name.is_string() || !values.contains(name.get<std::string>()))
      throw UsageError("train.program: \"sums\" contains " + name.dump() + ", but may only contain names of \"values\"");
    names.insert(name.get<std::string>());
  }
  return names;
}

}  // namespace

MirroredState::MirroredState(const Message& request)
    : own_(std::make_shared<SharedMemory>()), memory_(*own_), is_steady_(flag_field(request.body, "steady")) {
  const auto bytes = number_field(request.body, "memory");
  if (bytes > 0) memory_ = SharedMemory(request.file, static_cast<std::size_t>(bytes));
  add_all(request.body);
}

MirroredState::MirroredState(const Message& request, SharedMemory& kept) : memory_(kept) {
  if (request.file) memory_ = SharedMemory(request.file, static_cast<std::size_t>(number_field(request.body, "memory")));
  add_all(request.body);
}

void MirroredState::add_all(const Json& body) {
  for (const auto& tensor : field(body, "tensors", Json::value_t::array)) add_tensor(tensor);
  const auto sums = sums_of(body);
  for (const auto& [name, value] : field(body, "values", Json::value_t::object).items())
    add_value(name, value, sums.contains(name));
  for (const auto& file : field(body, "files", Json::value_t::array)) add_file(file);
}

void MirroredState::add_tensor(const Json& description) {
  auto name = text_field(description, "name");
  const auto dtype = dtype_from(text_field(description, "dtype"));
  const auto what = "tensor '" + name + "'";
  auto shape = shape_field(description, what);
  const auto at = static_cast<std::size_t>(number_field(description, "at"));
  const auto bytes = bytes_of(shape, dtype, what);
  if (at % size_of(dtype) != 0 || at > memory_.size() || bytes > memory_.size() - at)
    throw UsageError(fmt::format(
        "train.program: the tensor '{}' of {} bytes at offset {} exceeds the shared memory of {} bytes, or is not aligned",
        name, bytes, at, memory_.size()));
  TensorView view{memory_.data() + at, dtype, std::move(shape)};
  const bool is_slab = text_field(description, "placement") == "slab";
  auto& entry = is_slab ? state_.slab(std::move(name), std::move(view), shape_field(description, what, "offset"),
                                      shape_field(description, what, "global_shape"))
                        : set_placement(state_.tensor(std::move(name), std::move(view)), description);
  if (is_steady_) entry.steady = own_;
}

void MirroredState::add_value(const std::string& name, const Json& value, bool is_part_of_sum) {
  auto& entry = values_.emplace_back(Value{name, {}});
  if (value.is_boolean())
    entry.value = false;
  else if (value.is_number_integer())
    entry.value = std::int64_t{0};
  else if (is_real(value))
    entry.value = 0.0;
  else if (value.is_string())
    entry.value = std::string();
  else
    throw UsageError(fmt::format("train.program: the value '{}' must be a number, bool or string", name));
  std::visit(Take{value, name}, entry.value);  // the State keeps this value if the checkpoint has no value `name`
  auto& declared = std::visit([&](auto& held) -> ValueEntry& { return state_.value(name, held); }, entry.value);
  if (is_part_of_sum) declared.part_of_sum();
}

void MirroredState::add_file(const Json& description) {
  auto& entry = state_.file(text_field(description, "name"), text_field(description, "path"));
  if (flag_field(description, "per_rank")) entry.per_rank();
}

Json MirroredState::values() const {
  auto all = Json::object();
  for (const auto& [name, value] : values_)
    std::visit(
        [&, &key = name](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>)
            all[key] = json_of(held);
          else
            all[key] = held;
        },
        value);
  return all;
}

void MirroredState::take_values(const Json& values) {
  if (values.size() != values_.size())
    throw UsageError(
        fmt::format("train.program: the program sent {} values, but its State has {}", values.size(), values_.size()));
  for (auto& [name, value] : values_) {
    const auto found = values.find(name);
    if (found == values.end())
      throw UsageError(fmt::format("train.program: the program sent its State without the value '{}'", name));
    std::visit(Take{*found, name}, value);
  }
}

}  // namespace trainrt::program
