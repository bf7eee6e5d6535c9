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
#include "io/storage_url.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t max_list_bytes = 256 << 20;  // maximum size of the list in an @FILE

[[noreturn]] void reject_source(const std::string& source, const std::string& why) {
  throw UsageError(fmt::format("source '{}' {}", source, why));
}

/// Returns " (did you mean 'NAME'?)" with the most similar name of a file in the folder of `path`. Searches at most
/// `max_names` files. Returns "" if no name is similar.
std::string similar_file(const std::string& path) {
  constexpr std::size_t max_names = 10'000;
  const std::filesystem::path given(path);
  std::vector<std::string> names;
  std::error_code failed;
  const auto folder = given.has_parent_path() ? given.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end && names.size() < max_names;
       entry.increment(failed))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);  // so that the suggestion does not depend on the order in which the folder lists names
  return did_you_mean(given.filename().string(), names);
}

/// Returns the text "does not exist", followed by a suggestion if a file has a similar name. For a relative path, the
/// text also names the current folder.
std::string missing_text(const std::string& path) {
  std::error_code ignored;
  const auto folder = std::filesystem::current_path(ignored).string();
  return (path.starts_with('/') || folder.empty() ? "does not exist" : fmt::format("does not exist in {}", folder)) +
         similar_file(path);
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& relative : io::list_files_below(folder))
    if (!is_hidden(relative)) paths.push_back((std::filesystem::path(folder) / relative).string());
  if (paths.empty()) reject_source(folder, "is a folder without files (names that begin with . or _ are ignored)");
  return paths;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> end(&found, globfree);
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
  if (code == GLOB_NOMATCH) reject_source(pattern, "does not exist, and as a pattern it matches no file");
  if (code != 0) reject_source(pattern, std::string("cannot be searched for matching files: ") + std::strerror(errno));
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

void add_files(const std::string& word, std::vector<DataFile>& files) {
  if (!is_object(word)) {
    for (const auto& path : paths_of_word(word)) files.push_back(data_file(path));
    return;
  }
  const auto objects = list_objects(word);
  if (objects.empty()) reject_source(word, "matches no object; it must be the name of an object, a folder or a pattern");
  files.insert(files.end(), objects.begin(), objects.end());
}

}  // namespace

bool is_hidden(std::string_view relative) {
  return relative.starts_with('.') || relative.starts_with('_') || relative.find("/.") != relative.npos ||
         relative.find("/_") != relative.npos;
}

std::vector<std::string> lines_of_list(const std::string& path) {
  const auto list = data_file(path);
  if (list.size > max_list_bytes)
    reject_source('@' + path, fmt::format("is a list of {} bytes; a list may have at most {}", list.size, max_list_bytes));
  auto lines = words_in(read_text(list), '\n');
  std::erase_if(lines, [](const std::string& line) { return line.front() == '#'; });
  if (lines.empty()) reject_source('@' + path, "is a list without files; a list must name at least one file");
  return lines;
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

DataFile data_file(const std::string& path) {
  if (is_object(path)) {
    auto object = find_object(path);
    if (!object) reject_source(path, "does not exist");
    return *object;
  }
  struct stat status {};
  io::retried([&] {
    if (::stat(path.c_str(), &status) == 0) return;
    if (errno == ENOENT || errno == ENOTDIR) reject_source(path, missing_text(path));
    io::fail("read the status of", path, errno);
  });
  if (!S_ISREG(status.st_mode)) reject_source(path, "is not a file");
  return {path, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::vector<std::string> words_of_source(const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored)) return {source};  // `source` is one file with a comma in its name
  return words_in(source);
}

std::string first_path_of(const std::string& source) {
  const auto words = words_of_source(source);
  if (words.empty()) reject_source(source, "names no file");
  auto word = words.front();
  if (word.starts_with('@')) word = lines_of_list(word.substr(1)).front();
  if (const auto url = io::storage_url(word)) return io::url_in_bucket(*url, url->name);
  return paths_of_word(word).front();
}

std::vector<DataFile> list_data_files(const std::string& source) {
  if (trim(source).empty()) throw UsageError("the key 'source' is empty; set it to a file, a folder, a pattern or @LIST");
  std::vector<DataFile> files;
  for (const auto& word : words_of_source(source)) {
    if (word.starts_with('@'))
      for (const auto& line : lines_of_list(word.substr(1))) add_files(line, files);
    else
      add_files(word, files);
  }
  if (files.empty()) reject_source(source, "names no file");
  return files;
}

}  // namespace trainrt::data
