#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/files/removal_guard.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli {

/// A file that appears whole or not at all: it is written beside its place, made durable and renamed. Without a commit
/// nothing is left, also after a kill (RemovalGuard); what remains if a whole job was killed is removed by the next file
/// that is made in that directory.
class NewFile {
 public:
  /// UsageError if something has the name already, unless it is to be replaced, or if its directory is not there.
  NewFile(std::string path, bool replace);
  ~NewFile();
  NewFile(const NewFile&) = delete;

  /// How long it will be, to the byte: a full disk is known early. Before the first write; may be left out.
  void reserve(std::uint64_t bytes);
  /// At any place, in any order; what is never written is zero.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void write(std::uint64_t at, std::string_view text) { write(at, std::as_bytes(std::span(text))); }
  /// Where it lies until the commit: other ranks may write into it too, once it is reserved.
  const std::string& aside() const { return aside_; }
  std::uint64_t bytes() const { return bytes_; }  ///< to the end of what was written
  void commit();

 private:
  void create();

  std::string path_;
  bool replace_;
  std::string aside_;
  std::optional<RemovalGuard> guard_;  ///< while there is a file that has no name yet
  std::optional<io::PositionalFile> file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::cli
