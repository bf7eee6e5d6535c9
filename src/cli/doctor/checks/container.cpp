// In a container: what of Slurm's PMIx server do the ranks see?
#include "cli/doctor/doctor_container.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Ranks that met without PMIx (mpiexec, srun --mpi=pmi2), or one rank outside of a container, do not need it.
bool needs_pmix(const World& world, const launch::StepView& view) {
  return world.launcher == "pmix" || (world.size == 1 && !view.container.empty());
}

Finding examine_container(const Examination& examination) {
  const auto answers = examination.ask([&] {
    const auto view = launch::view_of_step(examination.environment());
    const auto mine = needs_pmix(examination.world(), view) ? finding_of_step(view) : ok("this launch does not use PMIx");
    return Json{
        {"grade", static_cast<int>(mine.grade)}, {"text", mine.text}, {"advice", mine.advice}, {"figures", mine.figures}};
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "see `launcher`");
  const auto* worst = &answers.of_rank.front();
  std::vector<Trouble> troubles;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto& answer = answers.of_rank[rank];
    if (answer.at("grade") > worst->at("grade")) worst = &answer;
    if (answer.at("grade") != static_cast<int>(Grade::ok))
      troubles.push_back({static_cast<int>(rank), answer.at("text").get<std::string>()});
  }
  if (troubles.empty()) return ok(worst->at("text"), worst->at("figures"));
  // The ranks have met, whatever is missing.
  return warning(examination.describe(troubles), worst->at("advice"), worst->at("figures"));
}

}  // namespace

extern const Check container;
const Check container{.name = "container",
                      .help = "what the ranks see of Slurm's PMIx server, as from inside a container",
                      .place = 15,
                      .run = examine_container};

}  // namespace trainrt::cli::doctor::plugins
