// Writes the Python classes of all preprocessors as a module; the build runs this program.
//
//   python_preprocessors OUTPUT_PY ARITHMETIC_PY...
//
// The files ARITHMETIC_PY are the modules with the NumPy code, one class for each preprocessor. A preprocessor without such
// a class can be fitted and saved in Python, but not applied.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "data/preprocess/preprocessing.hpp"

namespace {

using trainrt::data::ParameterSpec;
using trainrt::data::ParameterType;
using trainrt::data::PreprocessorKind;

struct PythonType {
  std::string_view name;        ///< name of the type in _parameters.py
  std::string_view annotation;  ///< type of the argument; "": one of the choices
  std::string_view words;       ///< type of the argument, for the docstring
};

PythonType python_type(ParameterType type) {
  switch (type) {
    case ParameterType::name:
      return {"name", "str", "str"};
    case ParameterType::names:
      return {"names", "List[str]", "list of str"};
    case ParameterType::name_or_names:
      return {"name_or_names", "str", "str"};
    case ParameterType::choice:
      return {"choice", "", "str"};
    case ParameterType::flag:
      return {"flag", "bool", "bool"};
    case ParameterType::number:
      return {"number", "float", "float"};
    case ParameterType::numbers:
      return {"numbers", "Sequence[float]", "sequence of float"};
    case ParameterType::integer:
      return {"integer", "int", "int"};
    case ParameterType::integer_per_column:
      return {"integer_per_column", "Union[int, Dict[str, int]]", "int or dict"};
    case ParameterType::numbers_per_column:
      return {"numbers_per_column", "Union[Sequence[float], Dict[str, Sequence[float]]]", "sequence of float or dict"};
    case ParameterType::category_limits:
      return {"category_limits", "Dict[str, int]", "dict"};
    case ParameterType::scalar:
      return {"scalar", "Union[float, str]", "float or str"};
    case ParameterType::element_type:
      return {"element_type", "Any", "dtype"};
    case ParameterType::python_only:
      break;
  }
  return {"python_only", "Any", "object"};
}

bool has_no_value(const ParameterSpec& spec) { return spec.default_value == "null" || spec.default_value.starts_with('='); }

/// Returns a JSON value as a Python expression; a list becomes a tuple, which is immutable.
std::string python_value(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_null()) return "None";
  if (!value.is_array()) return value.dump();
  std::string items;
  for (const auto& each : value) items += python_value(each) + ", ";
  return "(" + items.substr(0, items.size() - (value.size() > 1 ? 2 : 1)) + ")";
}

std::string default_of(const ParameterSpec& spec) {
  const auto text = spec.python_default.empty() ? spec.default_value : spec.python_default;
  return has_no_value(spec) ? "None" : python_value(nlohmann::json::parse(text));
}

std::string choices_of(const ParameterSpec& spec) {
  auto choices = trainrt::words_in(spec.choices);
  for (auto& each : choices) each = '"' + each + '"';
  return trainrt::join(choices);
}

std::string annotation_of(const ParameterSpec& spec) {
  std::string type(python_type(spec.type).annotation);
  if (spec.type == ParameterType::choice) type = "Literal[" + choices_of(spec) + "]";
  return has_no_value(spec) && type != "None" ? "Optional[" + type + "]" : type;
}

/// Returns a row of `_parameters`: Parameter("columns", "names").
std::string row_of(const ParameterSpec& spec) {
  auto row = fmt::format("Parameter(\"{}\", \"{}\"", spec.name, python_type(spec.type).name);
  if (has_no_value(spec)) row += ", is_optional=True";
  if (spec.default_value.starts_with('=')) row += fmt::format(", same_as=\"{}\"", spec.default_value.substr(1));
  if (!spec.choices.empty()) row += ", choices=(" + choices_of(spec) + ")";
  if (spec.type == ParameterType::integer || spec.type == ParameterType::integer_per_column)
    row += fmt::format(", maximum={}", spec.max);
  if (spec.is_ignored) row += ", is_ignored=True";
  if (spec.is_later) row += ", is_later=True";
  return row + ")";
}

