#include "cli/doctor/python_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/process/child_process.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

// importlib.metadata reads the names of files; find_spec() of a module outside of packages imports nothing. The first
// entry of sys.path is what it is for the script; a script that changes sys.path itself is not examined. Imports under a
// condition, in a try or in a function may be meant to fail.
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

std::string instead_of(const std::string& name, const std::string& mine, const std::string& firsts) {
  return fmt::format("{} {} instead of {}", name, mine, firsts);
}

}  // namespace

PythonReport python_report_from(const std::string& text) try {
  const auto answer = trim(text);
  const auto report = nlohmann::json::parse(answer.substr(answer.rfind('\n') + 1));  // sitecustomize may print
  return {report.at("version"), report.at("frameworks"), report.at("missing"), report.at("mistake")};
} catch (const nlohmann::json::exception&) {
  throw Error("answers something else than a report on itself: " + excerpt(trim(text)));
}

PythonReport ask_python(const PythonCommand& command, double limit_seconds) {
  const auto answer =
      run_child({command.interpreter, "-c", questions, command.script}, limit_seconds, ChildErrors::with_output);
  if (!answer) throw Error(fmt::format("{} did not start and end within {:g} s", command.interpreter, limit_seconds));
  if (answer->exit_code != 0)
    throw Error(
        fmt::format("{} does not work: exit {}: {}", command.interpreter, answer->exit_code, excerpt(trim(answer->text))));
  try {
    return python_report_from(answer->text);
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}", command.interpreter, error.what()));
  }
}

std::vector<std::string> differences(const PythonReport& first, const PythonReport& other) {
  std::vector<std::string> found;
  if (other.version != first.version) found.push_back(instead_of("Python", other.version, first.version));
  for (const auto& [name, version] : first.frameworks) {
    const auto mine = other.frameworks.find(name);
    if (mine == other.frameworks.end())
      found.push_back(fmt::format("{} is missing", name));
    else if (mine->second != version)
      found.push_back(instead_of(name, mine->second, version));
  }
  for (const auto& [name, version] : other.frameworks)
    if (!first.frameworks.contains(name)) found.push_back(fmt::format("{} {} is here alone", name, version));
  return found;
}

}  // namespace trainrt::cli
