// Whole runs with ranks as threads: what step(), report() and restore() promise.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/trainrt.hpp>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "comm/agreement.hpp"
#include "metrics/result_log.hpp"
#include "rundir/records/run_record.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

std::atomic<int> stop_at_step{-1};

/// A loop whose state is a checksum over everything it saw: any batch lost, repeated or reordered changes it.
void hash_samples(Context& ctx) {
  auto data = ctx.dataset("train");
  int epoch = 0;
  std::vector<std::int64_t> hash(1);
  State state;
  state.value("epoch", epoch);
  state.tensor("hash", hash).per_rank();
  ctx.restore(state);
  while (epoch < 3) {
    for (const auto& batch : data.epoch(epoch).batches(7)) {
      for (const auto index : batch.indices())
        hash[0] = static_cast<std::int64_t>(mix_seed(static_cast<std::uint64_t>(hash[0]), index, ctx.step_seed()));
      ctx.communicator().all_reduced(1.0, Op::sum);
      if (ctx.world_rank() == ctx.world_size() - 1 && ctx.step_count() == stop_at_step) raise(SIGUSR1);
      ctx.step();
    }
    ++epoch;
    ctx.report({{"hash", static_cast<double>(hash[0] >> 12)}, {"where", "rank " + std::to_string(ctx.world_rank())}});
  }
}

std::vector<std::string> reported_hashes(const std::string& run_dir) {
  std::vector<std::string> shown;
  for (const auto& record : metrics::read_results(run_dir))
    shown.push_back(std::to_string(record.iteration) + ":" + std::to_string(std::get<double>(*record.find("hash"))));
  return shown;
}

}  // namespace

TEST_CASE("a run stopped at any step by one rank ends with the same metrics as one never stopped") {
  batch::install_stop_signals();
  for (const int size : {1, 2, 3}) {
    Scratch quiet;
    stop_at_step = -1;
    REQUIRE(run_on(size, spec_in(quiet.path()), hash_samples).code == ExitCode::finished);
    const auto expected = reported_hashes(quiet.path() + "/r");
    REQUIRE(expected.size() == 3);

    Scratch stopped;
    int attempts = 0;
    for (int step = 0; step < 50; step += 3) {
      stop_at_step = step;
      batch::forget_stop_signal();
      const auto outcome = run_on(size, spec_in(stopped.path()), hash_samples);
      ++attempts;
      if (outcome.code == ExitCode::finished) break;
      CHECK(outcome.code == ExitCode::stopped);
    }
    batch::forget_stop_signal();
    stop_at_step = -1;
    CHECK(attempts > 4);
    CHECK(reported_hashes(stopped.path() + "/r") == expected);
    CHECK(rundir::read_run_record(stopped.path() + "/r")->state == rundir::RunState::finished);
  }
}

