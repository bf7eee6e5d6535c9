#include "tune/record/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "io/files/digest.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::tune {

namespace {

constexpr std::size_t checksum_digits = 16;
constexpr int max_files = 1'000'000;

std::string checksum_of(std::string_view json) { return io::digest_of(json).substr(0, checksum_digits); }

/// Returns the JSON text of a journal line; nullopt if its checksum is wrong.
std::optional<std::string> record_in(std::string_view line) {
  if (line.size() <= checksum_digits || line[checksum_digits] != ' ') return std::nullopt;
  const auto json = line.substr(checksum_digits + 1);
  if (checksum_of(json) != line.substr(0, checksum_digits)) return std::nullopt;
  return std::string(json);
}

/// Returns the bytes of the file from `from` on, or "" if the file does not exist. Throws Error if the file is shorter
/// than `from`, and StorageError if it cannot be read.
std::string tail_of(const std::string& path, std::uint64_t from) {
  const io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 && errno == ENOENT) return {};
  if (file.get() < 0) io::fail("open the journal", path, errno);
  if (::fstat(file.get(), &info) != 0) io::fail("check the journal", path, errno);
  const auto end = static_cast<std::uint64_t>(info.st_size);
  if (end < from)
    throw Error(
        fmt::format("the journal '{}' was truncated: {} bytes of it were read, now it has {}. Run the same command "
                    "again: it restores missing records from the trials",
                    path, from, end));
  if (end == from) return {};
  std::string bytes(end - from, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = ::pread(file.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(from + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io::fail("read the journal", path, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

/// Returns false, with errno, if a write fails.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

/// Returns whether the file is empty or ends with a line break. A process that was killed may leave an incomplete line.
bool ends_with_line_break(int file) {
  struct stat info {};
  char last = 0;
  if (::fstat(file, &info) != 0 || info.st_size == 0) return true;
  return ::pread(file, &last, 1, info.st_size - 1) == 1 && last == '\n';
}

}  // namespace

std::string journal_file(const std::string& folder, int number) { return fmt::format("{}/{:06}.jsonl", folder, number); }

std::vector<int> journal_files(const std::string& folder) {
  std::vector<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    if (const auto number = parse_integer(entry.path().stem().string())) numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

JournalWriter JournalWriter::claimed(const std::string& folder, int above) {
  const auto existing = journal_files(folder);
  for (int number = std::max(existing.empty() ? 0 : existing.back(), above) + 1; number < max_files; ++number)
    if (io::create_exclusive(journal_file(folder, number), "")) return {folder, number};
  throw Error(fmt::format("the journal '{}' has {} files, which is the maximum. Start a new sweep with --run.name=NAME",
                          folder, max_files));
}

JournalWriter::JournalWriter(const std::string& folder, int number)
    : number_(number), path_(journal_file(folder, number)) {}

JournalWriter JournalWriter::of_reads(const std::string& folder, int number) {
  return {number, fmt::format("{}/{:06}.reads", folder, number)};
}

void JournalWriter::append(std::string_view json, bool durable) {
  io::retried([&] {  // an incomplete line is not a record, so the line may be written again
    const io::Descriptor file(open_guarded(path_, O_RDWR | O_APPEND | O_CREAT));
    if (file.get() < 0) io::fail("open the journal", path_, errno);
    const auto line = fmt::format("{}{} {}\n", ends_with_line_break(file.get()) ? "" : "\n", checksum_of(json), json);
    if (!write_all(file.get(), line)) io::fail("write the journal", path_, errno);
  });
  const io::Descriptor file(durable ? ::open(path_.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (durable && (file.get() < 0 || ::fsync(file.get()) != 0)) io::fail("flush the journal", path_, errno);
}

void JournalReader::read(const Take& take) {
  for (const auto number : journal_files(folder_)) read_file(number, take);
}

/// Reads the complete new lines of a file. An incomplete last line is read again later, because its writer may still
/// complete it.
void JournalReader::read_file(int number, const Take& take) {
  auto& position = positions_[number];
  const auto bytes = io::retried([&] { return tail_of(journal_file(folder_, number), position); });
  std::size_t begin = 0;
  auto& line = lines_[number];
  for (auto end = bytes.find('\n'); end != std::string::npos; begin = end + 1, end = bytes.find('\n', begin)) {
    ++line;
    if (end == begin) continue;  // the line break that was added after an incomplete line
    if (const auto record = record_in(std::string_view(bytes).substr(begin, end - begin)))
      take(number, *record);
    else
      damaged_.push_back({number, line});
  }
  position += begin;
}

std::uint64_t JournalReader::lines_of(int writer) const {
  const auto found = lines_.find(writer);
  return found == lines_.end() ? 0 : found->second;
}

}  // namespace trainrt::tune
