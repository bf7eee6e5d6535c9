#include "trainer/records/own_run.hpp"

#include <filesystem>

#include "comm/agreement.hpp"
#include "config/value_origin.hpp"
#include "io/storage.hpp"
#include "rundir/storage/trust.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

/// Returns the path of `mirror` if the mirror is on a file system; "" for a mirror in another storage.
std::string folder_of_mirror(const std::string& mirror) {
  const auto url = io::storage_url(mirror);
  if (!url) return mirror;
  return url->scheme == "file" ? "/" + url->name : "";
}

}  // namespace

void require_own(const config::RunSpec& spec, const std::string& record) {
  rundir::require_trusted_owner(spec.run_dir, record);
  const auto find = [&] { return folder_of_mirror(spec.checkpoint.mirror); };
  const auto folder = config::with_origin(spec.given, "checkpoint.mirror", find);
  if (!folder.empty()) rundir::require_trusted_owner((std::filesystem::absolute(folder) / spec.run.name).string(), record);
}

void require_own_run(const config::RunSpec& spec) { require_own(spec, "run.json"); }

void require_own_run(const config::RunSpec& spec, Communicator& communicator) {
  comm::collectively_on_first(
      communicator, [&] { require_own_run(spec); }, with_advice);
}

}  // namespace trainrt::trainer