TEST_CASE("a finished run does nothing when started again, and goes on when [loop] asks for more") {
  Scratch folder;
  REQUIRE(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
  const auto again = run_on(2, spec_in(folder.path()), hash_samples);
  CHECK(again.code == ExitCode::finished);
  CHECK_THAT(again.message, Contains("finished already"));
  const auto more = run_on(2, spec_in(folder.path(), {{"loop.epochs", "4"}}), hash_samples);
  CHECK_THAT(more.message, Contains("finished: 3 iterations"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->changes.size() == 1);
}

TEST_CASE("a stop that user code swallows is thrown again by the next call") {
  Scratch folder;
  batch::install_stop_signals();
  batch::forget_stop_signal();
  const auto outcome = run_on(2, spec_in(folder.path()), [](Context& ctx) {
    double x = 0;
    State state;
    state.value("x", x);
    ctx.restore(state);
    raise(SIGTERM);
    for (int i = 0; i < 1000; ++i) {
      try {
        x += 1;
        ctx.step();
      } catch (...) {
        x = -1;  // must not reach a checkpoint: that was taken before
      }
      if (x < 0) ctx.report({{"x", x}});
    }
  });
  batch::forget_stop_signal();
  CHECK(outcome.code == ExitCode::stopped);
  CHECK(metrics::read_results(folder.path() + "/r").empty());
}

namespace {

/// 24 steps, a report after every 5, with a score that rises and falls.
void reports_seldom(Context& ctx) {
  std::int64_t step = 0;
  std::int64_t reports = 0;
  State state;
  state.value("step", step);
  state.value("reports", reports);
  ctx.restore(state);
  const auto report_if_due = [&] {
    if (step / 5 == reports) return;
    ++reports;
    ctx.report({{"score", static_cast<double>(reports * 3 % 4)}});
  };
  report_if_due();
  while (step < 24) {
    ++step;
    if (step == stop_at_step) raise(SIGUSR1);
    ctx.step();
    report_if_due();
  }
}

std::vector<std::int64_t> kept_steps(const std::string& run_dir) {
  std::vector<std::int64_t> steps;
  for (const auto& meta : checkpoint::list(run_dir)) steps.push_back(meta.step);
  return steps;
}

}  // namespace

TEST_CASE("a run stopped anywhere keeps the checkpoints that a quiet run keeps, also before its first report") {
  batch::install_stop_signals();
  for (const char* attribute : {"score", ""}) {
    INFO("by '" << attribute << "'");
    const auto spec_of = [&](const Scratch& folder) {
      auto spec = spec_in(folder.path(), {{"checkpoint.every", "3 steps"}, {"checkpoint.num_to_keep", "3"}});
      spec.checkpoint.score_attribute = attribute;
      return spec;
    };
    Scratch quiet;
    stop_at_step = -1;
    REQUIRE(run_on(2, spec_of(quiet), reports_seldom).code == ExitCode::finished);
    const auto expected = kept_steps(quiet.path() + "/r");
    REQUIRE(expected.size() >= 3);
    for (const int stride : {1, 2, 5}) {
      Scratch stopped;
      for (int step = 1; step < 24; step += stride) {
        stop_at_step = step;
        run_on(2, spec_of(stopped), reports_seldom);
        batch::forget_stop_signal();
      }
      stop_at_step = -1;
      CHECK(run_on(2, spec_of(stopped), reports_seldom).code == ExitCode::finished);
      CHECK(kept_steps(stopped.path() + "/r") == expected);
    }
  }
}

TEST_CASE("an iteration that a stop cuts takes the time of both attempts") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch folder;
  const auto slow_then_stopped = [](Context& ctx) {
    int step = 0;
    State state;
    state.value("step", step);
    const bool restored = ctx.restore(state);
    if (!restored) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ++step;
      raise(SIGUSR1);
      ctx.step();
      ctx.step();
    }
    ctx.report({{"x", 1.0}});
  };
  CHECK(run_on(1, spec_in(folder.path()), slow_then_stopped).code == ExitCode::stopped);
  batch::forget_stop_signal();
  CHECK(run_on(1, spec_in(folder.path()), slow_then_stopped).code == ExitCode::finished);
  const auto records = metrics::read_results(folder.path() + "/r");
  REQUIRE(records.size() == 1);
  CHECK(std::get<double>(*records[0].find("_time_this_iter_s")) >= 0.3);
}

namespace {

/// Trains three epochs of hash_samples' kind with an evaluation after each, in which it can be asked to stop.
std::atomic<int> stop_in_evaluation{-1};  // at this stop point of the attempt

void evaluate_between(Context& ctx) {
  auto data = ctx.dataset("train");
  int epoch = 0;
  std::vector<std::int64_t> hash(1);
  State state;
  state.value("epoch", epoch);
  state.tensor("hash", hash).per_rank();
  ctx.restore(state);
  int point = 0;
  while (epoch < 3) {
    for (const auto& batch : data.epoch(epoch).batches(7)) {
      for (const auto index : batch.indices())
        hash[0] = static_cast<std::int64_t>(mix_seed(static_cast<std::uint64_t>(hash[0]), index, ctx.step_seed()));
      ctx.step();
    }
    double seen = 0;
    for (const auto& batch : data.epoch(0).batches(5)) {
      if (ctx.world_rank() == ctx.world_size() - 1 && point++ == stop_in_evaluation) raise(SIGUSR2);
      ctx.stop_point();
      seen += static_cast<double>(batch.size());
    }
    ++epoch;
    ctx.report({{"hash", static_cast<double>(hash[0] >> 12)}, {"seen", sum(seen)}});
  }
}

}  // namespace

TEST_CASE("a run stopped inside an evaluation repeats that evaluation, and no step") {
  batch::install_stop_signals();
  Scratch quiet;
  stop_in_evaluation = -1;
  REQUIRE(run_on(2, spec_in(quiet.path()), evaluate_between).code == ExitCode::finished);
  for (const int point : {0, 3, 7}) {
    Scratch stopped;
    stop_in_evaluation = point;
    batch::forget_stop_signal();
    const auto first = run_on(2, spec_in(stopped.path()), evaluate_between);
    CHECK(first.code == ExitCode::stopped);
    batch::forget_stop_signal();
    stop_in_evaluation = -1;
    CHECK(run_on(2, spec_in(stopped.path()), evaluate_between).code == ExitCode::finished);
    CHECK(reported_hashes(stopped.path() + "/r") == reported_hashes(quiet.path() + "/r"));
    for (const auto& record : metrics::read_results(stopped.path() + "/r"))
      CHECK(std::get<double>(*record.find("seen")) == 100);
  }
}

