// Tests of files in directories that were passed to report().
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "checkpoint/load/verify.hpp"
#include "checkpoint/save/directories.hpp"
#include "checkpoint/save/saver.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Creates a directory with these files.
std::string directory_of(const std::string& path, const std::map<std::string, std::string>& files) {
  fs::create_directories(path);
  for (const auto& [name, text] : files) {
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name, std::ios::binary) << text;
  }
  return path;
}

checkpoint::DirectoryFiles gather(const std::string& path, Communicator& communicator, const State& state = {}) {
  return checkpoint::gather_directories({path, "{}"}, state, communicator, message_of);
}

/// Gathers the directory `path`. Only the last rank passes SameFiles::rank0, which must then apply to all ranks.
checkpoint::DirectoryFiles gather_any(const std::string& path, Communicator& communicator, const State& state = {}) {
  const bool is_last = communicator.rank() == communicator.size() - 1;
  return checkpoint::gather_directories({.path = path, .same_files = is_last ? SameFiles::rank0 : SameFiles::error}, state,
                                        communicator, message_of);
}

checkpoint::Saver::Request request_for(const std::string& run_dir, std::int64_t number, checkpoint::DirectoryFiles given) {
  auto meta = options_for(run_dir, number).meta;
  meta.has_directory = true;
  return {meta, {}, {}, std::move(given)};
}

checkpoint::SaverOptions saver_options(const std::string& run_dir) {
  checkpoint::SaverOptions options;
  options.run_dir = run_dir;
  options.private_dir = run_dir + "/.private";
  return options;
}

checkpoint::SaveResult save(checkpoint::Saver& saver, const State& state, checkpoint::Saver::Request request) {
  if (auto failed = saver.start(state, std::move(request))) return *failed;
  auto result = saver.finish().value();
  saver.drain();
  return result;
}

std::string error_on_all(int ranks, const std::function<void(Communicator&)>& work) {
  Findings findings;
  run_ranks(ranks, [&](Communicator& communicator) { findings.add(error_of([&] { work(communicator); })); });
  const auto texts = findings.take();
  CHECK(texts.size() == static_cast<std::size_t>(ranks));
  for (const auto& text : texts) CHECK(text == texts.front());
  return texts.empty() ? "" : texts.front();
}

ino_t inode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_ino;
}

bool is_whole(const std::string& checkpoint) { return checkpoint::verify(checkpoint).empty(); }

}  // namespace

TEST_CASE("a checkpoint contains the files of all ranks, and a common file once") {
  Scratch scratch;
  const auto run = scratch / "run";
  fs::create_directory(run);
  const std::string large(9 << 20, 'x');
  run_ranks(3, [&](Communicator& communicator) {
    const auto rank = std::to_string(communicator.rank());
    const auto own = directory_of(scratch / rank, {{"of-" + rank, rank}, {"deep/same", large}, {"empty", ""}});
    checkpoint::Saver saver(saver_options(run), communicator);
    save(saver, State(), request_for(run, 1, gather(communicator.rank() == 1 ? "" : own, communicator)));
  });
  const auto checkpoint = run + "/checkpoint_000001";
  std::map<std::string, std::uint64_t> found;
  for (const auto& file : checkpoint::read_manifest(checkpoint).files) {
    CHECK(found.emplace(file.name, file.bytes).second);
    CHECK(file.rank == -1);
  }
  const std::map<std::string, std::uint64_t> expected{
      {"files/deep/same", large.size()}, {"files/empty", 0}, {"files/of-0", 1}, {"files/of-2", 1}};
  CHECK(found == expected);
  CHECK(io::read_file(checkpoint + "/files/deep/same") == large);
  CHECK(io::read_file(checkpoint + "/files/of-2") == "2");
  CHECK(is_whole(checkpoint));
}

TEST_CASE("a file that differs between ranks is an error on all ranks that names two of them") {
  Scratch scratch;
  for (const auto* other : {"abd", "abcd"}) {
    const auto text = error_on_all(3, [&](Communicator& communicator) {
      const auto rank = communicator.rank();
      gather(directory_of(scratch / std::to_string(rank), {{"d/model", rank == 2 ? other : "abc"}}), communicator);
    });
    CHECK_THAT(text, Contains("ranks 0 and 2 have different files 'd/model'"));
  }
}

