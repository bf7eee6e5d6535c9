// Who started the ranks, and did all of them form one world?
#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_launcher(const Examination& examination) {
  const auto& world = examination.world();
  const auto& launcher = find_plugin(launch::launcher_table(), world.launcher, "launcher");
  const auto backend = std::string(examination.communicator().name());
  return ok(fmt::format("{} ({}), {} rank{}, communicator {}", launcher.name, launcher.help, world.size,
                        world.size == 1 ? "" : "s", backend),
            {{"launcher", launcher.name}, {"ranks", world.size}, {"communicator", backend}});
}

}  // namespace

extern const Check launcher;
const Check launcher{.name = "launcher",
                     .help = "who started the ranks, and whether they formed one world",
                     .place = 10,
                     .run = examine_launcher};

}  // namespace trainrt::cli::doctor::plugins
