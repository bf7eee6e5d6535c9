#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::tune {

// The memory of a sweep: a folder of files with one writer each, which only grow. A record is a line: a checksum, a blank,
// and a JSON object. Records of one file have an order; those of several have none. A line that a killed writer left is no
// record, and hides none.

/// How many bytes of each file were read, by the file's number.
using Positions = std::map<int, std::uint64_t>;

/// Appends to one file. What two processes append to it one after the other, never at once, is in its order.
class JournalWriter {
 public:
  /// A file of its own in the folder, which is there.
  static JournalWriter claimed(const std::string& folder);
  /// Goes on with a file that nobody else writes now.
  JournalWriter(const std::string& folder, int number);

  /// Beside such a file: what its writer had read (decision_log.hpp). Nobody needs it to go on.
  static JournalWriter of_reads(const std::string& folder, int number);

  int number() const { return number_; }
  const std::string& path() const { return path_; }
  /// A JSON object without line ends. `durable`: it is on the disk when this returns.
  void append(std::string_view json, bool durable = false);

 private:
  JournalWriter(int number, std::string path) : number_(number), path_(std::move(path)) {}

  int number_;
  std::string path_;
};

/// Reads what all writers have appended.
class JournalReader {
 public:
  explicit JournalReader(std::string folder) : folder_(std::move(folder)) {}
  using Take = std::function<void(int writer, const std::string& json)>;
  /// Gives each record that was not given before, file by file.
  void read(const Take& take);
  const Positions& positions() const { return positions_; }
  /// Lines that are no records.
  std::uint64_t damaged() const { return damaged_; }

 private:
  void read_file(int number, const Take& take);

  std::string folder_;
  Positions positions_;
  std::uint64_t damaged_ = 0;
};

/// The files' numbers, ascending.
std::vector<int> journal_files(const std::string& folder);
std::string journal_file(const std::string& folder, int number);

}  // namespace trainrt::tune
