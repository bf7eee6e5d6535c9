#include "trainer/start/code_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <trainrt/error.hpp>

#include "io/files/digest.hpp"
#include "io/files/file.hpp"

namespace trainrt::trainer {

namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{64} << 20;

bool is_script(const std::string& word) {
  constexpr std::array<std::string_view, 7> suffixes{".py", ".sh", ".bash", ".R", ".jl", ".pl", ".lua"};
  return std::ranges::any_of(suffixes, [&](auto suffix) { return word.ends_with(suffix); });
}

void add(std::map<std::string, std::string>& files, const std::string& path) try {
  if (!std::filesystem::is_regular_file(path)) return;
  if (io::FileReader(path).size() <= max_file_bytes) files[path] = io::digest_of_file(path).hex;
} catch (const std::exception&) {  // skips the file; the command that runs it reports the error
}

}  // namespace

std::map<std::string, std::string> code_files(const config::RunSpec& spec) {
  std::map<std::string, std::string> files;
  for (const auto& word : spec.train.command)
    if (is_script(word)) add(files, word);
  const auto& command = spec.train.command;
  const bool is_interpreter = command.size() > 1 && command[1].starts_with("-");  // as in python3 -m train
  if (files.empty() && !command.empty() && !is_interpreter && command.front().find('/') != std::string::npos)
    add(files, command.front());
  if (!spec.train.library.empty()) add(files, spec.train.library);
  return files;
}

}  // namespace trainrt::trainer
