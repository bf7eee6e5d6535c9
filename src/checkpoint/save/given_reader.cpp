#include "checkpoint/save/given_reader.hpp"

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

io::FileReader opened(const std::string& path) try { return io::FileReader(path); } catch (const Error& error) {
  throw GivenUnreadable(error.what());
}

std::size_t read_some(io::FileReader& reader, std::span<std::byte> into) try {
  return reader.read(into);
} catch (const Error& error) {
  throw GivenUnreadable(error.what());
}

[[noreturn]] void fail_changed(const GivenFile& file) {
  throw GivenUnreadable("'" + file.path + "' changed its size while it was copied into a checkpoint: a file must be " +
                        "complete before report(), and stay as it is until that returns");
}

}  // namespace

GivenReader::GivenReader(const GivenFile& file) : file_(file), reader_(opened(file.path)) {}

void GivenReader::read(std::span<std::byte> into) {
  if (read_some(reader_, into) != into.size()) fail_changed(file_);
}

void GivenReader::end() {
  std::byte more{};
  if (read_some(reader_, {&more, 1}) != 0) fail_changed(file_);
}

}  // namespace trainrt::checkpoint
