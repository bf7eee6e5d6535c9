#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainrt::launch {

/// The few things that we ask of PMIx (libpmix, PMIx standard v4): a key/value store with a fence, and who we are.
/// Every wait has a limit of its own: PMIX_TIMEOUT does not fire on nodes other than the late rank's.
class PmixClient {
 public:
  /// PMIx_Init. `shared_dir`: see LaunchOptions.
  PmixClient(double timeout_seconds, std::string shared_dir);
  ~PmixClient();
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  int rank() const;
  int size() const { return size_; }
  std::string space() const;                           ///< PMIx namespace
  std::optional<std::string> process_mapping() const;  ///< PMIX_ANL_MAP, if the server gives it

  void put(const std::string& key, const std::string& value);
  /// Publishes what was put and waits for all ranks. Error that names the missing ranks when the limit passes.
  void fence(const std::string& what);
  /// What a rank put before the last fence.
  std::string get(int rank, const std::string& key) const;

  void abort(int code) noexcept;
  void finalize();

 private:
  std::vector<int> missing_ranks() const;

  double timeout_seconds_;
  std::string shared_dir_;
  int size_ = 1;
  bool finalized_ = false;
};

}  // namespace trainrt::launch
