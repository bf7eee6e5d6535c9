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
  /// A file of its own in the folder, which exists; its number is beyond those of all files there and beyond `above`.
  static JournalWriter claimed(const std::string& folder, int above = 0);
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
  /// Gives each record that was not given before, file by file. Throws Error if a file is shorter than what was read of it.
  void read(const Take& take);
  const Positions& positions() const { return positions_; }
  /// A line of a file, counted from 1.
  struct Line {
    int writer = 0;
    std::uint64_t number = 0;
  };
  /// Lines that are no records.
  const std::vector<Line>& damaged() const { return damaged_; }
  /// Lines that were read of a file so far.
  std::uint64_t lines_of(int writer) const;

 private:
  void read_file(int number, const Take& take);

  std::string folder_;
  Positions positions_;
  std::map<int, std::uint64_t> lines_;
  std::vector<Line> damaged_;
};

/// The files' numbers, ascending.
std::vector<int> journal_files(const std::string& folder);
std::string journal_file(const std::string& folder, int number);

}  // namespace trainrt::tune