TEST_CASE("a run that is asked to stop before its train function begins leaves its metrics and checkpoints as they are") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch folder;
  stop_at_step = 20;
  REQUIRE(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::stopped);
  stop_at_step = -1;
  const auto before = reported_hashes(folder.path() + "/r");
  REQUIRE_FALSE(before.empty());
  const auto again = run_on(2, spec_in(folder.path()), hash_samples);  // the signal is still there
  batch::forget_stop_signal();
  CHECK(again.code == ExitCode::stopped);
  CHECK(reported_hashes(folder.path() + "/r") == before);
  CHECK(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
  CHECK(reported_hashes(folder.path() + "/r").size() == 3);
}

TEST_CASE("a rule of [stop] ends the run at its report, as finished, until the rule changes") {
  Scratch folder;
  const auto outcome = run_on(2, spec_in(folder.path(), {{"stop.training_iteration", "2"}}), hash_samples);
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->state == rundir::RunState::finished);
  CHECK_THAT(run_on(2, spec_in(folder.path(), {{"stop.training_iteration", "2"}}), hash_samples).message,
             Contains("finished already"));
  CHECK_THAT(run_on(2, spec_in(folder.path()), hash_samples).message, Contains("finished: 3 iterations"));
}

TEST_CASE("a run without a State that a rule of [stop] ends has finished: it has nothing to save") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"stop.training_iteration", "2"}});
  const auto only_reports = [](Context& ctx) {
    for (int i = 0; i < 100; ++i) ctx.report({{"i", i}});
  };
  const auto outcome = run_on(2, spec, only_reports);
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
  CHECK_THAT(run_on(2, spec, only_reports).message, Contains("finished already"));
}

TEST_CASE("a run that ended early and was killed before that was on record does not go on") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"stop.training_iteration", "2"}});
  REQUIRE(run_on(2, spec, hash_samples).code == ExitCode::finished);
  auto record = *rundir::read_run_record(folder.path() + "/r");
  record.state = rundir::RunState::running;
  std::filesystem::create_directory(folder.path() + "/r/aside");
  rundir::write_run_record({folder.path() + "/r", folder.path() + "/r/aside"}, record);
  const auto again = run_on(2, spec, hash_samples);
  CHECK(again.code == ExitCode::finished);
  CHECK_THAT(again.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
}

TEST_CASE("the end of a run belongs to its last checkpoint, also where one of the same report is on its way") {
  Scratch folder;
  const auto spec = spec_in(folder.path());
  const auto asks_after_report = [](Context& ctx) {
    int i = 0;
    State state;
    state.value("i", i);
    ctx.restore(state);
    while (i < 5) {
      ++i;
      ctx.report({{"i", i}});
      if (i == 2) ctx.request_stop("good enough");
      ctx.stop_point();
      ctx.stop_point();
    }
  };
  REQUIRE(run_on(2, spec, asks_after_report).code == ExitCode::finished);
  auto record = *rundir::read_run_record(folder.path() + "/r");
  record.state = rundir::RunState::running;  // it was killed before its end was on record
  std::filesystem::create_directory(folder.path() + "/r/aside");
  rundir::write_run_record({folder.path() + "/r", folder.path() + "/r/aside"}, record);
  CHECK_THAT(run_on(2, spec, asks_after_report).message, Contains("finished early (good enough): 2 iterations"));
}

TEST_CASE("one rank may ask for the end of the run, and all ranks end at the same step") {
  Scratch folder;
  const auto outcome = run_on(3, spec_in(folder.path()), [](Context& ctx) {
    std::int64_t steps = 0;
    State state;
    state.value("steps", steps);
    ctx.restore(state);
    for (; steps < 1000;) {
      if (ctx.world_rank() == 1 && steps == 10) ctx.request_stop("good enough");
      ++steps;
      ctx.step();
    }
  });
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (good enough): 12 steps"));
}

TEST_CASE("reports with other keys on some rank name key and rank") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(3, spec_in(folder.path()),
                           [](Context& ctx) {
                             if (ctx.world_rank() == 2) ctx.report({{"loss", 1.0}, {"extra", 1.0}});
                             ctx.report({{"loss", 1.0}});
                           }),
                    Contains("extra") && Contains("rank 2"));
}

