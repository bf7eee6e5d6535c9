#include "trainer/start/module_loader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/module_folders.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

OptionType type_from(const std::string& name) {
  static const std::map<std::string, OptionType> types = {{"text", OptionType::text},
                                                          {"integer", OptionType::integer},
                                                          {"real", OptionType::real},
                                                          {"boolean", OptionType::boolean},
                                                          {"path", OptionType::path}};
  if (const auto found = types.find(name); found != types.end()) return found->second;
  throw Error("unknown type of a key: '" + name + "'");
}

OptionSpec option_from(const nlohmann::json& key) {
  const Range any;
  return {.key = key.at("key"),
          .type = type_from(key.value("type", "text")),
          .default_value = key.value("default", ""),
          .help = key.value("help", ""),
          .required = key.value("required", false),
          .choices = key.value("choices", std::vector<std::string>()),
          .range = {key.value("least", any.least), key.value("most", any.most), key.value("below", any.below)},
          .required_unless = key.value("required_unless", "")};
}

/// Returns the descriptions in an index file. An index file such as torch.json describes the train functions of torch.so in
/// the same folder.
std::vector<FunctionEntry> read_index(const fs::path& index) {
  std::vector<FunctionEntry> entries;
  try {
    const auto json = nlohmann::json::parse(io::read_file(index.string()));
    auto library = index;
    library.replace_extension(".so");
    for (const auto& function : json.at("functions")) {
      FunctionEntry entry{function.at("name"), function.at("help"), library.string(), {}};
      for (const auto& key : function.value("loop", nlohmann::json::array())) {
        entry.declared.loop.push_back(option_from(key));
        if (key.value("code", false)) entry.declared.code.push_back(key.at("key"));
      }
      entry.declared.takes_other_keys = function.value("takes_other_keys", false);
      for (const auto& name : function.value("datasets", nlohmann::json::array())) entry.declared.datasets.push_back(name);
      entries.push_back(std::move(entry));
    }
  } catch (const std::exception& error) {
    log::warning(
        fmt::format("the module index {} is ignored, because it cannot be read: {}", index.string(), error.what()));
  }
  return entries;
}

void require_readable(const std::string& library) {
  if (access(library.c_str(), R_OK) != 0)
    throw UsageError(fmt::format("cannot load the library {}: {}", library, std::strerror(errno)));
}

const Module& load_module(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw UsageError(fmt::format("cannot load the library {}: {}", path, why != nullptr ? why : "unknown reason"));
  }
  const auto* module = static_cast<const Module*>(dlsym(library, "trainrt_module"));
  if (module == nullptr)
    throw UsageError(
        path + " is not a trainrt module: it does not define the symbol trainrt_module (macro TRAINRT_TRAIN_FUNCTION)");
  if (module->abi != module_abi)
    throw UsageError(
        fmt::format("{} was compiled for module interface {}, but this program has interface {}: "
                    "compile it again with the headers of this version",
                    path, module->abi, module_abi));
  return *module;
}

TrainFunction find_in(const Module& module, const std::string& name, const std::string& path) {
  std::vector<std::string> names;
  for (int i = 0; i < module.function_count; ++i) {
    const auto& function = module.functions[i];
    if (name.empty() || function.name == name) return function;
    names.emplace_back(function.name);
  }
  throw UsageError(
      fmt::format("no train function '{}' in {}{}; valid names: {}", name, path, did_you_mean(name, names), join(names)));
}

FunctionEntry entry_of(const TrainFunction& function, const std::string& module) {
  return {std::string(function.name), std::string(function.help), module, config::declared_by(function)};
}

/// Returns the description of the train function `name` from the index file of a user's library. Returns nullopt if the
/// index file does not exist or does not describe the function.
std::optional<FunctionEntry> entry_in_index_of(const fs::path& library, const std::string& name) {
  auto index = library;
  index.replace_extension(".json");
  if (!fs::exists(index)) return std::nullopt;
  for (auto& entry : read_index(index))
    if (name.empty() || entry.name == name) return std::move(entry);
  return std::nullopt;
}

}  // namespace

std::vector<FunctionEntry> available_functions(PluginTable<TrainFunction> built_in) {
  std::vector<FunctionEntry> entries;
  for (const auto* function : built_in) entries.push_back(entry_of(*function, ""));
  for (const auto& folder : module_folders()) {
    std::error_code none;
    std::vector<fs::path> indices;
    for (const auto& file : fs::directory_iterator(folder, none))
      if (file.path().extension() == ".json") indices.push_back(file.path());
    std::ranges::sort(indices);
    for (const auto& index : indices)
      for (auto& entry : read_index(index)) entries.push_back(std::move(entry));
  }
  return entries;
}

FunctionEntry find_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library) {
  if (!library.empty()) {
    const auto path = fs::absolute(library).string();
    require_readable(path);
    if (auto entry = entry_in_index_of(path, name)) return std::move(*entry);
    return entry_of(find_in(load_module(path), name, path), path);
  }
  std::vector<std::string> names;
  for (auto& entry : available_functions(built_in)) {
    if (entry.name == name) {
      if (!entry.module.empty()) require_readable(entry.module);
      return std::move(entry);
    }
    names.push_back(entry.name);
  }
  throw UsageError(
      fmt::format("unknown train function '{}'{}; valid names: {}", name, did_you_mean(name, names), join(names)));
}

TrainFunction load_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library) {
  if (!library.empty()) {
    const auto path = fs::absolute(library).string();
    return find_in(load_module(path), name, path);
  }
  for (const auto* function : built_in)
    if (function->name == name) return *function;
  const auto entry = find_function(built_in, name, library);
  return find_in(load_module(entry.module), name, entry.module);
}

}  // namespace trainrt::trainer
