// Tests of MirrorWriter and fetch_newest(), which copy checkpoints and records to and from a mirror. The mirror here is a
// folder.
#include "trainer/saving/mirror_writer.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "checkpoint/format/names.hpp"
#include "trainer/saving/mirrored_checkpoint.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;
using trainer::MirrorWriter;
using Numbers = std::vector<std::int64_t>;
namespace fs = std::filesystem;

namespace {

void save_twice(Context& ctx) {
  std::int64_t number = 0;
  State state;
  state.value("number", number);
  ctx.restore(state);
  for (int i = 0; i < 2; ++i) {
    ++number;
    ctx.report({{"number", static_cast<double>(number)}});
  }
}

/// A finished run with checkpoints 0 and 1, and an empty mirror.
struct MirroredRun {
  Scratch runs, mirror;
  config::RunSpec spec;

  MirroredRun() {
    run_on(1, spec_in(runs.path(), {{"checkpoint.async", "false"}}), save_twice);
    spec = spec_in(runs.path(), {{"checkpoint.mirror", mirror.path().c_str()}});
  }
  std::string directory(std::int64_t number) const { return spec.run_dir + "/" + checkpoint::directory_name(number); }
  std::string mirrored(const std::string& name) const { return mirror.path() + "/r/" + name; }
  Numbers complete() const { return trainer::mirror_of(spec).numbers().complete; }
};

void ignore() {}

}  // namespace

TEST_CASE("a checkpoint is sent once, after the records of the run") {
  const MirroredRun run;
  MirrorWriter writer(run.spec, {});
  CHECK(writer.initial_checkpoint() == 1);
  int sends = 0;
  const auto on_send = [&] { ++sends; };
  CHECK(writer.copy(1, on_send) == MirrorWriter::Copy::sent);
  CHECK(writer.copy(1, on_send) == MirrorWriter::Copy::complete);
  CHECK(sends == 1);
  CHECK(run.complete() == Numbers{1});
  for (const auto* name : {"run.json", "params.json", "result.json", "attempts/000001.json"})
    CHECK(fs::exists(run.mirrored(name)));
}

TEST_CASE("a checkpoint that the run directory has deleted is not copied") {
  const MirroredRun run;
  CHECK(MirrorWriter(run.spec, {}).copy(7, ignore) == MirrorWriter::Copy::deleted);
  CHECK_FALSE(fs::exists(run.mirrored("run.json")));
}

TEST_CASE("prune() removes a deleted checkpoint from the mirror once a newer one is complete") {
  const MirroredRun run;
  MirrorWriter writer(run.spec, {});
  writer.copy(0, ignore);
  writer.copy(1, ignore);
  fs::remove_all(run.directory(0));
  writer.prune(0, true);
  CHECK(run.complete() == Numbers{0, 1});
  writer.prune(1, true);
  CHECK(run.complete() == Numbers{1});
}

TEST_CASE("prune() removes an abandoned checkpoint only if this attempt has committed one") {
  const MirroredRun run;
  MirrorWriter(run.spec, {}).copy(0, ignore);
  MirrorWriter(run.spec, {}).copy(1, ignore);
  fs::remove_all(run.directory(1));
  MirrorWriter writer(run.spec, {});  // has never seen checkpoint 1
  writer.prune(0, false);
  CHECK(run.complete() == Numbers{0, 1});
  writer.prune(0, true);
  CHECK(run.complete() == Numbers{0});
}

TEST_CASE("prune() removes nothing if the run directory shows no checkpoint") {
  const MirroredRun run;
  MirrorWriter writer(run.spec, {});
  writer.copy(0, ignore);
  writer.copy(1, ignore);
  fs::remove_all(run.directory(0));
  fs::remove_all(run.directory(1));
  writer.prune(1, true);
  CHECK(run.complete() == Numbers{0, 1});
}

