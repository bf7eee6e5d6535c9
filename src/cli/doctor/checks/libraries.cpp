#include <array>

#include "cli/doctor/doctor_check.hpp"
#include "comm/nccl/api.hpp"
#include "device/runtime.hpp"
#include "io/hdf5/h5.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr const char* library_advice = "load the library's module on every node, or install the library on every node";
constexpr const char* cuda_advice =
    "run nvidia-smi on that node to find the cause; scaling.gpus_per_worker = 0 trains on the CPU";

launch::FoundLibrary hdf5_library() { return {io::hdf5_version(), {}, {}}; }

/// Requires the same HDF5 on all ranks; warns if it is not the version that trainrt was compiled with.
Finding check_hdf5(const DoctorRanks& ranks, Json& figures) {
  if (auto finding = compare_found(ranks, figures, hdf5_library); finding.grade == Grade::error) return finding;
  for (const auto* key : {"path", "problem"}) figures.erase(key);
  const std::string compiled = figures.at("compiled"), loaded = figures.at("loaded");
  return warning_if(
      compiled == loaded ? "" : fmt::format("{} is loaded, but trainrt was compiled with {}", loaded, compiled),
      "load the module of the compiled version, or build trainrt with the loaded version",
      loaded + ", the version that trainrt was compiled with");
}

Finding check_mpi(const DoctorRanks& ranks, Json& figures) { return compare_found(ranks, figures, launch::mpi_version); }

Finding check_pmix(const DoctorRanks& ranks, Json& figures) {
  auto finding = compare_found(ranks, figures, launch::pmix_version);
  if (finding.grade == Grade::ok && figures.at("path") != "")
    finding.text += ranks.world().launcher == "pmix" ? "; this launch used it" : "; this launch did not need it";
  return finding;
}

Finding check_cuda(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    auto& runtime = device::runtime();
    Json gpus = Json::array();
    for (int gpu = 0; gpu < runtime.count(); ++gpu) gpus.push_back(runtime.describe(gpu).name);
    return Json{{"versions", runtime.versions()}, {"why_none", runtime.no_gpu_reason()}, {"gpus", gpus}};
  });
  const auto has_gpu = [](const Json& answer) { return !answer.at("gpus").empty(); };
  const auto without_gpu = ranks.problems_in(answers, [&](const Json& answer) {
    return has_gpu(answer) ? "" : "no GPU: " + answer.at("why_none").get<std::string>();
  });
  const auto found = std::ranges::find_if(answers.values, has_gpu);
  figures = found == answers.values.end() ? answers.first() : *found;
  if (found == answers.values.end()) return ok(without_gpu);
  const auto text = figures.at("gpus")[0].get<std::string>() + ", " + figures.at("versions").get<std::string>();
  return warning_if(without_gpu.empty() ? "" : text + "; but " + without_gpu, gpus_for_all_advice, text);
}

Finding check_nccl(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    Json answer = {{"gpus", device::runtime().count()}};
    try {
      answer["version"] = comm::nccl::load()->version_text();
    } catch (const Error& error) {  // normal on a rank without a GPU
      answer["why_none"] = error.what();
    }
    return answer;
  });
  figures = answers.first();
  const auto missing = ranks.problems_in(answers, [](const Json& answer) {
    return answer.contains("version") || answer.at("gpus") == 0 ? "" : answer.at("why_none").get<std::string>();
  });
  if (!missing.empty()) return warning(missing, "load NCCL's module: without NCCL, GPUs cannot average gradients");
  const std::string version = figures.value("version", "");
  if (version.empty()) return ok("not installed; no rank has a GPU that needs it");
  const auto others = ranks.problems_in(answers, [&](const Json& answer) {
    const std::string mine = answer.value("version", version);
    return mine == version ? "" : mine;
  });
  if (!others.empty()) return error(fmt::format("rank 0: {}; {}", version, others), "load the same NCCL on every node");
  return ok(version + (figures.at("gpus") > 0 ? "" : "; no GPU needs it"));
}

constexpr std::array<Check, 5> library_checks = {{
    {"mpi", "the MPI library", check_mpi, library_advice},
    {"pmix", "the PMIx client library", check_pmix, library_advice},
    {"hdf5", "the HDF5 library", check_hdf5, library_advice},
    {"cuda", "the CUDA runtime and the GPUs", check_cuda, cuda_advice},
    {"nccl", "the NCCL library", check_nccl, "see `cuda`"},
}};

}  // namespace

extern const CheckGroup libraries;
const CheckGroup libraries{
    .name = "libraries", .help = "libraries as they are loaded on the ranks", .order = 20, .checks = library_checks};

}  // namespace trainrt::cli::doctor::plugins
