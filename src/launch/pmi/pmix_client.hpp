#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainrt::launch {

/// The connection of this process to its PMIx server (libpmix, PMIx standard v4). It offers a key-value store with a fence
/// (a barrier that also exchanges values), and the rank and size of this process.
///
/// Only one PmixClient may exist in a process. fence() has a timeout of its own, because PMIX_TIMEOUT has an effect only on
/// the node of the late rank.
class PmixClient {
 public:
  /// Connects to the PMIx server by PMIx_Init. `timeout_seconds` limits each fence(); for `shared_dir` see LaunchOptions.
  /// Throws Error if PMIx fails.
  PmixClient(double timeout_seconds, std::string shared_dir);
  /// The destructor does not call PMIx_Finalize. If a rank exits without having called finalize(), the launcher therefore
  /// ends the job step.
  ~PmixClient() = default;
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  int rank() const;
  int size() const { return size_; }
  std::string space() const;  ///< PMIx namespace
  /// Assignment of ranks to nodes (PMIX_ANL_MAP); nullopt if the server does not offer it.
  std::optional<std::string> process_mapping() const;
  /// Whether the server reports that all ranks are on this node.
  bool is_one_node() const;

  void put(const std::string& key, const std::string& value);
  /// Publishes all values that this rank has put, and blocks until all ranks have called fence(). Collective. Throws Error
  /// after the timeout, with a message that names `purpose` and the missing ranks.
  void fence(const std::string& purpose);
  /// Returns the value that rank `rank` put under `key` before the last fence(). Throws Error if PMIx fails.
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
