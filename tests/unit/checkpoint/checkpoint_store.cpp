#include <unistd.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <trainrt/checkpoint_store.hpp>

#include "checkpoint/layout.hpp"
#include "checkpoint/save/private_directory.hpp"
#include "core/host.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::size_t shard_files(const std::string& directory) {
  const auto names = names_in(directory);
  return static_cast<std::size_t>(
      std::ranges::count_if(names, [](const std::string& name) { return name.starts_with("shard-"); }));
}

/// The state of one rank: five numbers of its own, and a counter.
struct Field {
  explicit Field(const Communicator& communicator, double value = 0) : cells(5, value) {
    state.tensor("field", cells).sharded(0, 5 * communicator.rank(), 5 * communicator.size());
    state.value("step", step);
  }
  void set(std::int32_t to) {
    step = to;
    std::ranges::fill(cells, to);
  }
  bool is(std::int32_t value) const {
    return step == value && std::ranges::all_of(cells, [&](double cell) { return cell == value; });
  }
  std::vector<double> cells;
  std::int32_t step = 0;
  State state;
};

/// Saves steps first to last in one store, with the step as the metric "score".
void save_steps(const std::string& directory, int ranks, int first, int last, const CheckpointStoreOptions& options = {}) {
  run_ranks(ranks, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(directory, communicator, options);
    for (int step = first; step <= last; ++step) {
      field.set(step);
      store.save(field.state, {{"score", step % 10}});
    }
  });
}

/// Returns the first config key in a text, "" if there is no key. File names do not count as keys.
std::string key_in(const std::string& text) {
  static const std::regex key(R"(\b((run|train|scaling|checkpoint|failure)\.(?!json|h5)[a-z_]+|storage_path)\b)");
  std::smatch match;
  return std::regex_search(text, match, key) ? match.str() : "";
}

CheckpointStoreOptions saying(Findings& findings) {
  CheckpointStoreOptions options;
  options.say = [&](const std::string& text) { findings.add(text); };
  return options;
}

}  // namespace

TEST_CASE("a store restores its checkpoints on another number of ranks and in every file layout") {
  for (const auto layout : {FileLayout::rank, FileLayout::node, FileLayout::single})
    for (const int readers : {1, 3, 4}) {
      INFO(static_cast<int>(layout) << " -> " << readers << " ranks");
      Scratch run;
      Findings findings;
      run_ranks(3, [&](Communicator& communicator) {
        Model model(every_kind(), communicator.rank(), communicator.size());
        CheckpointStoreOptions options;
        options.files = layout;
        options.read_back = layout == FileLayout::single;
        CheckpointStore store(run.path(), communicator, options);
        findings.add(store.restore(model.state()) ? "restored from nothing" : "");
        findings.add(store.wait() ? "committed nothing, yet something" : "");
        model.fill(7);
        store.save(model.state(), {{"loss", 0.25}}, R"({"why": "a test"})");
        const auto info = store.wait();
        if (!info || info->index != 0 || info->directory != run / "checkpoint_000000" || info->ranks != 3 ||
            info->metrics != std::map<std::string, double>{{"loss", 0.25}} || info->created.size() != 20)
          findings.add("wrong info");
      });
      CHECK(shard_files(run / "checkpoint_000000") == (layout == FileLayout::rank ? 3 : 1));
      CHECK(names_in(run.path()) == std::vector<std::string>{"checkpoint_000000"});
      run_ranks(readers, [&](Communicator& communicator) {
        Model model(every_kind(), communicator.rank(), communicator.size());
        CheckpointStore store(run.path(), communicator);
        const auto info = store.restore(model.state());
        findings.add(info ? model.difference(7, 3) : "nothing restored");
        if (info && (info->ranks != 3 || info->metadata != R"({"why":"a test"})" || info->metrics.at("loss") != 0.25))
          findings.add("wrong info restored");
      });
      CHECK(findings.take() == std::vector<std::string>{});
    }
}

TEST_CASE("messages of a store name no config key") {
  Scratch run;
  save_steps(run.path(), 2, 1, 2);
  std::string differs, damaged;
  run_ranks(1, [&](Communicator& communicator) {
    Field field(communicator);
    State other;
    other.tensor("another field", field.cells);
    CheckpointStore store(run.path(), communicator);
    differs = error_of([&] { store.restore(other); });
  });
  for (const auto* number : {"0", "1"}) {
    const auto manifest = run / "checkpoint_00000" + number + "/manifest.json";
    io::remove_tree(manifest);
    io::write_file(manifest, "{}");
  }
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator);
    const auto text = error_of([&] { store.restore(field.state); });
    if (communicator.rank() == 0) damaged = text;
  });
  CHECK_THAT(differs, Catch::Contains("a different model wrote it") && Catch::Contains("'another field'"));
  CHECK_THAT(damaged, Catch::Contains("all its checkpoints are damaged") && Catch::Contains("checkpoint_000000"));
  CHECK(key_in(differs) == "");
  CHECK(key_in(damaged) == "");
  CHECK(key_in("choose another run.name") == "run.name");
}

