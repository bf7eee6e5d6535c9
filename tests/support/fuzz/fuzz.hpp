#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

/// What a fuzz target defines: one file of tests/fuzz, one program. tests/support/fuzz/fuzz.cpp is the rest of it.
namespace trainrt::fuzz {

/// Inputs to begin with: what trainrt itself writes, and what was found to be hard.
std::vector<std::string> seeds();
/// Words that mutations put in.
std::vector<std::string> words();
/// Hands the bytes to the code that reads them, and holds it to its promises. What it throws, or a signal, is a finding.
void read(const std::string& input);

/// Ends the program with a finding if a promise is not kept.
void require(bool kept, const char* promise);

/// How long the message of an error may be: a page, and what it quotes of the input.
std::size_t longest_message();
/// Of a reader that promises no more than an exception.
using AnyException = std::exception;

/// What `work` returns; nothing if it threw the error that its header promises. Any other exception is a finding.
template <class Promised = Error, class Work>
auto unless_refused(Work work) -> std::optional<decltype(work())> try {
  return work();
} catch (const Promised& error) {
  require(std::strlen(error.what()) > 0, "an error says something");
  require(std::strlen(error.what()) <= longest_message(), "the message of an error has a bounded length");
  return std::nullopt;
}

/// A file in memory, for readers that take a path. Each hold() replaces what is in it.
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

/// A file of the source tree.
std::string source_file(const std::string& path);

/// A text of JSON, with that number in the place of the value of the first `"key": value`.
std::string with_number(std::string json, const std::string& key, const std::string& number);

/// JSON nested so deep that code which walks it recursively runs out of stack.
std::string deep_json();

}  // namespace trainrt::fuzz
