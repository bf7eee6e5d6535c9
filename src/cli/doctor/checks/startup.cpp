#include <array>
#include <atomic>

#include "batch/lease.hpp"
#include "cli/doctor/doctor_container.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding check_launcher(const DoctorRanks& ranks, Json& figures) {
  const auto& world = ranks.world();
  const auto& launcher = find_plugin(launch::launcher_table(), world.launcher, "launcher");
  const auto backend = std::string(ranks.communicator().name());
  figures = {{"launcher", launcher.name}, {"ranks", world.size}, {"communicator", backend}};
  return ok(
      fmt::format("{} ({}), {}, communicator {}", launcher.name, launcher.help, counted(world.size, "rank"), backend));
}

/// Reports missing parts of a container. They are at most a warning, because the ranks are already connected.
Finding check_container(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([&] {
    const auto view = launch::view_of_step(ranks.environment());
    // A single rank in a container may have been meant as one of several ranks, which PMIx could not connect.
    const bool needs_pmix = ranks.world().launcher == "pmix" || (ranks.world().size == 1 && !view.container.empty());
    const auto mine = needs_pmix ? finding_of_step(view) : ok("this launch does not use PMIx");
    const bool is_ok = mine.grade == Grade::ok;
    return Json{{"ok", is_ok ? mine.text : ""},
                {"problem", is_ok ? "" : mine.text},
                {"advice", mine.advice},
                {"figures", mine.figures}};
  });
  const auto& shown = *std::ranges::max_element(answers.values, {}, [](const Json& each) { return each.at("ok") == ""; });
  figures = shown.at("figures");
  return warning_if(ranks.problems_in(answers, "problem"), shown.at("advice"), shown.at("ok"));
}

Finding check_ranks(const DoctorRanks& ranks, Json& figures) {
  std::vector<std::size_t> counts;
  Json nodes = Json::array();
  for (const auto& hosts : ranks.by_node(ranks.hosts())) {
    counts.push_back(hosts.size());
    nodes.push_back({{"host", hosts.front()}, {"ranks", hosts.size()}});
  }
  const auto [min, max] = std::ranges::minmax(counts);
  figures = {{"least_ranks_a_node", min}, {"most_ranks_a_node", max}, {"nodes", nodes}};
  const auto text = fmt::format("{} per node on {}", range_text(counts, "rank"), counted(std::ssize(counts), "node"));
  return warning_if(min == max ? "" : text,
                    "use --ntasks-per-node for equal numbers: a run is as slow as the node with the most ranks", text);
}

Finding check_job(const DoctorRanks& ranks, Json& figures) {
  const auto& environment = ranks.environment();
  const auto id = environment.text("SLURM_JOB_ID");
  figures["job"] = id ? Json(*id) : Json();
  if (!id) return ok("no Slurm job");
  figures["restarts"] = environment.number("SLURM_RESTART_COUNT").value_or(0);
  const auto answers = ranks.ask([&] {
    if (ranks.world().rank > 0) return Json();  // one query per job
    batch::Lease::Answer answer;
    if (const auto ask = batch::ask_slurm(environment)) answer = ask(false);
    return Json{{"known", answer.known}, {"seconds", answer.seconds ? Json(*answer.seconds) : Json()}};
  });
  const auto& answer = answers.first();
  if (!answer.at("known").get<bool>())
    return warning(fmt::format("Slurm job {}: cannot query its time limit (squeue failed or is not installed)", *id),
                   "submit with sbatch --signal=USR1@120, so that a run saves and stops before the limit");
  if (answer.at("seconds").is_null()) return ok(fmt::format("Slurm job {}, without a time limit", *id));
  const double seconds = figures["seconds_left"] = answer.at("seconds");
  return ok(fmt::format("Slurm job {}, {:.0f} min left; a run saves and stops in time", *id, seconds / 60));
}

/// Reports a step of a heterogeneous job that leaves out components of the job.
Finding check_components(const DoctorRanks& ranks, Json& figures) {
  const auto& environment = ranks.environment();
  const auto components = environment.number("SLURM_HET_SIZE").value_or(1);
  figures["components"] = components;
  if (components < 2) return ok("the job is not heterogeneous");
  std::int64_t tasks = 0;
  for (int i = 0; i < components; ++i) tasks += environment.number(fmt::format("SLURM_NTASKS_HET_GROUP_{}", i)).value_or(0);
  figures["tasks"] = tasks;
  const auto text = fmt::format("{} for the {} tasks in {} components of the heterogeneous job",
                                counted(ranks.world().size, "rank"), tasks, components);
  const auto advice =
      fmt::format("add --het-group=0-{} to the command srun to start ranks in all components", components - 1);
  return warning_if(ranks.world().size < tasks ? text : "", advice, text);
}

Finding check_preemption(const DoctorRanks& ranks, Json& figures) {
  constexpr double min_seconds = 5;
  const auto answers = ranks.ask([&] {
    if (ranks.world().rank > 0) return Json();  // one query per job
    const std::atomic<bool> cancelled = false;
    const auto ask = batch::ask_slurm_notice(ranks.environment());
    const auto seconds = ask ? ask(cancelled) : std::nullopt;
    return seconds ? Json(*seconds) : Json();
  });
  const auto& answer = figures["seconds_to_save"] = answers.first();
  if (answer.is_null())
    return ok("the time between SIGTERM and SIGKILL is not known outside a Slurm job or without scontrol");
  const double seconds = answer;
  const auto text = fmt::format("Slurm kills the ranks {:.0f} s after SIGTERM (KillWait plus GraceTime)", seconds);
  return warning_if(
      seconds < min_seconds ? text : "",
      "a preemption may lose the work since the last checkpoint: set checkpoint.every to the time that may be "
      "lost, or ask the centre for GraceTime in the partition",
      text);
}

constexpr std::array<Check, 6> startup_checks = {{
    {"launcher", "the launcher", check_launcher, ""},
    {"container", "the parts of Slurm's PMIx server that the ranks can use", check_container, "see `launcher`"},
    {"ranks", "the number of ranks per node", check_ranks, ""},
    {"job", "the Slurm job and the time that it has left", check_job, ""},
    {"components", "the components of a heterogeneous job", check_components, ""},
    {"preemption", "the time for a save between SIGTERM and SIGKILL", check_preemption, ""},
}};

}  // namespace

extern const CheckGroup startup;
const CheckGroup startup{.name = "startup", .help = "how the ranks were started", .order = 10, .checks = startup_checks};

}  // namespace trainrt::cli::doctor::plugins
