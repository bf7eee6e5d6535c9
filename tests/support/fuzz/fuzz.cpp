#include "support/fuzz/fuzz.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fault_point.hpp"
#include "core/output/log.hpp"

namespace trainrt::fuzz {

namespace {

std::size_t input_size = 0;

}  // namespace

std::size_t longest_message() { return 1000 + 2 * input_size; }

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "BROKEN PROMISE: %s\n", promise);
  std::abort();
}

MemoryFile::MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", fd_)) {
  require(fd_ >= 0, "the fuzz target has a file in memory");
}

MemoryFile::~MemoryFile() { close(fd_); }

void MemoryFile::hold(std::string_view bytes) {
  const bool written = ftruncate(fd_, 0) == 0 && pwrite(fd_, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size());
  require(written, "the fuzz target can write its file in memory");
}

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(TRAINRT_SOURCE_DIR) + "/" + path, std::ios::binary);
  require(file.good(), "the file of a seed was written");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string with_number(std::string json, const std::string& key, const std::string& number) {
  const auto at = json.find("\"" + key + "\":");
  require(at != std::string::npos, "a seed has the key that is to be changed");
  const auto begin = at + key.size() + 3;
  return json.replace(begin, json.find_first_of(",}\n", begin) - begin, number);
}

std::string deep_json() { return R"({"a":)" + std::string(3500, '[') + std::string(3500, ']') + "}"; }

namespace {

/// Writes the seeds, one file each, and the dictionary in the format of libFuzzer.
void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "seeds");
  int number = 0;
  for (const auto& seed : seeds())
    std::ofstream(folder / "seeds" / fmt::format("{:03}", number++), std::ios::binary) << seed;
  std::ofstream dictionary(folder / "words");
  for (const auto& word : words()) {
    dictionary << '"';
    for (const unsigned char c : word) dictionary << fmt::format("\\x{:02x}", c);
    dictionary << "\"\n";
  }
}

}  // namespace

}  // namespace trainrt::fuzz

// Replacements that print no warnings and inject no faults.
namespace trainrt {
void fault_point(std::string_view) {}
namespace log {
void info(const std::string&) {}
void warning(const std::string&) {}
void run_warning(const std::string&) {}
}  // namespace log
}  // namespace trainrt

/// `TARGET --write-seeds FOLDER` writes the first inputs to files instead of fuzzing.
extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  if (*count != 3 || std::string_view((*words)[1]) != "--write-seeds") return 0;
  trainrt::fuzz::write_seeds((*words)[2]);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainrt::fuzz::input_size = size;
  trainrt::fuzz::read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