TEST_CASE("ranks of a node share a file, numbered by their lowest rank") {
  using checkpoint::files_of_ranks;
  const std::vector<int> nodes{4, 4, 0, 4, 7};
  CHECK(files_of_ranks(FileLayout::rank, nodes) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(files_of_ranks(FileLayout::node, nodes) == std::vector<int>{0, 0, 1, 0, 2});
  CHECK(files_of_ranks(FileLayout::single, nodes) == std::vector<int>{0, 0, 0, 0, 0});
}

TEST_CASE("a checkpoint contains the state as it was at the call of save()") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator);
    for (int step = 1; step <= 20; ++step) {
      field.set(step);
      store.save(field.state);
      field.set(-1);
    }
    findings.add(store.restore(field.state)->index == 19 ? "" : "not the newest");
    findings.add(field.is(20) ? "" : "another state than was saved");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a save calls the state's update function once on every rank and stores the result") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    int calls = 0;
    field.state.before_save([&] { field.set(++calls); });
    State whole;  // a run appends the user's State to its own
    whole.append(field.state);
    CheckpointStore store(run.path(), communicator);
    for (int save = 1; save <= 3; ++save) store.save(whole);
    findings.add(calls == 3 ? "" : "called " + std::to_string(calls) + " times");
    field.set(-1);
    store.restore(whole);
    findings.add(field.is(3) ? "" : "another state than it was brought to");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("the destructor of a store commits its last save") {
  Scratch run;
  save_steps(run / "not/there yet", 2, 1, 3);
  CHECK(names_in(run / "not/there yet") ==
        std::vector<std::string>{"checkpoint_000000", "checkpoint_000001", "checkpoint_000002"});
  CHECK(std::filesystem::exists(run / "not/there yet/checkpoint_000002/state.h5"));
}

TEST_CASE("a second store continues the numbers of the first") {
  Scratch run;
  save_steps(run.path(), 2, 1, 2);
  save_steps(run.path(), 3, 3, 3);
  Findings findings;
  run_ranks(1, [&](Communicator& communicator) {
    Field field(communicator);
    field.cells.resize(15);
    State whole;
    whole.tensor("field", field.cells);
    whole.value("step", field.step);
    CheckpointStore store(run.path(), communicator);
    findings.add(store.restore(whole)->index == 2 && field.is(3) ? "" : "not the newest");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a failed save is reported once, by the next call, and damages no checkpoint") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator);
    field.set(1);
    store.save(field.state);
    State bad;
    bad.append(field.state);
    bad.file("notes.txt", run / "no such file");
    const auto failure = [&](const std::function<void()>& call) {
      const auto text = error_of(call);
      findings.add(text.find("no such file") == std::string::npos ? "no failure: " + text : "");
    };
    store.save(bad);
    field.set(2);
    failure([&] { store.save(field.state); });
    store.save(field.state);
    store.save(bad);
    failure([&] { store.wait(); });
    findings.add(store.wait()->index == 2 ? "" : "not the last committed checkpoint");
    store.save(bad);
    failure([&] { store.restore(field.state); });
    field.set(0);
    findings.add(store.restore(field.state)->index == 2 && field.is(2) ? "" : "not the last committed checkpoint");
    store.save(bad);  // the destructor only reports the failure
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(names_in(run.path()) == std::vector<std::string>{"checkpoint_000000", "checkpoint_000002"});
}

TEST_CASE("invalid metadata and values that differ between ranks are errors before any file is written") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator);
    for (const auto* metadata : {"", "[1]", "{\"a\":}", "text"})
      findings.add(error_of([&] { store.save(field.state, {}, metadata); }).empty() ? "taken: " + std::string(metadata)
                                                                                    : "");
    field.step = communicator.rank();
    const auto text = error_of([&] { store.save(field.state); });
    findings.add(text.find("'step'") == std::string::npos ? "differing values: " + text : "");
    field.set(5);
    store.save(field.state);
    findings.add(store.wait() ? "" : "nothing was committed");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a store fails if another program saves into its directory, and does not change that program's files") {
  Scratch run;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator);
    store.save(field.state);
    store.wait();
    if (communicator.rank() == 0)
      std::ofstream((std::filesystem::create_directory(run / "checkpoint_000001"), run / "checkpoint_000001/theirs"))
          << "x";
    communicator.barrier();
    store.save(field.state);
    for (int i = 0; i < 2; ++i) {
      const auto text = error_of([&] { store.save(field.state); });
      findings.add(text.find("exists already") == std::string::npos ? "no error: " + text : "");
    }
  });
  CHECK(findings.take() == std::vector<std::string>{});
  CHECK(names_in(run.path()) == std::vector<std::string>{"checkpoint_000000", "checkpoint_000001"});
  CHECK(names_in(run / "checkpoint_000001") == std::vector<std::string>{"theirs"});
}

