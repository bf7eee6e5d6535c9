#pragma once
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text.hpp"

namespace trainrt::comm {

/// A backend was asked for that does not exist.
struct UnknownBackend : UsageError {
  UnknownBackend(std::string asked_for, const std::vector<std::string>& known)
      : UsageError(fmt::format("there is no such backend: '{}'{}; there are: {}", asked_for, did_you_mean(asked_for, known),
                               join(known))),
        name(std::move(asked_for)) {}
  std::string name;
};

/// A backend was asked for by name and cannot serve here.
struct BackendRefused : UsageError {
  /// `instead`: what auto takes here; "" if that is not known.
  BackendRefused(std::string_view asked_for, std::string reason, std::string_view alternative = {})
      : UsageError(fmt::format("the backend '{}' cannot serve here: {}{}", asked_for, reason,
                               alternative.empty() ? "" : fmt::format("; auto takes {}", alternative))),
        name(asked_for),
        why(std::move(reason)),
        instead(alternative) {}
  std::string name;
  std::string why;
  std::string instead;
};

/// The ranks are to open different backends.
struct BackendsDiffer : UsageError {
  BackendsDiffer(std::string_view of_rank_0, std::size_t rank, std::string_view of_rank)
      : UsageError(fmt::format("rank 0 is to open the backend '{}', rank {} '{}'", of_rank_0, rank, of_rank)) {}
};

}  // namespace trainrt::comm
