#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainrt::launch {

/// The connection of this process to its PMIx server (libpmix, PMIx standard v4): a key-value store with a fence, and the
/// rank and size of this process. Only one may exist in a process. fence() has its own time limit, because PMIX_TIMEOUT has
/// no effect on nodes other than that of the late rank.
class PmixClient {
 public:
  /// Calls PMIx_Init. `timeout_seconds` limits each fence(); for `shared_dir` see LaunchOptions. Throws Error if PMIx
  /// fails.
  PmixClient(double timeout_seconds, std::string shared_dir);
  /// Does not call PMIx_Finalize: a rank that exits without finalize() ends the step.
  ~PmixClient() = default;
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  int rank() const;
  int size() const { return size_; }
  std::string space() const;                           ///< PMIx namespace
  std::optional<std::string> process_mapping() const;  ///< PMIX_ANL_MAP; nullopt if the server does not offer it

  void put(const std::string& key, const std::string& value);
  /// Publishes all values that were put, and blocks until all ranks have called fence(). Collective. Throws Error after the
  /// time limit; the message names `purpose` and the missing ranks.
  void fence(const std::string& purpose);
  /// Returns the value that `rank` put under `key` before the last fence. Throws Error if PMIx fails.
  std::string get(int rank, const std::string& key) const;

  void abort(int code) noexcept;
  void finalize();

 private:
  double timeout_seconds_;
  std::string shared_dir_;
  int size_ = 1;
  bool finalized_ = false;
};

}  // namespace trainrt::launch
