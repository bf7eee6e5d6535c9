// Writes the Python classes of all preprocessors as a module; the build runs this program.
//
//   python_preprocessors ARITHMETIC_PY OUTPUT_PY
//
// ARITHMETIC_PY is the module with the NumPy code, one class for each preprocessor. A preprocessor without such a class can
// be fitted and saved in Python, but not applied.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "data/preprocess/preprocessing.hpp"

namespace {

using trainrt::data::ParameterSpec;
using trainrt::data::ParameterType;
using trainrt::data::PreprocessorKind;

struct PythonType {
  std::string_view name;        ///< name of the type in _parameters.py
  std::string_view annotation;  ///< type of the argument; "": unsupported, or one of the choices
};

PythonType python_type(ParameterType type) {
  switch (type) {
    case ParameterType::name:
      return {"name", "str"};
    case ParameterType::names:
      return {"names", "List[str]"};
    case ParameterType::name_or_names:
      return {"name_or_names", "str"};
    case ParameterType::choice:
      return {"choice", ""};
    case ParameterType::flag:
      return {"flag", "bool"};
    case ParameterType::number:
      return {"number", "float"};
    case ParameterType::numbers:
      return {"numbers", "Sequence[float]"};
    case ParameterType::integer:
      return {"integer", "int"};
    case ParameterType::integer_per_column:
      return {"integer_per_column", "Union[int, Dict[str, int]]"};
    case ParameterType::numbers_per_column:
      return {"numbers_per_column", "Union[Sequence[float], Dict[str, Sequence[float]]]"};
    case ParameterType::category_limits:
      return {"category_limits", "Dict[str, int]"};
    case ParameterType::scalar:
      return {"scalar", "Union[float, str]"};
    case ParameterType::element_type:
      return {"element_type", "Any"};
    case ParameterType::unsupported:
      break;
  }
  return {"unsupported", "None"};
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
  return has_no_value(spec) ? "None" : python_value(nlohmann::json::parse(spec.default_value));
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
  if (spec.type == ParameterType::unsupported) row += ", reason=" + nlohmann::json(spec.help).dump();
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
  constexpr std::string_view indent = "    ", deep = "            ";
  auto text = fmt::format("    \"\"\"{}\n\n    Args:\n", wrapped(sentence(kind.help), 7, indent));
  for (const auto& spec : kind.parameters) {
    auto help =
        fmt::format("{}: {}.", spec.name,
                    spec.type == ParameterType::unsupported ? "not supported: " + std::string(spec.help) : spec.help);
    if (spec.type == ParameterType::choice) help += fmt::format(" One of {}.", spec.choices);
    if (!spec.default_value.empty() && !has_no_value(spec)) help += fmt::format(" Default: {}.", default_of(spec));
    text += "        " + wrapped(help, 8, deep) + "\n";
  }
  if (!kind.stats.empty()) text += fmt::format("\n    Stats of fit(), in `stats_`: {}.\n", kind.stats);
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

std::string module_of(const std::string& arithmetic) {
  std::string names, classes;
  for (const auto* kind : trainrt::data::preprocessor_table()) {
    const bool has_arithmetic = arithmetic.find(fmt::format("\nclass {}(", kind->name)) != std::string::npos;
    classes += class_of(*kind, has_arithmetic ? "_arithmetic." + std::string(kind->name) : "RuntimePreprocessor");
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", kind->name);
  }
  return "\"\"\"Generated by the build from src/data/preprocess/kinds. Changes are lost.\"\"\"\n\n"
         "from typing import Any, Dict, List, Literal, Optional, Sequence, Union\n\n"
         "from . import _arithmetic\nfrom ._parameters import Parameter\nfrom ._preprocessor import RuntimePreprocessor\n\n"
         "__all__ = [" +
         wrapped(names, 11, "           ") + "]\n" + classes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: python_preprocessors ARITHMETIC_PY OUTPUT_PY\n";
    return 64;
  }
  std::ifstream arithmetic(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(arithmetic), {}};
  if (text.empty()) {
    std::cerr << "python_preprocessors: cannot read '" << argv[1] << "'\n";
    return 1;
  }
  std::ofstream output(argv[2]);
  output << module_of(text);
  output.close();
  if (!output) {
    std::cerr << "python_preprocessors: cannot write '" << argv[2] << "'\n";
    return 1;
  }
  return 0;
}
