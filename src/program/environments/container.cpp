#include "program/environments/container.hpp"

namespace trainrt::program {

namespace {

bool is_in(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

bool needs_bind(const std::string& path, const std::string& home) {
  if (path.empty() || path.find_first_of(",:") != std::string::npos) return false;
  return !is_in(path, home) && !is_in(path, "/tmp") && !is_in(path, "/var/tmp");
}

}  // namespace

void show_in_containers(const std::vector<std::string>& folders, Variables& variables) {
  const auto home = variables.find("HOME");
  for (const char* name : {"APPTAINER_BINDPATH", "SINGULARITY_BINDPATH"}) {
    const auto set = variables.find(name);
    auto list = set == variables.end() ? std::string() : set->second;
    for (const auto& folder : folders)
      if (needs_bind(folder, home == variables.end() ? "" : home->second)) list += (list.empty() ? "" : ",") + folder;
    if (!list.empty()) variables[name] = list;
  }
}

}  // namespace trainrt::program