TEST_CASE("with rank0, the lowest rank's file keeps its name and other versions are stored once each") {
  Scratch scratch;
  const auto run = scratch / "run";
  fs::create_directory(run);
  Findings differences;
  run_ranks(4, [&](Communicator& communicator) {
    const auto rank = communicator.rank();
    std::map<std::string, std::string> files{{"d/model", rank < 2 ? "abc" : "a longer one"}, {"same", "same"}};
    if (rank > 0) files["late"] = std::to_string(rank % 2);
    if (rank == 1) files[".other_ranks/0/old"] = "of another checkpoint";
    checkpoint::Saver saver(saver_options(run), communicator);
    auto given = gather_any(directory_of(scratch / std::to_string(rank), files), communicator);
    differences.add(given.difference);
    save(saver, State(), request_for(run, 1, std::move(given)));
    save(saver, State(), request_for(run, 2, {{}, "{}", run + "/checkpoint_000001"}));
    if (!gather(rank == 0 ? run + "/checkpoint_000001/files" : "", communicator).difference.empty()) throw Error("differs");
  });
  for (const auto* number : {"1", "2"}) {
    const auto checkpoint = run + "/checkpoint_00000" + number;
    std::map<std::string, std::string> found;
    for (const auto& file : checkpoint::read_manifest(checkpoint).files)
      found[file.name] = io::read_file(checkpoint + "/" + file.name);
    const std::map<std::string, std::string> expected{{"files/d/model", "abc"},
                                                      {"files/same", "same"},
                                                      {"files/late", "1"},
                                                      {"files/.other_ranks/2/d/model", "a longer one"},
                                                      {"files/.other_ranks/2/late", "0"}};
    CHECK(found == expected);
    CHECK(is_whole(checkpoint));
  }
  for (const auto& text : differences.take())
    CHECK_THAT(text, Contains("'d/model'") && Contains("rank 0 and 1 more: ") && Contains("; rank 2 and 1 more: ") &&
                         Contains("and 1 more file"));
}

TEST_CASE("names of the folder for other ranks are refused if they would collide") {
  Scratch scratch;
  const auto file = directory_of(scratch / "file", {{".other_ranks", ""}});
  CHECK_THAT(error_on_all(1, [&](Communicator& communicator) { gather(file, communicator); }),
             Contains("/.other_ranks' has a name that is reserved"));
  State state;
  state.file(".other_ranks/1/model", scratch / "model");
  const auto text = error_on_all(2, [&](Communicator& communicator) {
    const auto rank = std::to_string(communicator.rank());
    gather_any(directory_of(scratch / rank, {{"model", rank}}), communicator, state);
  });
  CHECK_THAT(text, Contains("the State's file '.other_ranks/1/model'"));
}

TEST_CASE("a directory must not contain a file with the name of a file of the State") {
  Scratch scratch;
  State state;
  state.file("log", scratch / "log");
  state.file("own", scratch / "own").per_rank();
  for (const auto* name : {"log", "log/deeper", "rank-00001/own"}) {
    const auto path = directory_of(scratch / "given", {{name, ""}});
    CHECK_THAT(error_on_all(1, [&](Communicator& communicator) { gather(path, communicator, state); }),
               Contains("rank 0 has a file '" + std::string(name) + "', but the State's file '"));
    fs::remove_all(path);
  }
  const auto fine = directory_of(scratch / "given", {{"logs", ""}, {"rank-one", ""}});
  run_ranks(1, [&](Communicator& communicator) { CHECK(gather(fine, communicator, state).files.size() == 2); });
}