TEST_CASE("numbers are averaged over the ranks, weighted where asked, and texts are rank 0's") {
  Scratch folder;
  run_on(3, spec_in(folder.path()), [](Context& ctx) {
    const double r = ctx.world_rank();
    ctx.report({{"mean", r},
                {"ratio", ratio(r, r)},
                {"sum", sum(r)},
                {"max", trainrt::max(r)},
                {"text", "from " + std::to_string(ctx.world_rank())}});
  });
  const auto records = metrics::read_results(folder.path() + "/r");
  REQUIRE(records.size() == 1);
  const auto number = [&](const char* key) { return std::get<double>(*records[0].find(key)); };
  CHECK(number("mean") == 1);
  CHECK(number("ratio") == 1);  // (0 + 1 + 2) / (0 + 1 + 2): rank 0 saw nothing
  CHECK(number("sum") == 3);
  CHECK(number("max") == 2);
  CHECK(std::get<std::string>(*records[0].find("text")) == "from 0");
}

TEST_CASE("another model is refused with the names of the tensors that differ") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), [](Context& ctx) {
    std::vector<float> w(4), gone(2);
    State state;
    state.tensor("model/w", w);
    state.tensor("model/gone", gone);
    ctx.restore(state);
    ctx.step();
    ctx.save();
  });
  CHECK_THROWS_WITH(run_on(2, spec_in(folder.path(), {{"loop.num_epochs", "1"}}),
                           [](Context& ctx) {
                             std::vector<float> w(5), added(2);
                             State state;
                             state.tensor("model/w", w);
                             state.tensor("model/added", added);
                             ctx.restore(state);
                           }),
                    Contains("model/w") && Contains("model/gone") && Contains("model/added"));
}

TEST_CASE("an exception of the train function is kept in error.txt with its rank, and the run can go on") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(2, spec_in(folder.path()),
                           [](Context& ctx) {
                             if (ctx.world_rank() == 0) throw std::runtime_error("no such luck");
                             ctx.communicator().barrier();
                           }),
                    Contains("no such luck"));
  std::ifstream file(folder.path() + "/r/error.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK_THAT(text, Contains("no such luck") && Contains("rank 0"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->state == rundir::RunState::failed);
  CHECK(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
}

TEST_CASE("checkpoints come every so many steps when asked, and the best and the latest are kept") {
  Scratch folder;
  run_on(2, spec_in(folder.path(), {{"checkpoint.every", "2 steps"}, {"checkpoint.num_to_keep", "3"}}), [](Context& ctx) {
    double x = 0;
    State state;
    state.value("x", x);
    ctx.restore(state);
    for (int i = 0; i < 11; ++i) {
      x += 1;
      ctx.step();
    }
    ctx.save();
  });
  const auto kept = checkpoint::list(folder.path() + "/r");
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].step == 8);
  CHECK(kept[1].step == 10);
  CHECK(kept[2].step == 11);  // save()'s
}

TEST_CASE("a dataset that the config lacks, and a [loop] value of the wrong type, are errors that say so") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.dataset("trian"); }),
                    Contains("trian") && Contains("'train'"));
  CHECK_THROWS_WITH(
      run_on(1, spec_in(folder.path(), {{"loop.epochs", "many"}}), [](Context& ctx) { ctx.config<int>("epochs"); }),
      Contains("epochs") && Contains("many") && Contains("a whole number"));
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.config<double>("lr"); }), Contains("lr"));
}

TEST_CASE("a stop that nothing could save is no success: a train function without restore() exits 70") {
  Scratch folder;
  batch::install_stop_signals();
  batch::forget_stop_signal();
  const auto outcome = run_on(2, spec_in(folder.path()), [](Context& ctx) {
    raise(SIGTERM);
    for (int i = 0; i < 100; ++i) ctx.step();
  });
  batch::forget_stop_signal();
  CHECK(outcome.code == ExitCode::failed);
  CHECK_THAT(outcome.message, Contains("could not be saved"));
}

TEST_CASE("changes of [loop] and of [data.NAME] between attempts are kept in run.json") {
  Scratch folder;
  run_on(1, spec_in(folder.path(), {{"loop.lr", "1"}}), hash_samples);
  run_on(1, spec_in(folder.path(), {{"loop.lr", "2"}, {"loop.num_epochs", "9"}, {"data.train.noise", "0.5"}}),
         hash_samples);
  const auto changes = rundir::read_run_record(folder.path() + "/r")->changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].key == "loop.lr");
  CHECK(changes[2].key == "data.train.noise");
  CHECK(changes[2].to == "0.5");
}

