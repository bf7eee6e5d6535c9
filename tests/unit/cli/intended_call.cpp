#include "cli/command_line/intended_call.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "cli/command_line/command.hpp"
#include "cli/command_line/existing_path.hpp"
#include "cli/command_line/foreign_words.hpp"
#include "cli/command_line/rank_count_option.hpp"
#include "io/files/file.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::cli;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Words = std::vector<std::string>;

namespace {

constexpr CommandOption run_like[] = {{"-n", "N", ""}, {"config", "FILE", ""}, {"json", "", ""}};

std::string error_of_run(const Words& words) {
  return test::error_of([&] { refuse_operands("", words, run_like); });
}

}  // namespace

TEST_CASE("a config or a program in the place of a command is an error that shows the call") {
  CHECK_THAT(unknown_command(Words{"train.ini"}), EndsWith(": trainrt --config train.ini"));
  CHECK_THAT(unknown_command(Words{"train.ini", "--loop.lr=1"}), EndsWith(": trainrt --config train.ini --loop.lr=1"));
  CHECK_THAT(unknown_command(Words{"train.py", "--x"}), EndsWith(": trainrt -- python3 train.py --x"));
  CHECK_THAT(unknown_command(Words{"sh", "-c", "echo 1"}), EndsWith(": trainrt -- sh -c 'echo 1'"));
  CHECK_THAT(unknown_command(Words{"/bin/sh"}), EndsWith(": trainrt -- /bin/sh"));
}

TEST_CASE("a config or a program before -- is an error that shows the call with all words") {
  CHECK_THAT(error_of_run({"-n", "2", "sh", "train.sh"}), EndsWith(": trainrt -n 2 -- sh train.sh"));
  CHECK_THAT(error_of_run({"--json", "train.py"}), EndsWith(": trainrt --json -- python3 train.py"));
  CHECK_THAT(error_of_run({"-n", "2", "train.ini"}), EndsWith(": trainrt -n 2 --config train.ini"));
  CHECK_THAT(test::error_of([] { refuse_operands("check", Words{"train.ini"}, run_like); }),
             EndsWith(": trainrt check --config train.ini"));
  CHECK_THAT(error_of_run({"status"}), Contains("trainrt result RUN_DIR"));
  CHECK_THAT(error_of_run({"nothing-known"}), EndsWith(": trainrt -- nothing-known"));
  CHECK_NOTHROW(
      refuse_operands("", Words{"-n", "--", "train.py"}, run_like));  // -n lacks its value, which the parser reports
  CHECK_NOTHROW(refuse_operands("", Words{"-n", "2", "--config", "a", "--config=a", "--a.b=c", "--", "x"}, run_like));
}

TEST_CASE("a command after an option is an error that shows the call with the command first") {
  CHECK_THAT(error_of_run({"-n", "2", "result", "runs/own"}),
             EndsWith(": a command comes first: trainrt result runs/own; this command has no option -n"));
  CHECK_THAT(error_of_run({"-n", "2", "tune", "--config", "sweep.ini"}),
             EndsWith(": trainrt tune --config sweep.ini; the key tune.workers sets the number of ranks per trial"));
  CHECK_THAT(error_of_run({"-n", "2", "predict", "runs/own"}), EndsWith(": trainrt predict -n 2 runs/own"));
  CHECK_THAT(error_of_run({"--config", "f.ini", "check"}), EndsWith(": trainrt check --config f.ini"));
  CHECK_THAT(unknown_option("-n", "2", {.usage = "tune --config FILE"}), EndsWith("per trial: --tune.workers=2"));
}

TEST_CASE("a directory in the place of a command is an error that shows the call that shows its runs") {
  CHECK_THAT(unknown_command(Words{"/tmp"}), EndsWith("to show the runs in it: trainrt result /tmp"));
}