TEST_CASE("a file that disappears or changes its size during the copy fails the save on all ranks and leaves no files") {
  Scratch scratch;
  const auto run = scratch / "run";
  fs::create_directory(run);
  for (const bool goes : {true, false}) {
    INFO("goes " << goes);
    Findings errors, others;
    run_ranks(3, [&](Communicator& communicator) {
      const auto own = directory_of(scratch / std::to_string(communicator.rank()),
                                    {{"of-" + std::to_string(communicator.rank()), "abc"}});
      checkpoint::Saver saver(saver_options(run), communicator);
      auto given = gather(own, communicator);
      if (communicator.rank() == 1) {
        fs::remove(own + "/of-1");
        if (!goes) directory_of(own, {{"of-1", "abcd"}});
      }
      try {
        saver.start(State(), request_for(run, 1, std::move(given)));
        others.add("no error");
      } catch (const checkpoint::DirectoryFileUnreadable& error) {
        errors.add(error.what());
      }
      if (communicator.rank() == 0 && (fs::exists(run + "/checkpoint_000001") || !fs::is_empty(run + "/.private")))
        others.add("something remains");
      communicator.barrier();
      directory_of(own, {{"of-" + std::to_string(communicator.rank()), "abc"}});
      if (!save(saver, State(), request_for(run, goes ? 2 : 3, gather(own, communicator))).committed)
        others.add("the next save failed");
    });
    const auto texts = errors.take();
    REQUIRE(texts.size() == 3);
    CHECK(texts[0] == texts[2]);
    CHECK_THAT(texts[0], Contains("rank 1 on ") && Contains("1/of-1'"));
    CHECK(others.take() == std::vector<std::string>{});
  }
  CHECK(is_whole(run + "/checkpoint_000002"));
}

TEST_CASE("files of directories are hard links in later checkpoints, and files of the State are not") {
  Scratch scratch;
  const auto run = scratch / "run";
  fs::create_directory(run);
  run_ranks(2, [&](Communicator& communicator) {
    State state;
    state.file("log", directory_of(scratch / "state", {{"log", "of the state"}}) + "/log");
    const auto rank = std::to_string(communicator.rank());
    const auto own = directory_of(scratch / rank, {{"deep/of-" + rank, rank + " given"}});
    checkpoint::Saver saver(saver_options(run), communicator);
    save(saver, state, request_for(run, 1, gather(own, communicator, state)));
    save(saver, state, request_for(run, 2, {{}, "{}", run + "/checkpoint_000001"}));
    communicator.barrier();
    if (communicator.rank() == 0) fs::remove_all(run + "/checkpoint_000001/manifest.json");
    communicator.barrier();
    const auto result = save(saver, state, request_for(run, 3, {{}, "{}", run + "/checkpoint_000001"}));
    if (result.committed || result.error.find("manifest.json") == std::string::npos) throw Error("was committed");
    save(saver, state, request_for(run, 4, {{}, "{}", run + "/checkpoint_000002"}));
  });
  for (const auto* rank : {"0", "1"}) {
    const auto file = "/files/deep/of-" + std::string(rank);
    CHECK(inode_of(run + "/checkpoint_000004" + file) == inode_of(run + "/checkpoint_000001" + file));
    CHECK(io::read_file(run + "/checkpoint_000004" + file) == rank + std::string(" given"));
  }
  CHECK(inode_of(run + "/checkpoint_000004/files/log") != inode_of(run + "/checkpoint_000001/files/log"));
  CHECK(checkpoint::read_manifest(run + "/checkpoint_000004").files.size() == 3);
  CHECK(is_whole(run + "/checkpoint_000002"));
  CHECK(is_whole(run + "/checkpoint_000004"));
  CHECK_FALSE(fs::exists(run + "/checkpoint_000003"));
}

TEST_CASE("a directory may contain more files than the limit of open files") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto few = before;
  few.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  Scratch scratch;
  const auto run = scratch / "run";
  fs::create_directory(run);
  std::map<std::string, std::string> files;
  for (int i = 0; i < 1000; ++i) files[std::to_string(i % 7) + "/" + std::to_string(i)] = std::string(i % 3 * 3000, 'a');
  checkpoint::SaveResult result;
  run_ranks(1, [&](Communicator& communicator) {
    checkpoint::Saver saver(saver_options(run), communicator);
    result = save(saver, State(), request_for(run, 1, gather(directory_of(scratch / "given", files), communicator)));
  });
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(result.error == "");
  CHECK(checkpoint::read_manifest(run + "/checkpoint_000001").files.size() == 1000);
  CHECK(is_whole(run + "/checkpoint_000001"));
}
