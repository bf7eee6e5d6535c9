#include "frameworks/program/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

namespace trainrt::program {

namespace fs = std::filesystem;

namespace {

/// Where trainrt.py lies: beside the program that was built, or where it was installed; "" if it is not there.
std::string client_folder() {
  std::error_code none;
  const auto here = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& folder : {here / "python", here.parent_path() / "lib/trainrt/python"})
    if (fs::exists(folder / "trainrt.py", none)) return folder.string();
  return "";
}

bool is_of_launcher(std::string_view name) {
  constexpr std::string_view beginnings[] = {"PMI_", "PMIX_", "HYDI_", "MPI_LOCAL"};
  return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

}  // namespace

std::vector<std::string> program_environment(const Context& ctx, int socket) {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string::npos && !is_of_launcher(text)) values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  const auto number = [](auto value) { return std::to_string(value); };
  values["RANK"] = number(ctx.world_rank());
  values["WORLD_SIZE"] = number(ctx.world_size());
  values["LOCAL_RANK"] = number(ctx.local_rank());
  values["LOCAL_WORLD_SIZE"] = number(ctx.local_world_size());
  values["NODE_RANK"] = values["GROUP_RANK"] = number(ctx.node_rank());
  values["TRAINRT_RUN_NAME"] = ctx.run_name();
  values["TRAINRT_RUN_DIR"] = ctx.run_dir();
  values["TRAINRT_FD"] = number(socket);
  if (const auto folder = client_folder(); !folder.empty()) {
    auto& path = values["PYTHONPATH"];
    path = path.empty() ? folder : folder + ":" + path;
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : values) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace trainrt::program