TEST_CASE("a damaged record of an earlier attempt does not keep a run from going on") {
  Scratch folder;
  run_on(1, spec_in(folder.path()), hash_samples);
  std::ofstream(folder.path() + "/r/attempts/000001.json") << "{";
  CHECK(run_on(1, spec_in(folder.path(), {{"loop.num_epochs", "1"}}), hash_samples).code == ExitCode::finished);
}

TEST_CASE("a bad [loop] value never removes a run that has checkpoints, not even where its attempts' records are gone") {
  Scratch folder;
  const auto wants_number = [](Context& ctx) { ctx.config<int>("epochs"); };
  CHECK_THROWS(run_on(1, spec_in(folder.path(), {{"loop.epochs", "many"}}), wants_number));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/r"));
  run_on(1, spec_in(folder.path()), hash_samples);
  std::filesystem::remove_all(folder.path() + "/r/attempts");
  const auto with = [&](const char* missing) {
    return spec_in(folder.path(),
                   {{"loop.epochs", "many"}, {"failure.storage_timeout", "0.1"}, {"run.missing_checkpoints", missing}});
  };
  CHECK_THROWS_WITH(run_on(1, with("refuse"), wants_number), Contains("shows no record of an attempt"));
  CHECK_THROWS_WITH(run_on(1, with("accept"), wants_number), Contains("epochs"));
  CHECK(checkpoint::list(folder.path() + "/r").size() == 3);
}

namespace {

void with_metadata_and_a_file(Context& ctx) {
  const auto notes = ctx.run_dir() + "/artifacts/notes-" + std::to_string(ctx.world_rank());
  int epoch = 0;
  State state;
  state.value("epoch", epoch);
  state.file("notes", notes).per_rank();
  if (!ctx.restore(state)) std::ofstream(notes) << "begun by " << ctx.world_rank() << "\n";
  ctx.checkpoint_metadata(R"({"hidden": 512, "data": "v7"})");
  while (epoch < 3) {
    ++epoch;
    std::ofstream(notes, std::ios::app) << "epoch " << epoch << "\n";
    ctx.report({{"loss", 1.0 / epoch}});
    if (epoch == stop_at_step) raise(SIGUSR1);
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE(
    "metadata and the train function's own files are in every checkpoint; a restart puts the files back as they were") {
  Scratch folder;
  const auto spec = spec_in(folder.path());
  batch::install_stop_signals();
  batch::forget_stop_signal();
  stop_at_step = 2;
  CHECK(run_on(2, spec, with_metadata_and_a_file).code == ExitCode::stopped);
  stop_at_step = -1;
  batch::forget_stop_signal();
  const auto checkpoints = checkpoint::list(spec.run_dir);
  REQUIRE_FALSE(checkpoints.empty());
  CHECK_THAT(checkpoints.back().metadata, Contains("512") && Contains("v7"));
  const auto notes = spec.run_dir + "/artifacts/notes-1";
  std::ofstream(notes, std::ios::app) << "written after the checkpoint\n";
  CHECK(run_on(2, spec, with_metadata_and_a_file).code == ExitCode::finished);
  CHECK(content_of(notes) == "begun by 1\nepoch 1\nepoch 2\nepoch 3\n");
}

TEST_CASE("every checkpoint carries the metadata of the run, and over it what the train function gives") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"checkpoint.async", "false"}});
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto train = [](Context& ctx) {
      double x = 0;
      State state;
      state.value("x", x);
      ctx.restore(state);
      ctx.report({{"x", 1}});
      ctx.checkpoint_metadata(ctx.metadata() == R"({"data":"v7","by":"me"})" ? R"({"by":"the function"})" : "{}");
      ctx.report({{"x", 2}});
    };
    trainer::TrainCall call{"test", train};
    call.metadata = R"({"data":"v7","by":"me"})";
    trainer::run(spec, call, launch, *communicator);
  });
  const auto checkpoints = checkpoint::list(spec.run_dir);
  REQUIRE(checkpoints.size() == 2);
  CHECK_THAT(checkpoints[0].metadata, Contains("v7") && Contains("me"));
  CHECK_THAT(checkpoints[1].metadata, Contains("v7") && Contains("the function"));
}

TEST_CASE("metadata that is no JSON object is refused") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.checkpoint_metadata("[1]"); }),
                    Contains("JSON object"));
}
