#include "rundir/records/mirror_status.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checkpoint/format/names.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::rundir {

namespace {

const std::string status_name = "mirror.json";

}  // namespace

std::string in_words(const MirrorStatus& status) {
  auto text = status.newest < 0 ? fmt::format("no checkpoint at {} yet", status.url)
                                : fmt::format("{} at {}", checkpoint::directory_name(status.newest), status.url);
  text += fmt::format("; {} copied, {} skipped, {} failed", status.copied, status.skipped, status.failed);
  if (!status.error.empty()) text += fmt::format(" ({})", first_line(status.error));
  return text;
}

void write_mirror_status(const std::string& run_dir, const MirrorStatus& status) {
  const nlohmann::ordered_json json = {{"url", status.url},         {"newest", status.newest}, {"copied", status.copied},
                                       {"skipped", status.skipped}, {"failed", status.failed}, {"error", status.error}};
  const auto path = run_dir + "/" + status_name;
  io::replace_file_unsynced(path, io::temporary_beside(path),
                            json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<MirrorStatus> read_mirror_status(const std::string& run_dir) try {
  const auto path = run_dir + "/" + status_name;
  if (!io::exists(path)) return std::nullopt;
  const auto json = nlohmann::json::parse(io::read_file(path));
  return MirrorStatus{json.at("url"),     json.at("newest"), json.at("copied"),
                      json.at("skipped"), json.at("failed"), json.at("error")};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace trainrt::rundir