TEST_CASE("a config key without dashes is an error that shows its option") {
  CHECK_THAT(error_of_run({"--config", "x", "loop.lr=0.1"}),
             EndsWith("unexpected argument 'loop.lr=0.1': a config key is given as --loop.lr=0.1"));
  CHECK_THAT(error_of_run({"lr=0.1"}), EndsWith(": a config key is given as --loop.lr=0.1"));
  CHECK_THAT(error_of_run({"seed=7"}), EndsWith(": a config key is given as --run.seed=7"));
  CHECK_THAT(unknown_command(Words{"checkpoint.every=2 steps"}),
             EndsWith(": a config key is given as '--checkpoint.every=2 steps'"));
  CHECK_THAT(error_of_run({"OMP_NUM_THREADS=4", "python3"}), !Contains("config key"));
}

TEST_CASE("a config for a command that reads no config is an error that shows the calls with a config") {
  const ArgumentSpec list{.max_operands = 1, .overrides = true, .usage = "list [NAME | KIND | all]"};
  CHECK_THAT(unknown_option("--config", "train.ini", list), Contains("this command reads no config") &&
                                                                Contains("trainrt check --config train.ini;") &&
                                                                EndsWith("trainrt help config"));
  CHECK_THAT(unknown_option("--config=a b.ini", "", list), Contains("trainrt check --config 'a b.ini';"));
  CHECK_THAT(unknown_option("--config", "", list), Contains("trainrt check --config FILE;"));
}

TEST_CASE("a misspelled command is an error that suggests the command") {
  CHECK_THAT(unknown_command(Words{"lst"}), Contains("unknown command 'lst' (did you mean 'list'?)"));
  CHECK_THAT(unknown_command(Words{"reslt", "runs"}), Contains("did you mean 'result'?"));
  CHECK_THAT(unknown_command(Words{"qqqqqq"}), Contains("`trainrt --help` shows all commands"));
}

TEST_CASE("a word of another tool is an error that shows the command for it") {
  for (const auto* word :
       {"start",   "resume", "continue", "status", "show", "ls",   "logs", "checkpoint", "requeue",  "stop", "cancel",
        "version", "init",   "convert",  "bench",  "best", "eval", "test", "train",      "torchrun", "diff"}) {
    INFO(word);
    CHECK_THAT(unknown_command(Words{word}), Contains(fmt::format("unknown command '{}': ", word)));
  }
  CHECK_THAT(unknown_command(Words{"status"}), Contains("trainrt result RUN_DIR") && Contains("trainrt tune status DIR"));
  CHECK_THAT(unknown_command(Words{"stop"}), Contains("scancel --signal=USR1 JOB"));
}

TEST_CASE("no word of another tool is the name of a command") {
  for (const auto* command : command_table()) CHECK(advice_for_word(command->name).empty());
}

TEST_CASE("an unknown option is an error that shows the option or key that was meant") {
  CHECK_THAT(error_of_run({"--confg", "x"}), Contains("unknown option '--confg' (did you mean '--config'?)"));
  CHECK_THAT(error_of_run({"--lr", "0.1"}), EndsWith(": --loop.lr=0.1"));
  CHECK_THAT(error_of_run({"--loop.lr", "0.1"}), EndsWith(": --loop.lr=0.1"));
  CHECK_THAT(error_of_run({"--loop.lr"}), EndsWith(": --loop.lr=VALUE"));
  CHECK_THAT(error_of_run({"--storage_path=x"}), EndsWith(": --run.storage_path=x"));
  CHECK_THAT(error_of_run({"--verbose"}), Contains("unknown option '--verbose'") && !Contains("loop"));
  for (const auto* option : {"--nproc_per_node", "--nproc_per_node=2", "--np", "-np"}) {
    INFO(option);
    CHECK_THAT(error_of_run({option, "2", "train.py"}), Contains("to start N ranks on this machine: trainrt -n N"));
  }
}

TEST_CASE("a config for a command that reads a run is an error that names the run directory of the config") {
  const test::Scratch folder;
  io::write_file(folder / "train.ini", "[run]\nname = first\nstorage_path = runs\n");
  const ArgumentSpec result{.usage = "result RUN_DIR [--json]"};
  CHECK_THAT(unknown_option("--config", folder / "train.ini", result), EndsWith(": trainrt result runs/first"));
  CHECK_THAT(unknown_option("--config=" + (folder / "train.ini"), "", result), EndsWith(": trainrt result runs/first"));
  CHECK_THAT(unknown_option("--config", "missing.ini", result), EndsWith(": trainrt result RUN_DIR"));
}

