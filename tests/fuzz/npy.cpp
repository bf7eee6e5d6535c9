// Reads NumPy's .npy files: parses the dictionary in the header, and reads the file.
#include <fmt/format.h>

#include "core/text/text.hpp"
#include "data/arrays/npy_header.hpp"
#include "support/fuzz/fuzz_data.hpp"

namespace trainrt::data::plugins {
extern const Format npy;
}

namespace trainrt::fuzz {

namespace {

std::string file_of(int version, const std::string& dict, const std::string& values) {
  const auto text = dict + "\n";
  auto bytes = "\x93NUMPY" + std::string{static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text + values;
}

/// Returns the header's dictionary as NumPy writes it.
std::string text_of(const data::NpyDict& dict) {
  std::string shape;
  for (const auto extent : dict.shape) shape += fmt::format("{}, ", extent);
  const char quote = dict.descr.find('\'') == std::string::npos ? '\'' : '"';
  return fmt::format("{{'descr': {0}{1}{0}, 'fortran_order': {2}, 'shape': ({3}), }}", quote, dict.descr,
                     dict.fortran_order ? "True" : "False", shape);
}

void read_dict(const std::string& text) {
  const auto dict = unless_refused<UsageError>([&] { return data::parse_npy_dict(text, "x.npy"); });
  if (!dict || dict->is_structured) return;
  const auto again = data::parse_npy_dict(text_of(*dict), "x.npy");
  require(again.descr == dict->descr && again.shape == dict->shape && again.fortran_order == dict->fortran_order,
          "a header that is read and written again stays the same");
}

}  // namespace

std::vector<std::string> seeds() {
  return {file_of(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", "aabbccddeeff"),
          file_of(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2L,)}", "ab"),
          file_of(3, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 1, 1)}", "12345678"),
          file_of(1, "{'descr': [('x', '<f4'), ('y', '<i4')], 'fortran_order': False, 'shape': (1,)}", "12345678"),
          file_of(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (9223372036854775807, 0)}", ""),
          "{'descr': '|O', 'fortran_order': False, 'shape': ()}"};
}

std::vector<std::string> words() {
  return {"'descr': ",
          "'fortran_order': ",
          "'shape': ",
          "True",
          "False",
          "'|u1'",
          "'>f4'",
          "'<u2'",
          "(1,)",
          "(",
          ")",
          "{",
          "}",
          ", ",
          "\x93NUMPY\x01",
          "9223372036854775807",
          "-1",
          "0L",
          "\\"};
}

void read(const std::string& input) {
  static MemoryFile file;
  read_dict(input);
  file.hold(input);
  const auto content = read_through(data::plugins::npy, {file.path(), input.size(), 0}, input.size() % 2 == 0);
  if (content)
    require(data::npy_header(data::InputFile({file.path(), input.size(), 0})).samples() == content->samples,
            "a file has the same content when it is read twice");
}

}  // namespace trainrt::fuzz
