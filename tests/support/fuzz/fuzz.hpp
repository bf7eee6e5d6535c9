#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

/// The functions that a fuzz target (one file of tests/fuzz, one program) defines, and helpers, which are in
/// tests/support/fuzz/fuzz.cpp.
namespace trainrt::fuzz {

/// Returns the first inputs: files that trainrt writes, and inputs that once failed.
std::vector<std::string> seeds();
/// Returns words that the fuzzer inserts into inputs.
std::vector<std::string> words();
/// Passes the bytes to the code that reads them and checks its contract. An exception that leaves this function, or a
/// signal, is a finding.
void read(const std::string& input);

/// Ends the program with a finding unless `kept`.
void require(bool kept, const char* promise);

/// Returns the maximum length of an error message in bytes: a page and the quoted input.
std::size_t longest_message();
/// Template argument of unless_refused() for readers that may throw any exception.
using AnyException = std::exception;

/// Returns the result of `work`, or nothing if it threw the error type that its header documents. Any other exception is a
/// finding.
template <class Promised = Error, class Work>
auto unless_refused(Work work) -> std::optional<decltype(work())> try {
  return work();
} catch (const Promised& error) {
  require(std::strlen(error.what()) > 0, "the message of an error is not empty");
  require(std::strlen(error.what()) <= longest_message(), "the message of an error has a bounded length");
  return std::nullopt;
}

/// A file in memory, for readers that take a path. Each hold() replaces its content.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void hold(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

/// Returns the content of a file of the source tree.
std::string source_file(const std::string& path);

/// Returns JSON text in which `number` replaces the value of the first `"key": value`.
std::string with_number(std::string json, const std::string& key, const std::string& number);

/// Returns JSON that is nested deeply enough to overflow the stack of a recursive reader.
std::string deep_json();

}  // namespace trainrt::fuzz
