// Parses command lines of each kind of command, one word per input line, and the config that the options describe.
#include <sstream>

#include "cli/command_line/arguments.hpp"
#include "cli/config/config_file.hpp"
#include "config/run_spec.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

const std::vector<cli::ArgumentSpec>& kinds_of_commands() {
  static constexpr cli::CommandOption run[] = {{"config", "FILE", ""}};
  static constexpr cli::CommandOption doctor[] = {{"config", "FILE", ""}, {"storage", "PATH", ""}, {"json", "", ""}};
  static constexpr cli::CommandOption exporting[] = {{"output", "FILE", ""}, {"tensors", "P", ""}, {"force", "", ""}};
  static constexpr cli::CommandOption verify[] = {{"threads", "N", ""}, {"quiet", "", ""}};
  static const std::vector<cli::ArgumentSpec> kinds = {
      {.options = run, .overrides = true, .program = true, .usage = "--config FILE"},
      {.options = doctor, .overrides = true, .usage = "doctor"},
      {.options = exporting, .min_operands = 1, .max_operands = 1, .usage = "export RUN_DIR"},
      {.options = verify, .min_operands = 1, .max_operands = 9, .usage = "verify"}};
  return kinds;
}

/// The minimal config of a run.
Options needed() {
  Options options;
  for (const auto* key : {"run.name", "run.storage_path", "train.function"}) options.set(key, {"x", "x.ini:1"});
  return options;
}

void check(const std::vector<std::string>& words, const cli::ArgumentSpec& spec) {
  const auto parsed = unless_refused<UsageError>([&] { return cli::parse_arguments(words, spec); });
  if (!parsed) return;
  require(parsed->options.size() + parsed->operands.size() + parsed->overrides.size() <= words.size(),
          "a command line has no more options than words");
  require(parsed->operands.size() >= spec.min_operands && parsed->operands.size() <= spec.max_operands,
          "a command has as many operands as it takes");
  require(spec.overrides || parsed->overrides.empty(), "only some commands take keys of the config");
  unless_refused<UsageError>([&] {
    auto options = needed();
    for (const auto& word : parsed->overrides) cli::apply_override(options, word);
    return config::make_run_spec(options);
  });
}

}  // namespace

std::vector<std::string> seeds() {
  return {"--config\ntrain.ini\n--loop.lr=0.1\n--run.seed=7",
          "--config=train.ini\n--scaling.bucket_size=4 MiB\n--checkpoint.every=3 steps\n--stop.loss=>= 1",
          "--output=a.npz\n--tensors=model/*\n--force\nrun/checkpoint_000001",
          "--threads\n4\n--quiet\na\nb\nc",
          "--json\n--json",
          "--\n-n\n--=\n--.=\n--a.=b\n",
          "--failure.hang_timeout=1e-320 s\n--failure.collective_timeout=1e9"};
}

std::vector<std::string> words() {
  return {"--config=",
          "--storage=",
          "--json",
          "--quiet",
          "--threads=",
          "--output=",
          "--tensors=",
          "--force",
          "\n",
          "--",
          "--loop.x=",
          "--data.a.b=",
          "--stop.patience=",
          "--stop.patience_metric=loss",
          "--run.seed=",
          "--run.name=",
          "--checkpoint.every=",
          " reports",
          " steps",
          " s",
          "--checkpoint.staging_limit=",
          "--checkpoint.io_threads=",
          "--checkpoint.num_to_keep=",
          "--scaling.num_workers=",
          "--scaling.min_workers=",
          "--scaling.bucket_size=",
          "--scaling.gpus_per_worker=",
          "--failure.hang_timeout=",
          "--failure.launch_timeout=",
          "--failure.max_failures=",
          "--train.stop_timeout=",
          "GiB",
          "1e999",
          "1e-320",
          "nan",
          "inf",
          "9223372036854775807"};
}

void read(const std::string& input) {
  std::vector<std::string> words;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  for (const auto& spec : kinds_of_commands()) check(words, spec);
}

}  // namespace trainrt::fuzz
