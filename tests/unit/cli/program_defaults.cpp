#include <set>

#include <catch2/catch.hpp>

#include "cli/config/program_defaults.hpp"

using namespace trainrt;
using namespace trainrt::cli;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;

namespace {

using Command = std::vector<std::string>;

std::string name(const Command& command, const std::map<std::string, std::string>& environment = {{"SLURM_JOB_ID", "12"}}) {
  return default_run_name({}, command, Environment(environment));
}

}  // namespace

TEST_CASE("the default name of a run depends on the script, the job and all words") {
  const Command train = {"python3", "-u", "code/train.py", "--lr", "0.1"};
  CHECK_THAT(name(train), Matches("train-12-[0-9a-f]{8}"));
  CHECK(name(train) == name(train));
  CHECK_THAT(name(train, {{"SLURM_JOB_ID", "14"}, {"SLURM_ARRAY_JOB_ID", "12"}, {"SLURM_ARRAY_TASK_ID", "3"}}),
             StartsWith("train-12_3-"));
  std::set<std::string> names;
  for (const auto& command : {train, Command{"python3", "-u", "code/train.py", "--lr", "0.2"},
                              Command{"python3", "-u", "code/train.py", "--lr 0.1"}, Command{"train", "--lr", "0.1"},
                              Command{"python3", "-u", "code/train.py", "--lr", "0.1", ""}})
    names.insert(name(command));
  CHECK(names.size() == 5);
}

TEST_CASE("runs of one job that differ in a key or an environment variable have different names") {
  const Command train = {"sh", "-c", "python3 train.py --seed $SEED --fold ${FOLD}"};
  const auto named = [&](std::map<std::string, std::string> environment,
                         const std::map<std::string, OptionValue>& given = {}) {
    environment["SLURM_JOB_ID"] = "12";
    Options options;
    for (const auto& [key, value] : given) options.set(key, value);
    return default_run_name(options, train, Environment(environment));
  };
  const std::string here(command_line);
  const auto first = named({{"SEED", "1"}, {"FOLD", "a"}});
  CHECK(named({{"SEED", "1"}, {"FOLD", "a"}, {"OTHER", "x"}, {"SLURM_RESTART_COUNT", "1"}}) == first);
  CHECK(named({{"SEED", "1"}, {"FOLD", "a"}}, {{"loop.epochs", {"5", "a.ini:3"}}}) == first);
  std::set<std::string> names{first};
  names.insert(named({{"SEED", "2"}, {"FOLD", "a"}}));
  names.insert(named({{"SEED", "1"}, {"FOLD", "b"}}));
  names.insert(named({{"SEED", "1"}}));
  names.insert(named({{"SEED", "1"}, {"FOLD", "a"}}, {{"loop.lr", {"0.1", here}}}));
  names.insert(named({{"SEED", "1"}, {"FOLD", "a"}}, {{"loop.lr", {"0.2", here}}}));
  for (const auto* scale : {"1", "2"})
    names.insert(named({{"SEED", "1"}, {"FOLD", "a"}, {"SCALE", scale}}, {{"loop.scale", {"${SCALE}", "a.ini:3"}}}));
  CHECK(names.size() == 8);
  const Command of_rank = {"sh", "-c", "train $SLURM_PROCID $RANK $HOSTNAME"};
  const auto on_rank = [&](const std::string& rank) {
    return default_run_name(
        {}, of_rank,
        Environment({{"SLURM_JOB_ID", "12"}, {"SLURM_PROCID", rank}, {"RANK", rank}, {"HOSTNAME", "n" + rank}}));
  };
  CHECK(on_rank("0") == on_rank("1"));
}

TEST_CASE("outside a job, the default name of a run has the script and the time") {
  CHECK_THAT(name({"python3", "train.py"}, {}), Matches("train-[0-9]{8}-[0-9]{6}-[0-9]{3}"));
}

TEST_CASE("the default name of a run is a plain name for any command") {
  for (const auto& [command, stem] :
       std::vector<std::pair<Command, std::string>>{{{"/opt/my solver.x"}, "my_solver-"},
                                                    {{"python3", "-m", "pkg.train"}, "pkg-"},
                                                    {{"sh", "-c", "exit 3"}, "sh-"},
                                                    {{"./..."}, "program-"},
                                                    {{"./.hidden"}, "_hidden-"},
                                                    {{"/"}, "program-"},
                                                    {{std::string(300, 'x') + ".py"}, std::string(40, 'x') + "-"}}) {
    INFO(command.front());
    CHECK_THAT(name(command), StartsWith(stem));
  }
}

TEST_CASE("the defaults of a program do not replace given keys") {
  const Environment environment({{"SLURM_JOB_ID", "12"}, {"SLURM_SUBMIT_DIR", "/home/me"}});
  Options options;
  CHECK(add_program_defaults(options, {"./solver"}, environment));
  CHECK(options.text("run.storage_path") == "/home/me/runs");
  CHECK_THAT(options.text("run.name"), StartsWith("solver-12-"));
  Options given;
  given.set("run.name", {"mine", "command line"});
  given.set("run.storage_path", {"/else", "command line"});
  CHECK_FALSE(add_program_defaults(given, {"./solver"}, environment));
  CHECK(given.text("run.name") == "mine");
  CHECK(given.text("run.storage_path") == "/else");
}
