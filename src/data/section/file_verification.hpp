#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/batches/team.hpp"
#include "data/bytes/block_checksums.hpp"
#include "data/bytes/verify.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

/// Verifies the checksummed ranges of a dataset's files. Verifies each file only once, and stores the results.
/// Thread-safe.
class FileVerification {
 public:
  FileVerification(const Listing& listing, Verify how);

  /// Returns whether the files have checksums to verify.
  bool is_needed() const { return bytes_ > 0; }
  std::uint64_t bytes() const { return bytes_; }
  /// Verifies all files. Each rank of the team reads its share of the blocks. Collective. Throws Error if a file cannot be
  /// read; a wrong checksum is only stored, for damages() and verified().
  void verify_together(const Team& team);
  /// Returns one message for each damaged file that has been found so far.
  std::vector<std::string> damages() const;
  /// Verifies `file` before it is opened, unless it was verified earlier. `number` is the index of the file in the
  /// listing. Throws UsageError, which names the damaged part, if the file is damaged. Returns `file`. If verify =
  /// always, adds checksums to the returned file, so that each later read is verified, too.
  ///
  /// If `is_kept` is true, does not verify the file here and adds no checksums: the file is read into memory
  /// completely, and is verified when it is opened.
  DataFile verified(std::size_t number, DataFile file, bool is_kept);

 private:
  struct State {
    DataFile file;
    std::shared_ptr<BlockChecksums> blocks;  ///< nullptr: the file has no checksummed ranges
    bool is_known = false;
    std::string damage;
  };
  void judge(State& state) const;

  Verify how_;
  std::uint64_t bytes_ = 0, blocks_ = 0;
  mutable std::mutex mutex_;
  std::vector<State> states_;  ///< state of each file; empty if nothing is verified
};

}  // namespace trainrt::data
