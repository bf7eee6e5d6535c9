#include "tune/search/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::tune {

namespace {

constexpr double max_exact_integer = 9007199254740992.0;  // 2^53
constexpr std::string_view calls =
    "uniform(LOW, HIGH), quniform(LOW, HIGH, STEP), loguniform(LOW, HIGH), qloguniform(LOW, HIGH, STEP), "
    "randint(LOW, HIGH), qrandint(LOW, HIGH, STEP), lograndint(LOW, HIGH), qlograndint(LOW, HIGH, STEP), "
    "choice(A, B, ...), grid(A, B, ...), sample(X, Y, ...)";

/// Splits at the commas outside of quotes, and removes the quotes.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ',') {
      parts.emplace_back();
      continue;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    parts.back() += c;
  }
  if (quote != 0) throw UsageError("a quote is not closed");
  for (auto& part : parts) {
    part = trim(part);
    if (part.size() >= 2 && (part.front() == '"' || part.front() == '\'') && part.back() == part.front())
      part = part.substr(1, part.size() - 2);
  }
  return parts;
}

double number_in(const std::string& text, bool is_whole) {
  const auto number = parse_real(text);
  if (!number) throw UsageError(fmt::format("'{}' is not a number", text));
  if (is_whole && (std::floor(*number) != *number || std::abs(*number) > max_exact_integer))
    throw UsageError(fmt::format("'{}' is not an integer", text));
  return *number;
}

/// Returns `made` with its bounds moved to multiples of `step`. The upper bound is included unless `step` is 1.
Interval in_steps(Interval made) {
  made.low = std::ceil(made.low / made.step) * made.step;
  if (made.step > 1) made.high = std::floor(made.high / made.step) * made.step + 1;
  if (made.low >= made.high) throw UsageError(fmt::format("no multiple of step = {} is in the interval", made.step));
  return made;
}

Domain interval(const std::vector<std::string>& words, Interval made, bool has_step) {
  const std::size_t count = has_step ? 3 : 2;
  if (words.size() != count) throw UsageError(fmt::format("expected {} numbers, got {}", count, words.size()));
  made.low = number_in(words[0], made.is_whole);
  made.high = number_in(words[1], made.is_whole);
  if (has_step) made.step = number_in(words[2], made.is_whole);
  if (made.low >= made.high) throw UsageError(fmt::format("low = {} must be below high = {}", words[0], words[1]));
  if (made.is_log && made.low <= 0) throw UsageError(fmt::format("low = {} must be above 0", words[0]));
  if (has_step && !(made.step > 0 && made.step <= made.high - made.low))
    throw UsageError(fmt::format("step = {} must be above 0 and at most high - low", words[2]));
  return made.is_whole && has_step ? in_steps(made) : made;
}

Domain choice(std::vector<std::string> words, bool is_grid) {
  if (words.size() == 1 && words.front().empty()) throw UsageError("a value is missing");
  return Choice{std::move(words), is_grid};
}

Domain sample(std::vector<std::string> words) {
  for (const auto& word : words) static_cast<void>(number_in(word, false));
  return Choice{.values = std::move(words), .is_sample = true};
}

const auto& makers() {
  using Words = std::vector<std::string>;
  static const std::map<std::string_view, std::function<Domain(const Words&)>> made{
      {"uniform", [](const Words& words) { return interval(words, {}, false); }},
      {"quniform", [](const Words& words) { return interval(words, {}, true); }},
      {"loguniform", [](const Words& words) { return interval(words, {.is_log = true}, false); }},
      {"qloguniform", [](const Words& words) { return interval(words, {.is_log = true}, true); }},
      {"qrandint", [](const Words& words) { return interval(words, {.is_whole = true}, true); }},
      {"qlograndint", [](const Words& words) { return interval(words, {.is_log = true, .is_whole = true}, true); }},
      {"randint", [](const Words& words) { return interval(words, {.is_whole = true}, false); }},
      {"lograndint", [](const Words& words) { return interval(words, {.is_log = true, .is_whole = true}, false); }},
      {"choice", [](const Words& words) { return choice(words, false); }},
      {"grid", [](const Words& words) { return choice(words, true); }},
      {"sample", [](const Words& words) { return sample(words); }}};
  return made;
}

/// Returns the config key of a name; a name without a section belongs to [loop].
std::string config_key(const std::string& name) { return name.find('.') == std::string::npos ? "loop." + name : name; }

/// Returns the position of " if " outside of quotes and parentheses, or npos.
std::size_t position_of_if(std::string_view text) {
  constexpr std::string_view mark = " if ";
  int depth = 0;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
    } else if (depth == 0 && text.substr(at).starts_with(mark)) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// Parses a condition: `optimizer == sgd` or `layers in (2, 3)`.
SearchSpace::Condition condition_of(const std::string& text) {
  const auto equals = text.find(" == "), in = text.find(" in (");
  if (equals != std::string::npos) return {config_key(trim(text.substr(0, equals))), arguments_of(text.substr(equals + 4))};
  if (in == std::string::npos || !trim(text).ends_with(')'))
    throw UsageError(fmt::format("'if {}': a condition is 'if KEY == VALUE' or 'if KEY in (A, B)'", text));
  const auto values = trim(text.substr(in + 5));
  return {config_key(trim(text.substr(0, in))), arguments_of(values.substr(0, values.size() - 1))};
}

