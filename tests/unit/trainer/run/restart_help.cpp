#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/save/commit.hpp"
#include "checkpoint/save/directories.hpp"
#include "cli/doctor/doctor_ranks.hpp"
#include "comm/agreement.hpp"
#include "comm/comm_error.hpp"
#include "core/mistake.hpp"
#include "core/restart_help.hpp"
#include "device/device_error.hpp"
#include "io/files/fenced_directory.hpp"
#include "io/storage_error.hpp"
#include "program/children/program_failed.hpp"
#include "rundir/records/run_error.hpp"
#include "trainer/run/restarts.hpp"
#include "trainer/saving/storage_full.hpp"

using namespace trainrt;

namespace {

/// Whether a restart may help after an error of a class. Each error class needs a row.
struct Row {
  ExitCode code;  ///< exit code of a process with this error
  bool may_help;
  const char* why;
};

template <class E, class... Fields>
Row row(bool may_help, const char* why, Fields... fields) {
  return {E("it failed", fields...).code(), may_help, why};
}

using Texts = std::vector<std::string>;

const std::map<std::string, Row> rows = {
    {"Error", row<Error>(true, "an unknown cause may be temporary")},
    {"MistakeError", row<MistakeError>(true, "records of two attempts show whether it is repeated", "calls_differ")},
    {"UsageError", row<UsageError>(false, "the same input fails again")},
    {"StorageError", row<io::StorageError>(true, "the storage may respond again", EIO, "/d")},
    {"DirectoryGone", row<io::StorageError>(true, "the storage may become available again", ESTALE, "/d")},
    {"FencedOff", row<io::FencedOff>(true, "a newer attempt is running; a further start waits or fails then")},
    {"LostRun", row<checkpoint::LostRun>(true, "a newer attempt is running")},
    {"SaveStalled", row<checkpoint::SaveStalled>(true, "the storage may respond again", 1.0)},
    {"DirectoryNotSeen",
     row<checkpoint::DirectoryNotSeen>(true, "the node may see the directory later", ESTALE, "/d", 1.0)},
    {"CannotRead", row<checkpoint::CannotRead>(true, "another start may have enough memory and file descriptors")},
    {"AllDamaged",
     row<checkpoint::AllDamaged>(false, "the checkpoints were read twice with the same result", "/d", Texts{"a"})},
    {"StateDiffers", row<checkpoint::StateDiffers>(false, "the model has the same tensors again", "/d", Texts{"a"})},
    {"DirectoryFileUnreadable", row<checkpoint::DirectoryFileUnreadable>(true, "the program may write the file this time")},
    {"CollectiveTimeout", row<comm::CollectiveTimeout>(true, "the rank may enter the collective this time")},
    {"RankGone", row<comm::RankGone>(true, "the process may not fail again")},
    {"UnknownBackend", row<comm::UnknownBackend>(false, "the config has the same name again")},
    {"BackendRefused", row<comm::BackendRefused>(false, "the config has the same name again")},
    {"BackendsDiffer", row<comm::BackendsDiffer>(false, "the ranks have the same names again")},
    {"AgreedError", row<comm::AgreedError>(true, "its exit code is that of the error on which all ranks agreed")},
    {"FailedTogether", row<trainer::FailedTogether>(true, "its exit code is that of the failure")},
    {"StorageFull", row<trainer::StorageFull>(
                        true, "a start by the user may find room; the record of the attempt prevents other restarts")},
    {"GpuStalled", row<device::GpuStalled>(true, "the GPU may respond again")},
    {"GpusRefused", row<device::GpusRefused>(false, "the same GPUs are requested again")},
    {"FilesDiffer", row<checkpoint::FilesDiffer>(true, "files with the time of their creation may be equal this time")},
    {"PathNotShared", row<rundir::PathNotShared>(false, "the path is not on a shared file system")},
    {"PathNotWritable", row<rundir::PathNotWritable>(false, "the permissions remain")},
    {"RunIsOwned", row<rundir::RunIsOwned>(false, "another process runs the run")},
    {"ForeignRun", row<rundir::ForeignRun>(false, "the owner remains")},
    {"CheckpointsMissing", row<rundir::CheckpointsMissing>(false, "the start has already waited for them")},
    {"Contradiction", row<rundir::CheckpointsMissing>(false, "it is converted to CheckpointsMissing")},
    {"NoProgress", row<rundir::NoProgress>(false, "earlier restarts made no progress")},
    {"ProbeFailed", row<cli::doctor::ProbeFailed>(true, "it becomes a finding of trainrt doctor")},
    {"ProgramFailed", row<program::ProgramFailed>(true, "the program may not fail again")},
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns the names of all error classes in the sources.
std::set<std::string> error_classes() {
  std::multimap<std::string, std::string> derived;
  const std::regex declaration(
      R"((?:class|struct)\s+(?:TRAINRT_API\s+)?(\w+)(?:\s+final)?\s*:\s*(?:public\s+)?(?:\w+::)*(\w+)\s*\{)");
  for (const auto* root : {"/src", "/include"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TRAINRT_SOURCE_DIR) + root)) {
      if (const auto ending = entry.path().extension(); ending != ".hpp" && ending != ".cpp" && ending != ".cu") continue;
      const auto text = text_of(entry.path());
      for (std::sregex_iterator found(text.begin(), text.end(), declaration), end; found != end; ++found)
        derived.emplace((*found)[2], (*found)[1]);
    }
  std::set<std::string> names;
  std::vector<std::string> open{"runtime_error"};
  while (!open.empty()) {
    const auto [begin, end] = derived.equal_range(open.back());
    open.pop_back();
    for (auto each = begin; each != end; ++each)
      if (names.insert(each->second).second) open.push_back(each->second);
  }
  return names;
}

}  // namespace

TEST_CASE("every error class has an exit code that shows whether a restart may help") {
  const auto classes = error_classes();
  for (const auto& name : classes) {
    INFO("class " << name << ": add it to the table");
    CHECK(rows.contains(name));
  }
  for (const auto& [name, row] : rows) {
    INFO(name << ": " << row.why);
    CHECK(classes.contains(name));
    CHECK(restart_may_help(static_cast<int>(row.code)) == row.may_help);
  }
}