TEST_CASE("a mirror with another run is refused and left unchanged") {
  const MirroredRun run, other;
  MirrorWriter(run.spec, {}).copy(1, ignore);
  auto spec = other.spec;
  spec.checkpoint.mirror = run.mirror.path();
  MirrorWriter writer(spec, {});
  CHECK_THROWS_WITH(writer.copy(0, ignore), Contains("another run of this name"));
  CHECK(run.complete() == Numbers{1});
}

TEST_CASE("artifacts below a link are not copied to the mirror") {
  const MirroredRun run;
  const Scratch foreign;
  std::ofstream(foreign / "secret.txt") << "secret";
  fs::remove(run.spec.run_dir + "/artifacts");
  fs::create_directory_symlink(foreign.path(), run.spec.run_dir + "/artifacts");
  MirrorWriter writer(run.spec, {});
  CHECK_FALSE(writer.has_artifacts());
  writer.copy_artifacts();
  CHECK_FALSE(fs::exists(run.mirrored("artifacts/secret.txt")));
  fs::remove(run.spec.run_dir + "/artifacts");
  fs::create_directory(run.spec.run_dir + "/artifacts");
  fs::create_directory_symlink(foreign.path(), run.spec.run_dir + "/artifacts/link");
  std::ofstream(run.spec.run_dir + "/artifacts/own.txt") << "own";
  writer.copy_artifacts();
  CHECK(fs::exists(run.mirrored("artifacts/own.txt")));
  CHECK_FALSE(fs::exists(run.mirrored("artifacts/link/secret.txt")));
}

TEST_CASE("an artifact that cannot be copied does not prevent the copies of the others") {
  const MirroredRun run;
  const auto artifacts = run.spec.run_dir + "/artifacts";
  fs::create_directories(artifacts + "/b");
  for (const auto* name : {"a.txt", "b/a.txt", "b/b.txt", "c.txt"}) std::ofstream(artifacts + "/" + name) << name;
  for (const auto* blocked : {"a.txt", "b/a.txt"}) fs::create_directories(run.mirrored("artifacts/") + blocked + "/x");
  MirrorWriter writer(run.spec, {});
  CHECK_THROWS_WITH(writer.copy_artifacts(), Contains("artifacts/a.txt"));
  CHECK(fs::is_regular_file(run.mirrored("artifacts/b/b.txt")));
  CHECK(fs::is_regular_file(run.mirrored("artifacts/c.txt")));
  for (const auto* blocked : {"a.txt", "b/a.txt"}) fs::remove_all(run.mirrored("artifacts/") + blocked);
  writer.copy_artifacts();
  CHECK(fs::is_regular_file(run.mirrored("artifacts/a.txt")));
  CHECK(fs::is_regular_file(run.mirrored("artifacts/b/a.txt")));
}

TEST_CASE("fetch_newest() skips a damaged checkpoint") {
  const MirroredRun run;
  MirrorWriter writer(run.spec, {});
  writer.copy(0, ignore);
  writer.copy(1, ignore);
  std::ofstream(run.mirrored(checkpoint::directory_name(1) + "/shard-00000.h5"), std::ios::in) << "damage";
  const Scratch target;
  const auto fetched = trainer::fetch_newest(trainer::mirror_of(run.spec), target.path(), run.spec.run_dir);
  REQUIRE(fetched.meta);
  CHECK(fetched.meta->number == 0);
  CHECK(fs::exists(target / checkpoint::directory_name(0)));
  CHECK_FALSE(fs::exists(target / checkpoint::directory_name(1)));
}

TEST_CASE("fetch_newest() names the newest checkpoint that lacks only its reports") {
  const MirroredRun run;
  MirrorWriter writer(run.spec, {});
  writer.copy(0, ignore);
  writer.copy(1, ignore);
  const Scratch target, without_reports;
  const auto fetched = trainer::fetch_newest(trainer::mirror_of(run.spec), target.path(), without_reports.path());
  CHECK_FALSE(fetched.meta);
  CHECK(fetched.without_reports == checkpoint::directory_name(1));
}