SearchSpace::Dimension dimension_of(const std::string& name, const OptionValue& value) {
  const auto at = position_of_if(value.text);
  SearchSpace::Dimension made{config_key(name), domain_of(value.text.substr(0, at)), value.origin};
  if (at != std::string::npos) made.condition = condition_of(trim(value.text.substr(at + 4)));
  return made;
}

const Choice* grid_of(const Domain& domain) {
  const auto* choice = std::get_if<Choice>(&domain);
  return choice != nullptr && choice->is_grid ? choice : nullptr;
}

/// Returns the distance between neighbouring integers of the interval.
double whole_step(const Interval& interval) { return std::max(1.0, interval.step); }

double in_interval(const Interval& interval, double unit) {
  const auto between = [unit](double low, double high) { return low + unit * (high - low); };
  const auto high = interval.is_whole ? interval.high - 1 + whole_step(interval) : interval.high;
  return interval.is_log ? std::exp(between(std::log(interval.low), std::log(high))) : between(interval.low, high);
}

}  // namespace

Domain domain_of(const std::string& text) {
  const auto trimmed = trim(text);
  const auto open = trimmed.find('(');
  if (open == std::string::npos || !trimmed.ends_with(')')) return Choice{{trimmed}, true};
  const auto name = trim(trimmed.substr(0, open));
  const auto maker = makers().find(name);
  if (maker == makers().end()) {
    std::vector<std::string> names;
    for (const auto& [known, function] : makers()) names.emplace_back(known);
    throw UsageError(
        fmt::format("unknown function '{}'{}; valid are {}, or a single value", name, did_you_mean(name, names), calls));
  }
  try {
    return maker->second(arguments_of(trimmed.substr(open + 1, trimmed.size() - open - 2)));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", trimmed, error.what()));
  }
}

std::string value_at(const Domain& domain, double unit) {
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    const auto count = choice->values.size();
    return choice->values[std::min(static_cast<std::size_t>(unit * static_cast<double>(count)), count - 1)];
  }
  const auto& interval = std::get<Interval>(domain);
  return value_near(interval, in_interval(interval, unit));
}

std::string value_near(const Interval& interval, double number) {
  if (interval.is_whole) {
    const auto below = std::floor(number / whole_step(interval)) * whole_step(interval);
    return fmt::format("{}", static_cast<std::int64_t>(std::clamp(below, interval.low, interval.high - 1)));
  }
  const auto value = interval.step > 0 ? std::round(number / interval.step) * interval.step : number;
  return fmt::format("{}", std::clamp(value, interval.low, interval.high));
}

bool is_drawn(const Domain& domain) {
  const auto* choice = std::get_if<Choice>(&domain);
  return choice == nullptr || (!choice->is_grid && choice->values.size() > 1);
}

SearchSpace::SearchSpace(const Options& space, std::string_view section) {
  for (const auto& name : space.keys()) try {
      dimensions_.push_back(dimension_of(name, *space.find(name)));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {} {}: {}", space.find(name)->origin, section, name, error.what()));
    }
  if (dimensions_.empty()) throw UsageError(fmt::format("{} is empty; example: lr = loguniform(1e-4, 1e-1)", section));
  check_conditions(section);
}

void SearchSpace::check_conditions(std::string_view section) const {
  for (const auto& dimension : dimensions_) {
    if (!dimension.condition) continue;
    const auto& [key, values] = *dimension.condition;
    const auto say = [&](const std::string& what) {
      throw UsageError(fmt::format("{}: {} {}: its condition: {}", dimension.origin, section, dimension.key, what));
    };
    const auto other = std::ranges::find(dimensions_, key, &Dimension::key);
    if (other == dimensions_.end() || key == dimension.key) say(fmt::format("{} is not another key of the space", key));
    const auto* choice = std::get_if<Choice>(&other->domain);
    if (choice == nullptr) say(fmt::format("{} is neither a choice nor a grid", key));
    for (const auto& value : values)
      if (std::ranges::find(choice->values, value) == choice->values.end())
        say(fmt::format("{} cannot be '{}'{}; its values are: {}", key, value, did_you_mean(value, choice->values),
                        join(choice->values)));
  }
}

void SearchSpace::leave_out_unmet(Params& params) const {
  const auto is_unmet = [&](const Dimension& dimension) {
    if (!dimension.condition || !params.contains(dimension.key)) return false;
    const auto other = params.find(dimension.condition->key);
    return other == params.end() ||
           std::ranges::find(dimension.condition->values, other->second) == dimension.condition->values.end();
  };
  // The loop is necessary because the removal of a key can make the condition of another key false.
  for (auto unmet = std::ranges::find_if(dimensions_, is_unmet); unmet != dimensions_.end();
       unmet = std::ranges::find_if(dimensions_, is_unmet))
    params.erase(unmet->key);
}

std::uint64_t SearchSpace::grid_size() const {
  std::uint64_t size = 1;
  for (const auto& dimension : dimensions_)
    if (const auto* grid = grid_of(dimension.domain)) size *= grid->values.size();
  return size;
}

Params SearchSpace::at(std::uint64_t combination, std::span<const double> units) const {
  Params params;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const auto& [key, domain, origin, condition] = dimensions_[i];
    if (const auto* grid = grid_of(domain)) {
      params[key] = grid->values[combination % grid->values.size()];
      combination /= grid->values.size();
    } else {
      params[key] = value_at(domain, units[i]);
    }
  }
  leave_out_unmet(params);
  return params;
}

}  // namespace trainrt::tune
