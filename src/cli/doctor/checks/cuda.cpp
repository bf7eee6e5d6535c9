// CUDA's runtime and driver, and the GPUs that the ranks see.
#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "device/runtime.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Json look_at_cuda() {
  auto& runtime = device::runtime();
  Json gpus = Json::array();
  for (int gpu = 0; gpu < runtime.count(); ++gpu) gpus.push_back(runtime.describe(gpu).name);
  return {{"versions", runtime.versions()}, {"why_none", runtime.no_gpu_reason()}, {"gpus", gpus}};
}

Finding examine_cuda(const Examination& examination) {
  const auto answers = examination.ask(look_at_cuda);
  if (!answers.well())
    return error(examination.describe(answers.troubles),
                 "look at nvidia-smi there; scaling.gpus_per_worker = 0 trains "
                 "on the CPU");
  std::vector<Trouble> without;
  const Json* with = nullptr;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto& answer = answers.of_rank[rank];
    if (answer.at("gpus").empty())
      without.push_back({static_cast<int>(rank), "no GPU: " + answer.at("why_none").get<std::string>()});
    else if (with == nullptr)
      with = &answer;
  }
  if (with == nullptr) return ok(examination.describe(without), answers.of_rank.front());
  const auto about =
      fmt::format("{}, {}", with->at("gpus").front().get<std::string>(), with->at("versions").get<std::string>());
  if (!without.empty())
    return warning(fmt::format("{}; but {}", about, examination.describe(without)),
                   "ask for GPUs for all ranks alike (srun --gpus-per-node or "
                   "--gpus-per-task)",
                   *with);
  return ok(about, *with);
}

}  // namespace

extern const Check cuda;
const Check cuda{.name = "cuda", .help = "CUDA's runtime and driver, and the GPUs", .place = 50, .run = examine_cuda};

}  // namespace trainrt::cli::doctor::plugins
