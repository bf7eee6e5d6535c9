#include "program/protocol/shared_arrays.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/shared_file.hpp"
#include "program/protocol/fields.hpp"
#include "program/protocol/rank_calls.hpp"

namespace trainrt::program {

void SharedArrays::take_memory(const Message& message) {
  if (!message.file) return;
  memory_ = SharedMemory(message.file, static_cast<std::size_t>(number_field(message.body, "memory")));
  of_ranks_.reset();
}

/// All ranks allocate memory of the same size, which is the maximum of the sizes that the programs request.
Json SharedArrays::share(const Message& message, Channel& channel) {
  const auto asked = number_field(message.body, "bytes");
  if (static_cast<std::size_t>(asked) > size())
    throw UsageError(
        fmt::format("train.program: the program requests to share {} bytes, but its memory has {} bytes", asked, size()));
  const auto bytes = static_cast<std::size_t>(communicator_.all_reduced(asked, Op::max));
  auto memory = communicator_.allocate(bytes);
  const auto location = file_place_of(memory);
  if (!location) return Json::object();
  of_ranks_ = std::move(memory);
  of_ranks_bytes_ = bytes;
  memory_ = SharedMemory();
  channel.attach(location->descriptor);
  return {{"at", location->at}, {"bytes", bytes}};
}

void SharedArrays::all_reduce(const Message& message) {
  const auto& body = message.body;
  take_memory(message);
  const auto dtype = dtype_from(text_field(body, "dtype"));
  const auto count = static_cast<std::size_t>(number_field(body, "count"));
  if (count > size() / size_of(dtype))
    throw UsageError(fmt::format("train.program: all_reduce of {} {} elements exceeds the shared memory of {} bytes", count,
                                 name_of(dtype), size()));
  const auto op =
      choice_field<Op>(body, "reduce", {{"sum", Op::sum}, {"mean", Op::mean}, {"min", Op::min}, {"max", Op::max}});
  communicator_.all_reduce(Buffer{data(), count, dtype}, op, text_field(body, "name", "call of the program"));
}

/// Returns this rank's array, which starts at the first byte of the memory. The memory must have room for `parts`
/// arrays of this size. Throws Error on all ranks if the call, data type or shape differs between ranks. Collective.
Buffer SharedArrays::same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts) {
  take_memory(message);
  const auto what = "the array of " + message.op + "()";
  const auto dtype = dtype_from(text_field(message.body, "dtype"));
  const auto shape = shape_field(message.body, what);
  const auto bytes = bytes_of(shape, dtype, what);
  if (bytes > size() / parts)
    throw UsageError(
        fmt::format("train.program: {} of {} bytes from each of {} ranks exceeds the shared memory of {} bytes", message.op,
                    bytes, parts, size()));
  const auto mine = fmt::format("{} {} {}", call, name_of(dtype), to_string(shape));
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(mine));
  std::array<std::int64_t, 2> extremes = {hash, ~hash};
  communicator_.all_reduce(extremes, Op::max, message.op);
  if (extremes[0] != ~extremes[1])
    throw_mismatch(communicator_.all_gather(mine), communicator_.all_gather(call_place(message)));
  return {data(), bytes / size_of(dtype), dtype};
}

void SharedArrays::broadcast(const Message& message) {
  const auto root = number_field(message.body, "root");
  if (root >= communicator_.size())
    throw UsageError(
        fmt::format("train.program: broadcast from rank {} is invalid; ranks are 0 to {}", root, communicator_.size() - 1));
  const auto buffer = same_on_all_ranks(message, fmt::format("broadcast from rank {} of", root), 1);
  communicator_.broadcast(buffer, static_cast<int>(root), "call of the program");
}

void SharedArrays::all_gather(const Message& message) {
  const auto ranks = static_cast<std::size_t>(communicator_.size());
  const auto mine = same_on_all_ranks(message, "all_gather of", ranks);
  auto* const part = data() + static_cast<std::size_t>(communicator_.rank()) * mine.bytes();  // of this rank
  if (mine.bytes() > 0) std::memmove(part, mine.data, mine.bytes());
  const std::vector<std::size_t> counts(ranks, mine.count);
  communicator_.all_gather(part, counts, Buffer{mine.data, ranks * mine.count, mine.dtype}, "call of the program");
}

}  // namespace trainrt::program