TEST_CASE("the option -n of supervise is an error that names the option of sbatch") {
  const ArgumentSpec supervise{.usage = "supervise [--config FILE]"};
  CHECK_THAT(unknown_option("-n", "2", supervise), Contains("sbatch sets the number of ranks"));
  CHECK_THAT(unknown_option("-n2", "", supervise), Contains("'-n2'") && Contains("sbatch sets the number of ranks"));
}

TEST_CASE("the number of ranks may follow -n without a blank") {
  Words words{"-n2", "--loop.lr=1", "--", "python3", "-n3"};
  CHECK(take_rank_count_option(words, "run") == 2);
  CHECK(words == Words{"--loop.lr=1", "--", "python3", "-n3"});
  CHECK(!take_rank_count_option(words, "run"));
  CHECK_NOTHROW(refuse_operands("", Words{"-n2", "--loop.lr=1"}, std::span(&rank_count_option, 1)));
  Words zero{"-n0"};
  CHECK_THROWS_WITH(take_rank_count_option(zero, "run"), Contains("'0'"));
}

TEST_CASE("the name of a run in ./runs is an error that suggests its path") {
  const test::Scratch folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories("runs/first");
  std::filesystem::create_directories("runs/secon");  // not a run
  io::write_file("runs/first/run.json", "{}");
  CHECK_THROWS_WITH(require_existing("first"), "'first' does not exist; did you mean 'runs/first'?");
  CHECK_THROWS_WITH(require_existing("second"), "'second' does not exist");
  CHECK_THROWS_WITH(require_existing("frist"), "'frist' does not exist; did you mean 'runs/first'?");
  CHECK_THROWS_WITH(require_existing("runs/firstt"), "'runs/firstt' does not exist; did you mean 'runs/first'?");
  CHECK_THROWS_WITH(require_existing("run/first/"), "'run/first/' does not exist; did you mean 'runs/first'?");
  CHECK_THROWS_WITH(require_existing("rnus"), "'rnus' does not exist; did you mean 'runs'?");
  CHECK_NOTHROW(require_existing("runs/first"));
  std::filesystem::current_path(before);
}

TEST_CASE("the path of a missing checkpoint is an error that names the existing checkpoints of the run") {
  const test::Scratch run;
  const auto error = [&](const std::string& name) { return test::error_of([&] { require_existing(run / name); }); };
  io::write_file(run / "run.json", "{}");
  CHECK_THAT(error("checkpoint_000012"), EndsWith("does not exist; the run has no checkpoint"));
  std::filesystem::create_directories(run / "checkpoint_000009");
  CHECK_THAT(error("checkpoint_12"), EndsWith("does not exist; the run has only checkpoint_000009"));
  CHECK_THAT(error("checkpoint_9"), EndsWith("does not exist; did you mean '" + (run / "checkpoint_000009") + "'?"));
  std::filesystem::create_directories(run / "checkpoint_000008");
  CHECK_THAT(error("checkpoint_000012/"), EndsWith("; the run has checkpoint_000008 to checkpoint_000009 (newest)"));
  std::filesystem::create_directories(run / "checkpoint_000002");
  CHECK_THAT(error("checkpoint_000012"),
             EndsWith("; the run has 3 checkpoints, from checkpoint_000002 to checkpoint_000009 (newest)"));
  CHECK_THAT(error("metrics.h5"), EndsWith("metrics.h5' does not exist"));
}

TEST_CASE("a key of trainrt after -- is reported, and other options of the program are not") {
  CHECK_THAT(key_given_to_program(Words{"python3", "train.py", "--checkpoint.num_to_keep=2"}),
             Contains("'--checkpoint.num_to_keep=2'") && Contains("put it before --"));
  CHECK(key_given_to_program(Words{"python3", "train.py", "--model.layers=2", "--checkpoint.num_to_keep", "x"}).empty());
}
