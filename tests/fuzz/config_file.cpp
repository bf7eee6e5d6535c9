// Parses a config file and resolves the run that its keys describe.
#include "cli/config/config_file.hpp"

#include "config/run_spec.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  return {source_file("jobs/linear.ini"),
          "[run]\nname = a\nstorage_path = /tmp\n[train]\nprogram = \"a # b\" ; why\nstop_timeout = 1e9\n"
          "[scaling]\nnum_workers = 4\nmin_workers = 2\nbucket_size = 1.5 MiB\ngpus_per_worker = 0.5\n"
          "[checkpoint]\nevery = 30 s\nstaging_limit = 2GiB\nscore_attribute = loss\n"
          "[failure]\nhang_timeout = 90 s\nstop_before_end = off\n[stop]\nloss = <= 0.1\npatience = 3\n"
          "patience_metric = loss\n",
          "[run\n",
          "a = 1\n",
          "\xef\xbb\xbf[run]\r\nname = \"a\r\n",
          "[loop]\nx = \"\"\n",
          "[data.a.b]\nsource = x\n"};
}

std::vector<std::string> words() {
  return {"[run]\n",
          "[train]\n",
          "[loop]\n",
          "[data.x]\n",
          "[scaling]\n",
          "[checkpoint]\n",
          "[metrics]\n",
          "[failure]\n",
          "[stop]\n",
          "name = ",
          "storage_path = ",
          "function = ",
          "library = ",
          "every = ",
          " reports",
          " steps",
          " s",
          "auto",
          "num_workers = ",
          "bucket_size = ",
          " MiB",
          "GiB",
          "patience = ",
          "patience_metric = ",
          "hang_timeout = ",
          "io_threads = ",
          "num_to_keep = ",
          "seed = ",
          "resume_from_checkpoint = ",
          "resume_tensors = ",
          "!",
          "1e999",
          "1e-320",
          "nan",
          "9223372036854775807",
          "\"",
          " # ",
          "\r\n",
          "\xef\xbb\xbf"};
}

void read(const std::string& input) {
  static MemoryFile file;
  file.hold(input);
  const auto options = unless_refused<UsageError>([&] { return cli::read_config_file(file.path()); });
  if (!options) return;
  Options by_hand;
  for (const auto& key : options->keys())
    if (key.find('=') == std::string::npos) {
      cli::apply_override(by_hand, "--" + key + "=" + options->text(key));
      require(by_hand.text(key) == options->text(key), "a key means the same in a file and on the command line");
    }
  unless_refused<UsageError>([&] { return config::make_run_spec(*options); });
}

}  // namespace trainrt::fuzz
