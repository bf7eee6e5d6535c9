// NCCL is loaded when it is asked for: is it there, if there are GPUs?
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "comm/nccl/api.hpp"
#include "device/runtime.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Json look_at_nccl() {
  Json answer = {{"gpus", device::runtime().count()}};
  try {
    answer["version"] = comm::nccl::load()->version_text();
  } catch (const Error& error) {  // plain if there is no GPU
    answer["why_none"] = error.what();
  }
  return answer;
}

Finding examine_nccl(const Examination& examination) {
  const auto answers = examination.ask(look_at_nccl);
  if (!answers.well()) return error(examination.describe(answers.troubles), "see `cuda`");
  const auto& first = answers.of_rank.front();
  std::vector<Trouble> missing;
  std::vector<Trouble> others;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto& answer = answers.of_rank[rank];
    if (!answer.contains("version") && answer.at("gpus") > 0)
      missing.push_back({static_cast<int>(rank), answer.at("why_none").get<std::string>()});
    else if (answer.contains("version") && first.contains("version") && answer.at("version") != first.at("version"))
      others.push_back({static_cast<int>(rank), answer.at("version").get<std::string>()});
  }
  if (!missing.empty())
    return warning(examination.describe(missing), "without NCCL the GPUs cannot average gradients among themselves", first);
  if (!others.empty())
    return error(fmt::format("rank 0: {}; {}", first.at("version").get<std::string>(), examination.describe(others)),
                 "load the same NCCL on every node", first);
  if (!first.contains("version")) return ok("not there; no rank has a GPU that needs it", first);
  return ok(fmt::format("{} is there{}", first.at("version").get<std::string>(),
                        first.at("gpus") > 0 ? "" : ", and no GPU that needs it"),
            first);
}

}  // namespace

extern const Check nccl;
const Check nccl{.name = "nccl", .help = "NCCL, where there are GPUs", .place = 60, .run = examine_nccl};

}  // namespace trainrt::cli::doctor::plugins
