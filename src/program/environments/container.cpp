#include "program/environments/container.hpp"

namespace trainrt::program {

namespace {

bool lies_in(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

bool is_to_be_bound(const std::string& path, const std::string& home) {
  if (path.empty() || path.find_first_of(",:") != std::string::npos) return false;
  return !lies_in(path, home) && !lies_in(path, "/tmp") && !lies_in(path, "/var/tmp");
}

}  // namespace

void show_in_containers(const std::vector<std::string>& folders, Variables& variables) {
  const auto home = variables.find("HOME");
  for (const char* name : {"APPTAINER_BINDPATH", "SINGULARITY_BINDPATH"}) {
    const auto set = variables.find(name);
    auto list = set == variables.end() ? std::string() : set->second;
    for (const auto& folder : folders)
      if (is_to_be_bound(folder, home == variables.end() ? "" : home->second)) list += (list.empty() ? "" : ",") + folder;
    if (!list.empty()) variables[name] = list;
  }
}

}  // namespace trainrt::program