TEST_CASE("num_to_keep keeps the best and the latest") {
  Scratch run;
  CheckpointStoreOptions options;
  options.num_to_keep = 2;
  save_steps(run / "newest", 2, 1, 5, options);
  CHECK(names_in(run / "newest") == std::vector<std::string>{"checkpoint_000003", "checkpoint_000004"});
  options.score_attribute = "score";  // the score is the last digit of the step
  save_steps(run / "best", 2, 7, 12, options);
  CHECK(names_in(run / "best") == std::vector<std::string>{"checkpoint_000001", "checkpoint_000002", "checkpoint_000005"});
  options.maximize = false;
  save_steps(run / "least", 2, 7, 12, options);
  CHECK(names_in(run / "least") == std::vector<std::string>{"checkpoint_000003", "checkpoint_000004", "checkpoint_000005"});
}

TEST_CASE("a checkpoint that a restore found damaged does not count as kept") {
  Scratch run;
  CheckpointStoreOptions options;
  options.num_to_keep = 2;
  options.say = [](const std::string&) {};
  save_steps(run.path(), 2, 1, 3, options);
  flip_bit(run / "checkpoint_000002/shard-00000.h5", 3000, 3);
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator, options);
    store.restore(field.state);
    field.set(4);
    store.save(field.state);
    store.wait();
  });
  CHECK(names_in(run.path()) == std::vector<std::string>{"checkpoint_000001", "checkpoint_000003"});
}

TEST_CASE("a store refuses a directory with the maximum checkpoint number, with the same error on every rank") {
  Scratch run;
  io::make_directory(run / "checkpoint_9223372036854775807");
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    const auto text = error_of([&] { CheckpointStore(run.path(), communicator); });
    findings.add(text.find("checkpoint_9223372036854775807") == std::string::npos ? "no error: " + text : "");
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a damaged checkpoint is skipped and reported") {
  Scratch run;
  save_steps(run.path(), 2, 1, 2);
  flip_bit(run / "checkpoint_000001/shard-00000.h5", 3000, 3);
  Findings said;
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run.path(), communicator, saying(said));
    const auto info = store.restore(field.state);
    findings.add(info && info->index == 0 && field.is(1) ? "" : "not the older one");
    field.set(3);
    store.save(field.state);
    findings.add(store.wait()->index == 2 ? "" : "the number of the damaged checkpoint was reused");
  });
  CHECK(findings.take() == std::vector<std::string>{});
  const auto texts = said.take();
  REQUIRE_FALSE(texts.empty());
  CHECK_THAT(texts.front(), Catch::Contains("checkpoint_000001"));
}

TEST_CASE("a store removes directories of exited processes and keeps those of running and unknown ones") {
  Scratch run;
  const auto mine = checkpoint::private_directory_name();
  const auto host = ".saving-" + host_name() + ".";
  REQUIRE(mine.starts_with(host + std::to_string(getpid()) + "."));
  auto reused = mine;  // the id of this process with another start time
  reused.replace(host.size() + std::to_string(getpid()).size() + 1, 1, "9");
  auto elsewhere = mine;
  elsewhere.replace(0, host.size(), ".saving-other.host.");
  auto old = mine;
  old.replace(0, host.size(), ".saving-old.host.");
  for (const auto& name : {mine, reused, elsewhere, old, std::string(".saving-notes")}) {
    std::filesystem::create_directories(run / name + "/checkpoint_000000");
    std::ofstream(run / name + "/checkpoint_000000/shard-00000.h5") << "bytes";
  }
  std::filesystem::last_write_time(run / old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(30));
  Findings said;
  run_ranks(2, [&](Communicator& communicator) { CheckpointStore store(run.path(), communicator, saying(said)); });
  auto left = std::vector{mine, elsewhere, std::string(".saving-notes")};
  std::ranges::sort(left);
  CHECK(names_in(run.path()) == left);
  const auto texts = said.take();
  REQUIRE(texts.size() == 1);
  CHECK_THAT(texts.front(), Catch::Contains("Only one program at a time"));
}

TEST_CASE("a store without saves writes no files") {
  Scratch run;
  run_ranks(1, [&](Communicator& communicator) {
    Field field(communicator);
    CheckpointStore store(run / "none", communicator);
    CHECK_FALSE(store.restore(field.state));
    CHECK_FALSE(store.wait());
  });
  CHECK(names_in(run.path()).empty());
}

TEST_CASE("invalid options of a store are errors") {
  Scratch run;
  run_ranks(1, [&](Communicator& communicator) {
    CheckpointStoreOptions options;
    options.io_threads = 0;
    CHECK_THROWS_AS(CheckpointStore(run.path(), communicator, options), UsageError);
    options = {};
    options.num_to_keep = -1;
    CHECK_THROWS_AS(CheckpointStore(run.path(), communicator, options), UsageError);
    CHECK_THROWS_AS(CheckpointStore("", communicator), UsageError);
  });
}
