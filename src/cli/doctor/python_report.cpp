#include "cli/doctor/python_report.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/process/child_process.hpp"
#include "core/process/spawn.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli::doctor {

namespace {

namespace fs = std::filesystem;

constexpr double python_limit_seconds = 20;  // long enough for an interpreter on slow shared storage

// The script asks the interpreter for versions and missing modules without importing them: importlib.metadata reads
// file names, and find_spec() of a top-level module imports nothing. The first entry of sys.path is set as it would be
// for the user's script. Missing modules are not reported if the user's script uses sys.path. Imports in a condition,
// try or function are not checked, because they may be optional.
constexpr const char* questions = R"(
import json, sys
names = ("torch", "torchvision", "lightning", "pytorch-lightning", "transformers", "accelerate", "deepspeed", "horovod",
         "jax", "jaxlib", "flax", "tensorflow", "tensorflow-cpu", "keras", "xgboost", "lightgbm", "mpi4py", "numpy", "h5py")
report = {"version": "%d.%d.%d" % sys.version_info[:3], "frameworks": {}, "missing": [], "mistake": ""}
script = sys.argv[1]
try:
    from importlib import metadata
except ImportError:
    names = ()
for name in names:
    try:
        report["frameworks"][name] = metadata.version(name)
    except Exception:
        pass
if script:
    import ast, os
    from importlib import util
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    try:
        source = open(script, "rb").read()
        statements = ast.parse(source).body
    except (SyntaxError, ValueError) as error:
        statements, report["mistake"] = [], str(error)
    except OSError:
        statements, source = [], b""
    wanted = []
    for statement in statements if b"sys.path" not in source else []:
        if isinstance(statement, ast.Import):
            wanted += [each.name for each in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            wanted.append(statement.module)
    for name in sorted({each.split(".")[0] for each in wanted} - {"__future__", "trainrt"}):
        try:
            if util.find_spec(name) is None:
                report["missing"].append(name)
        except Exception:
            pass
print("\n" + json.dumps(report))
)";

/// Returns whether the program is Python: "python", "python3", "python3.11".
bool is_python(const fs::path& program) {
  const auto name = program.filename().string();
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

/// Returns the interpreter in the first line (#!) of a file, also after `env`; "" without such a line.
std::string interpreter_named_in(const std::string& file) {
  std::string line(256, '\0');  // limit of the kernel, see execve(2)
  std::ifstream stream(file, std::ios::binary);
  stream.read(line.data(), std::ssize(line));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (fs::path(word).filename() != "env") return word;
  while (words >> word)
    if (!word.starts_with('-') && word.find('=') == std::string::npos) return word;
  return {};
}

}  // namespace

std::optional<PythonCommand> python_command_of(const std::vector<std::string>& command) {
  const auto executable = command.empty() ? "" : find_executable(command.front());
  if (executable.empty()) return std::nullopt;
  if (is_python(executable)) return PythonCommand{executable, program::script_of(command)};
  const auto named = interpreter_named_in(executable);
  const auto interpreter = is_python(named) ? find_executable(named) : "";
  if (interpreter.empty()) return std::nullopt;
  return PythonCommand{interpreter, executable};
}

Json parse_python_report(const std::string& output) try {
  const auto text = trim(output);
  auto report = Json::parse(text.substr(text.rfind('\n') + 1));  // sitecustomize may print before it
  for (const auto* key : {"version", "mistake"}) report.at(key).get<std::string>();
  for (const auto* key : {"frameworks", "missing"}) report.at(key);
  return report;
} catch (const Json::exception&) {
  throw Error("printed something other than its report: " + excerpt(trim(output)));
}

Json report_of_python(const PythonCommand& command) try {
  const auto child =
      run_child({command.interpreter, "-c", questions, command.script}, python_limit_seconds, ChildErrors::with_output);
  if (!child) throw Error(fmt::format("did not finish within {:g} s", python_limit_seconds));
  if (child->exit_code != 0)
    throw Error(fmt::format("failed: exit code {}: {}", child->exit_code, excerpt(trim(child->text))));
  auto report = parse_python_report(child->text);
  report.update({{"interpreter", command.interpreter}, {"script", command.script}});
  return report;
} catch (const Error& failure) {
  throw Error(command.interpreter + " " + failure.what());
}

std::vector<std::string> python_differences(const Json& first, const Json& other) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name, const Json& mine, const Json& expected) {
    if (mine == expected) return;
    if (mine.is_null()) return found.push_back(name + " is missing");
    const auto version = mine.get<std::string>();
    found.push_back(fmt::format("{} {} {}", name, version,
                                expected.is_null() ? "is only on this node" : "instead of " + expected.get<std::string>()));
  };
  compare("Python", other.at("version"), first.at("version"));
  const auto &mine = other.at("frameworks"), &expected = first.at("frameworks");
  for (const auto& [name, version] : expected.items()) compare(name, mine.value(name, Json()), version);
  for (const auto& [name, version] : mine.items())
    if (!expected.contains(name)) compare(name, version, {});
  return found;
}

}  // namespace trainrt::cli::doctor