/// Breaks a text into lines of at most 100 characters. All lines except the first one begin with `indent`.
std::string wrapped(std::string text, std::size_t column, std::string_view indent) {
  constexpr std::size_t max_width = 100;
  for (std::size_t begin = 0; text.size() - begin + column > max_width; column = indent.size()) {
    const auto space = text.rfind(' ', begin + max_width - column);
    if (space == std::string::npos || space <= begin) break;
    text.replace(space, 1, "\n" + std::string(indent));
    begin = space + 1 + indent.size();
  }
  return text;
}

std::string sentence(std::string_view text) {
  std::string made(text);
  made.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(made.front())));
  return made + ".";
}

std::string docstring_of(const PreprocessorKind& kind) {
  constexpr std::string_view indent = "    ", deep = "        ";
  auto text = fmt::format("    \"\"\"{}\n", wrapped(sentence(kind.help), 7, indent));
  if (!kind.stats.empty()) text += fmt::format("\n    Stats of fit(), in `stats_`: {}.\n", kind.stats);
  text += "\n    Parameters\n    ----------\n";
  for (const auto& spec : kind.parameters) {
    auto help = sentence(spec.help);
    if (spec.type == ParameterType::choice) help += fmt::format(" One of {}.", spec.choices);
    text += fmt::format("    {} : {}", spec.name, python_type(spec.type).words);
    if (has_no_value(spec)) text += ", optional";
    if (!spec.default_value.empty() && !has_no_value(spec)) text += ", default " + default_of(spec);
    text += "\n        " + wrapped(help, 8, deep) + "\n";
  }
  return text + "    \"\"\"\n";
}

std::string class_of(const PreprocessorKind& kind, std::string_view base) {
  std::string arguments, passed, rows;
  for (const auto& spec : kind.parameters) {
    if (spec.is_keyword_only) arguments += ", *";
    arguments += fmt::format(", {}: {}", spec.name, annotation_of(spec));
    if (!spec.default_value.empty()) arguments += " = " + default_of(spec);
    passed += fmt::format("{}{}={}", passed.empty() ? "" : ", ", spec.name, spec.name);
    rows += "        " + row_of(spec) + ",\n";
  }
  return fmt::format(
      "\n\nclass {}({}):\n{}\n    _parameters = (\n{}    )\n\n    def __init__(self{}) -> None:\n        "
      "super().__init__({})\n",
      kind.name, base, docstring_of(kind), rows, arguments, passed);
}

/// A module with NumPy code: its name and its text.
struct Arithmetic {
  std::string name, text;
};

/// Returns the base class of a preprocessor: MODULE.NAME, or RuntimePreprocessor if no module has NumPy code for it.
std::string base_of(const PreprocessorKind& kind, const std::vector<Arithmetic>& modules) {
  const auto line = fmt::format("\nclass {}(", kind.name);
  for (const auto& module : modules)
    if (module.text.find(line) != std::string::npos) return module.name + "." + std::string(kind.name);
  return "RuntimePreprocessor";
}

std::string module_of(const std::vector<Arithmetic>& modules) {
  std::string names, classes;
  std::vector<std::string> imported;
  for (const auto& module : modules) imported.push_back(module.name);
  for (const auto* kind : trainrt::data::preprocessor_table()) {
    classes += class_of(*kind, base_of(*kind, modules));
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", kind->name);
  }
  return "\"\"\"Generated by the build from src/data/preprocess/kinds. Changes are lost.\"\"\"\n\n"
         "from typing import Any, Dict, List, Literal, Optional, Sequence, Union\n\n"
         "from . import " +
         trainrt::join(imported) +
         "\nfrom ._parameters import Parameter\nfrom ._runtime import RuntimePreprocessor\n\n"
         "__all__ = [" +
         wrapped(names, 11, "           ") + "]\n" + classes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: python_preprocessors OUTPUT_PY ARITHMETIC_PY...\n";
    return 64;
  }
  std::vector<Arithmetic> modules;
  for (int number = 2; number < argc; ++number) {
    std::ifstream file(argv[number]);
    modules.push_back({std::filesystem::path(argv[number]).stem().string(), {std::istreambuf_iterator<char>(file), {}}});
    if (modules.back().text.empty()) {
      std::cerr << "python_preprocessors: cannot read '" << argv[number] << "'\n";
      return 1;
    }
  }
  std::ofstream output(argv[1]);
  output << module_of(modules);
  output.close();
  if (!output) {
    std::cerr << "python_preprocessors: cannot write '" << argv[1] << "'\n";
    return 1;
  }
  return 0;
}
