// Launcher plug-in "pmix": ranks that `srun --mpi=pmix` started. trainrt itself is a PMIx client, and serves PMI-1 to an
// MPICH that does not speak PMIx.
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/terminal.hpp"
#include "launch/launcher.hpp"
#include "launch/launchers/end_within.hpp"
#include "launch/library_versions.hpp"
#include "launch/pmi/pmi_bridge.hpp"
#include "launch/pmi/pmix_client.hpp"
#include "launch/pmi/process_mapping.hpp"

namespace trainrt::launch::plugins {

namespace {

class PmixLaunch : public Launch {
 public:
  explicit PmixLaunch(const LaunchOptions& options)
      : client_(options.timeout_seconds, options.shared_dir), ends_with_mpi_(options.ends_with_mpi) {
    world_.rank = client_.rank();
    world_.size = client_.size();
    log::set_rank(world_.rank, world_.size);
    mapping_ = client_.process_mapping().value_or("");
    world_.node_of_rank = nodes_from_mapping(mapping_, world_.size);
    if (!world_.node_of_rank.empty()) derive_topology(world_);
    try {
      client_.fence("start of the ranks");
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void before_mpi() override {
    if (!needs_bridge(mpi_library_text())) return;
    bridge_ = std::make_unique<PmiBridge>(
        PmiStore{.rank = world_.rank,
                 .size = world_.size,
                 .space = client_.space(),
                 .process_mapping = mapping_,
                 .put = [this](const std::string& key, const std::string& value) { client_.put(key, value); },
                 .fence = [this] { client_.fence("start of MPI"); },
                 .get = [this](int rank, const std::string& key) { return client_.get(rank, key); },
                 .finalize =
                     [this] {
                       if (ends_with_mpi_) finalize();
                     },
                 .abort = [this](int code) { abort(code); },
                 .fail = [this](const std::string& why) { fail(why); }});
    bridge_->start();
  }

  void after_mpi() override {
    if (bridge_) bridge_->hide();
  }

  bool may_skip_mpi_finalize() const override { return bridge_ != nullptr; }

  void abort(int code) noexcept override {
    OutputCapture::restore_at_exit();
    last_row::restore_at_exit();
    end_within(std::chrono::seconds(10), code);
    client_.abort(code);
    _exit(code);
  }

  void finalize() override { client_.finalize(); }

 private:
  /// Logs the error message `why` and ends the job step for all ranks. Called if some ranks are missing, so that the ranks
  /// cannot agree on how to end.
  void fail(const std::string& why) noexcept {
    log::error(why);
    abort(static_cast<int>(ExitCode::failed));
  }

  PmixClient client_;
  bool ends_with_mpi_;
  std::string mapping_;
  std::unique_ptr<PmiBridge> bridge_;
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
