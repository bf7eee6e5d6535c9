// Launcher plug-in "pmix": ranks that `srun --mpi=pmix` started. trainrt itself is a PMIx client, and serves PMI-1 to an
// MPI that does not speak PMIx. Ranks on one node can also exchange texts over PMIx, without MPI.
#include <memory>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/terminal.hpp"
#include "launch/launcher.hpp"
#include "launch/launchers/end_within.hpp"
#include "launch/library_versions.hpp"
#include "launch/pmi/hex_text.hpp"
#include "launch/pmi/pmi_bridge.hpp"
#include "launch/pmi/pmix_client.hpp"
#include "launch/pmi/process_mapping.hpp"

namespace trainrt::launch::plugins {

namespace {

class PmixLaunch : public Launch {
 public:
  explicit PmixLaunch(const LaunchOptions& options)
      : client_(std::make_shared<PmixClient>(options.timeout_seconds, options.shared_dir)),
        ends_with_mpi_(options.ends_with_mpi) {
    world_.rank = client_->rank();
    world_.size = client_->size();
    log::set_rank(world_.rank, world_.size);
    mapping_ = client_->process_mapping().value_or("");
    world_.node_of_rank = nodes_from_mapping(mapping_, world_.size);
    if (world_.node_of_rank.empty() && client_->is_one_node())  // Open MPI's mpiexec gives no mapping
      world_.node_of_rank.assign(static_cast<std::size_t>(world_.size), 0);
    if (!world_.node_of_rank.empty()) derive_topology(world_);
    try {
      client_->fence("start of the ranks");
    } catch (const std::exception& error) {
      fail(*client_, error.what());
    }
  }

  bool can_gather() const override { return bridge_ == nullptr; }

  std::vector<std::string> gather(const std::string& text) override {
    const auto key = fmt::format("trainrt.gather.{}", gathers_++);
    client_->put(key, hex_of(text));
    client_->fence("start of communication");
    std::vector<std::string> texts;
    for (int rank = 0; rank < world_.size; ++rank) texts.push_back(bytes_of_hex(client_->get(rank, key)));
    return texts;
  }

  void before_mpi() override {
    if (!needs_bridge(mpi_library_text(), Environment::of_process())) return;
    // The bridge is never destroyed: MPICH 4.2 and newer end their PMI connection when the process exits.
    bridge_ = new PmiBridge(store_of_bridge());
    bridge_->start();
  }

  void after_mpi() override {
    if (bridge_ != nullptr) bridge_->hide();
  }

  bool may_skip_mpi_finalize() const override { return bridge_ != nullptr; }

  void abort(int code) noexcept override { end_step(*client_, code); }

  void finalize() override { client_->finalize(); }

 private:
  [[noreturn]] static void end_step(PmixClient& client, int code) noexcept {
    OutputCapture::restore_at_exit();
    last_row::restore_at_exit();
    end_within(std::chrono::seconds(10), code);
    client.abort(code);
    _exit(code);
  }

  /// Returns the store of the PMI bridge. It does not refer to this object, which the bridge outlives.
  PmiStore store_of_bridge() const {
    const auto client = client_;
    return {.rank = world_.rank,
            .size = world_.size,
            .space = client->space(),
            .process_mapping = mapping_,
            .put = [client](const std::string& key, const std::string& value) { client->put(key, value); },
            .fence = [client] { client->fence("start of MPI"); },
            .get = [client](int rank, const std::string& key) { return client->get(rank, key); },
            .finalize =
                [client, ends = ends_with_mpi_] {
                  if (ends) client->finalize();
                },
            .abort = [client](int code) { end_step(*client, code); },
            .fail = [client](const std::string& why) { fail(*client, why); }};
  }

  /// Logs the error message `why` and ends the job step for all ranks. Called if some ranks are missing, so that the ranks
  /// cannot agree on how to end.
  static void fail(PmixClient& client, const std::string& why) noexcept {
    log::error(why);
    end_step(client, static_cast<int>(ExitCode::failed));
  }

  std::shared_ptr<PmixClient> client_;
  bool ends_with_mpi_;
  std::string mapping_;
  int gathers_ = 0;
  PmiBridge* bridge_ = nullptr;  ///< nullptr before before_mpi(), and if the MPI library itself speaks PMIx
};

std::unique_ptr<Launch> open_launch(const LaunchOptions& options) try {
  return std::make_unique<PmixLaunch>(options);
} catch (const Error& error) {
  throw Error(fmt::format("{}. PMIX_NAMESPACE is set, so srun --mpi=pmix must have started this process. "
                          "If another launcher set it, remove it: env -u PMIX_NAMESPACE COMMAND",
                          error.what()),
              error.code());
}

}  // namespace

extern const Launcher pmix;
const Launcher pmix{.name = "pmix",
                    .help = "srun --mpi=pmix",
                    .preference = 20,
                    .viable = [](const Environment& environment) { return environment.has("PMIX_NAMESPACE"); },
                    .open = [](const Environment&, const LaunchOptions& options) { return open_launch(options); }};

}  // namespace trainrt::launch::plugins
