#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::checkpoint {

/// Sizes and identity of a CopyFile. All ranks of a run have equal layouts.
struct CopyLayout {
  std::string identity;              ///< 32 characters that differ between runs and between States
  std::vector<std::uint64_t> bytes;  ///< size of one copy of each rank, by rank

  std::uint64_t file_bytes() const;  ///< size of a file with two copies of each rank
};

/// A mapped file in memory (memfd_create(2)) with two slots per rank. Each slot has room for a copy of the rank's State,
/// and a seal: the number of the copy and the digest of its bytes. A slot is sealed after its copy is complete, so a rank
/// that dies while it copies leaves the other slot valid.
///
/// The process that starts the ranks keeps the file open, so the copies outlive the ranks. Each rank maps the same file and
/// writes only its own slots. Functions are not collective.
class CopyFile {
 public:
  /// Returns the layout of `file`, a descriptor of a memfd, if it has slots for `ranks` ranks; otherwise nullopt.
  static std::optional<CopyLayout> layout_of(int file, int ranks);
  /// Initializes `file` with `layout` and reserves its memory. All slots are empty and unsealed. Throws Error if the
  /// memory cannot be reserved. Called by one process, while no process has mapped the file.
  static void make(int file, const CopyLayout& layout);

  /// Frees the memory of `file`, which becomes empty. No process may have mapped it.
  static void clear(int file);
  /// Returns whether any rank has sealed a copy in `file` since the last call of forget_use(). Called by the process
  /// that started the ranks, which keeps the file open.
  static bool is_in_use(int file);
  static void forget_use(int file);

  /// Maps `file`, which has this layout. Throws Error if it cannot be mapped.
  CopyFile(int file, CopyLayout layout);

  /// Returns the bytes of slot `slot`, 0 or 1, of a rank.
  std::span<std::byte> bytes(int rank, int slot) const;
  /// Returns the number of the copy in a slot, from 1 on; 0 if the slot is not sealed.
  std::int64_t number(int rank, int slot) const;
  void unseal(int rank, int slot);
  /// Seals a slot whose first `used` bytes are the copy with number `number`.
  void seal(int rank, int slot, std::int64_t number, std::uint64_t used, const std::string& digest);
  /// Returns whether a sealed slot has the bytes with which it was sealed.
  bool is_intact(int rank, int slot) const;

  /// Returns the number of the copy from which the last attempt began; 0 if it did not begin from a copy.
  std::int64_t origin() const;
  /// Returns the number of attempts in a row that began from the copy origin().
  std::int64_t attempts_from_origin() const;
  /// Records that an attempt begins from the copy `origin` (0: from no copy), and that the attempt has sealed no copy
  /// yet.
  void begin_attempt(std::int64_t origin);

 private:
  struct Header;
  struct Seal;
  Header& header() const;
  Seal& seal_of(int rank, int slot) const;

  CopyLayout layout_;
  std::vector<std::uint64_t> begins_;  // offset in the file of each rank's first slot
  Memory memory_;
};

}  // namespace trainrt::checkpoint
