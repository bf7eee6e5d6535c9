// Checkpoints of files that the program writes itself: each rank passes a directory with its file to report(). When the
// program is killed and started again, it resumes from the newest checkpoint.
//   g++ -O2 checkpoint_files.cpp $(pkg-config --cflags --libs trainrt) -o checkpoint_files
//   mpiexec.mpich -n 2 ./checkpoint_files      (or srun --mpi=pmix ./checkpoint_files)
#include <trainrt/trainrt.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// This rank's rows of a cooling plate, and the epoch.
struct Shard {
  int epoch = 0;
  std::vector<double> rows = std::vector<double>(4, 100.0);
};

std::string name_of(int rank) { return "rows-rank=" + std::to_string(rank) + ".txt"; }

void load(const fs::path& file, Shard& shard) {
  std::ifstream in(file);
  in >> shard.epoch;
  for (auto& row : shard.rows) in >> row;
  if (!in) throw trainrt::Error(file.string() + " is incomplete");
}

void save(const fs::path& file, const Shard& shard) {
  std::ofstream out(file);
  out.precision(17);
  out << shard.epoch << '\n';
  for (const auto row : shard.rows) out << row << '\n';
}

void train(trainrt::Context& ctx) {
  Shard shard;
  if (ctx.restore()) load(fs::path(ctx.checkpoint()->path) / "files" / name_of(ctx.world_rank()), shard);
  const auto epochs = ctx.config("epochs", 20);
  std::string folder = (fs::temp_directory_path() / "trainrt-rows-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw trainrt::Error("no folder in " + fs::temp_directory_path().string());
  while (shard.epoch < epochs) {
    for (auto& row : shard.rows) row *= 0.9 - 0.1 * ctx.world_rank();
    ++shard.epoch;
    save(fs::path(folder) / name_of(ctx.world_rank()), shard);
    const auto hottest = *std::max_element(shard.rows.begin(), shard.rows.end());
    ctx.report(
        {{"hottest", hottest}},
        trainrt::DirectoryCheckpoint{folder, R"({"unit": "Celsius"})"});  // the files are copied when report() returns
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) try {
  trainrt::TrainerOptions options;
  options.run.name = argc > 1 ? argv[1] : "checkpoint_files";
  options.run.storage_path = argc > 2 ? argv[2] : "runs";
  options.run.checkpoint.num_to_keep = 2;
  options.loop = {{"epochs", argc > 3 ? argv[3] : "20"}};
  const auto result = trainrt::Trainer(train, options).fit();
  if (result.state == "finished")
    for (const auto& file : fs::directory_iterator(fs::path(result.checkpoint->path) / "files"))
      std::printf("%s\n", file.path().c_str());
  return result.exit_code();  // 75 after a stop: run the same command to resume
} catch (const trainrt::Error& error) {
  std::fprintf(stderr, "checkpoint_files: %s\n", error.what());
  return static_cast<int>(error.code());
}
