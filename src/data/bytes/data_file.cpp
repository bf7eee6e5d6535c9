#include "data/bytes/data_file.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/input_file.hpp"
#include "data/bytes/object_reader.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t longest_list = 256 << 20;  // bytes of an @FILE

[[noreturn]] void bad_source(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("the source {}: {}", path, why));
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& relative : io::list_files_below(folder)) {
    const bool is_hidden = relative.front() == '.' || relative.front() == '_' || relative.find("/.") != std::string::npos ||
                           relative.find("/_") != std::string::npos;
    if (!is_hidden) paths.push_back((std::filesystem::path(folder) / relative).string());
  }
  if (paths.empty()) bad_source(folder, "the folder holds no files (names that begin with . or _ do not count)");
  return paths;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> end(&found, globfree);
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
  if (code == GLOB_NOMATCH) bad_source(pattern, "no file is there, and none fits if it is meant as a pattern");
  if (code != 0) bad_source(pattern, std::string("the pattern cannot be looked up: ") + std::strerror(errno));
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

}  // namespace

std::vector<std::string> lines_of_list(const std::string& path) {
  const auto list = data_file(path);
  if (list.size > longest_list) bad_source('@' + path, "the list is longer than 256 MiB");
  std::vector<std::string> words;
  std::string text(list.size, '\0');
  InputFile(list).read(0, std::as_writable_bytes(std::span(text)));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto word = trim(std::string_view(text).substr(at, end - at));
    if (!word.empty() && word.front() != '#') words.push_back(std::move(word));
    at = end + 1;
  }
  if (words.empty()) bad_source('@' + path, "the list names no file");
  return words;
}

std::vector<std::string> paths_of_word(const std::string& word) {
  std::error_code ignored;
  const auto status = std::filesystem::status(word, ignored);
  if (std::filesystem::is_directory(status)) return files_of_folder(word);
  if (std::filesystem::exists(status)) return {word};
  auto paths = word.find_first_of("*?[") != std::string::npos ? files_of_pattern(word) : std::vector{word};
  std::sort(paths.begin(), paths.end());
  return paths;
}

namespace {

void add_objects(const std::string& word, std::vector<DataFile>& files) {
  const auto objects = list_objects(word);
  if (objects.empty()) bad_source(word, "no object is there, none is below it, and none fits if it is meant as a pattern");
  files.insert(files.end(), objects.begin(), objects.end());
}

void add_files(const std::string& word, std::vector<DataFile>& files) {
  if (is_object(word)) return add_objects(word, files);
  for (const auto& path : paths_of_word(word)) files.push_back(data_file(path));
}

}  // namespace

DataFile data_file(const std::string& path) {
  if (is_object(path)) {
    auto object = find_object(path);
    if (!object) bad_source(path, "is not there");
    return *object;
  }
  struct stat info {};
  io::retried([&] {
    if (::stat(path.c_str(), &info) == 0) return;
    if (errno == ENOENT || errno == ENOTDIR) bad_source(path, "is not there");
    io::fail("look at", path, errno);
  });
  if (!S_ISREG(info.st_mode)) bad_source(path, "is not a file");
  return {path, static_cast<std::uint64_t>(info.st_size),
          std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

std::vector<std::string> words_of_source(const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored)) return {source};  // a name with a comma in it
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= source.size();) {
    const auto end = std::min(source.find(',', at), source.size());
    if (auto word = trim(std::string_view(source).substr(at, end - at)); !word.empty()) words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

std::string first_path_of(const std::string& source) {
  const auto words = words_of_source(source);
  if (words.empty()) bad_source(source, "names no file");
  auto word = words.front();
  if (word.starts_with('@')) word = lines_of_list(word.substr(1)).front();
  return paths_of_word(word).front();
}

std::vector<DataFile> list_data_files(const std::string& source) {
  if (trim(source).empty()) throw UsageError("the source is empty; it names a file, a folder, a pattern or @LIST");
  std::vector<DataFile> files;
  for (const auto& word : words_of_source(source)) {
    if (word.starts_with('@'))
      for (const auto& line : lines_of_list(word.substr(1))) add_files(line, files);
    else
      add_files(word, files);
  }
  if (files.empty()) bad_source(source, "names no file");
  return files;
}

}  // namespace trainrt::data
