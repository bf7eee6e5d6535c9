// Reads safetensors files: parses the header, and reads the file.
#include "data/arrays/safetensors_header.hpp"
#include "support/fuzz/fuzz_data.hpp"

namespace trainrt::data::plugins {
extern const Format safetensors;
}

namespace trainrt::fuzz {

namespace {

std::string file_of_tensors(const std::string& json, const std::string& values) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i));
  return bytes + json + values;
}

/// Checks that all tensors are within the file and fill it.
void check_places(const std::string& json, std::uint64_t bytes) {
  const auto tensors = unless_refused<UsageError>([&] { return data::safetensors_of(json, bytes, "x"); });
  if (!tensors) return;
  std::uint64_t sum = 0;
  for (const auto& tensor : *tensors) {
    require(tensor.begin >= 8 + json.size() && tensor.begin <= bytes && tensor.bytes <= bytes - tensor.begin,
            "a tensor is within its file");
    sum += tensor.bytes;
  }
  require(sum == bytes - 8 - json.size(), "tensors fill their file");
}

}  // namespace

std::vector<std::string> seeds() {
  return {file_of_tensors(R"({"x":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", "12345678"),
          file_of_tensors(R"({"__metadata__":{"a":"b"},"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                          R"("y":{"dtype":"BF16","shape":[3,0],"data_offsets":[3,3]}})",
                          "abc"),
          file_of_tensors(R"({"x":{"dtype":"U16","shape":[],"data_offsets":[0,2]}})", "ab"), file_of_tensors("{}", "")};
}

std::vector<std::string> words() {
  return {"\"dtype\":",
          "\"shape\":",
          "\"data_offsets\":",
          "\"F32\"",
          "\"BOOL\"",
          "[0,8]",
          "[",
          "]",
          "{",
          "}",
          ",",
          "\"x\":",
          "18446744073709551615",
          "9223372036854775807",
          "-1",
          "1e3",
          "\"__metadata__\":"};
}

void read(const std::string& input) {
  static MemoryFile file;
  check_places(input, 8 + input.size() + input.size() % 16);
  file.hold(input);
  read_through(data::plugins::safetensors, {file.path(), input.size(), 0}, input.size() % 2 == 0);
}

}  // namespace trainrt::fuzz
