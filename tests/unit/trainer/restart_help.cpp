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
#include "comm/agreement.hpp"
#include "comm/comm_error.hpp"
#include "core/restart_help.hpp"
#include "device/device_error.hpp"
#include "io/files/fenced_directory.hpp"
#include "io/storage_error.hpp"
#include "program/children/program_failed.hpp"
#include "rundir/records/run_error.hpp"
#include "trainer/run/restarts.hpp"

using namespace trainrt;

namespace {

/// What a restart does about an error of a class. A class that has no line here fails the test.
struct Row {
  ExitCode code;  ///< what a process ends with
  bool may_help;
  const char* why;
};

template <class E, class... Fields>
Row row(bool may_help, const char* why, Fields... fields) {
  return {E("it failed", fields...).code(), may_help, why};
}

using Texts = std::vector<std::string>;

const std::map<std::string, Row> rows = {
    {"Error", row<Error>(true, "a cause that nobody knows may be of a moment")},
    {"UsageError", row<UsageError>(false, "the same input is refused again")},
    {"StorageError", row<io::StorageError>(true, "the storage may answer", EIO, "/d")},
    {"DirectoryGone",
     row<io::StorageError>(true, "it is a StorageError of one file: the storage may come back", ESTALE, "/d")},
    {"FencedOff", row<io::FencedOff>(true, "a newer attempt runs, and a further start waits or is refused then")},
    {"LostRun", row<checkpoint::LostRun>(true, "the same")},
    {"SaveStalled", row<checkpoint::SaveStalled>(true, "the storage may answer", 1.0)},
    {"DirectoryNotSeen", row<checkpoint::DirectoryNotSeen>(true, "a node may see it later", ESTALE, "/d", 1.0)},
    {"CannotRead",
     row<checkpoint::CannotRead>(true, "memory and descriptors of another start, or a node with good memory")},
    {"AllDamaged", row<checkpoint::AllDamaged>(false, "two readings agree", "/d", Texts{"a"})},
    {"StateDiffers", row<checkpoint::StateDiffers>(false, "the model is the same again", "/d", Texts{"a"})},
    {"DirectoryFileUnreadable", row<checkpoint::DirectoryFileUnreadable>(true, "the program may write the file this time")},
    {"CollectiveTimeout", row<comm::CollectiveTimeout>(true, "the rank may come this time")},
    {"RankGone", row<comm::RankGone>(true, "the process may live this time")},
    {"UnknownBackend", row<comm::UnknownBackend>(false, "the same name is given again")},
    {"BackendRefused", row<comm::BackendRefused>(false, "the same name is given again")},
    {"BackendsDiffer", row<comm::BackendsDiffer>(false, "the same names are given again")},
    {"AgreedError", row<comm::AgreedError>(true, "it has the code of the error that all ranks agreed on")},
    {"FailedTogether", row<trainer::FailedTogether>(true, "the same")},
    {"GpuStalled", row<device::GpuStalled>(true, "the GPU, or another one, may answer")},
    {"GpusRefused", row<device::GpusRefused>(false, "the same GPUs are asked for again")},
    {"PathNotShared", row<rundir::PathNotShared>(false, "the path is on no file system that the nodes share")},
    {"PathNotWritable", row<rundir::PathNotWritable>(false, "its permissions stay")},
    {"RunIsOwned", row<rundir::RunIsOwned>(false, "somebody runs it")},
    {"ForeignRun", row<rundir::ForeignRun>(false, "it has the same owner")},
    {"CheckpointsMissing", row<rundir::CheckpointsMissing>(false, "it has been waited for them")},
    {"Contradiction", row<rundir::CheckpointsMissing>(false, "it becomes that within its file")},
    {"NoProgress", row<rundir::NoProgress>(false, "restarts have not helped")},
    {"ProgramFailed", row<program::ProgramFailed>(true, "the program may run this time")},
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Names of the classes of the sources that are errors, at any depth.
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

TEST_CASE("every error class states whether a restart may help, and its exit code says the same") {
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
