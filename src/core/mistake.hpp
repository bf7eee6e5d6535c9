#pragma once
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

namespace trainrt {

/// The kinds of mistakes in a train function. AttemptRecord stores them as strings. To find out whether two attempts failed
/// in the same way, trainrt compares these strings, including strings that its version does not know. Kinds may therefore
/// be added, but the string of a kind must not change.
namespace mistake_kind {
inline constexpr std::string_view exception = "exception";            ///< an exception such as TypeError or KeyError
inline constexpr std::string_view calls_differ = "calls_differ";      ///< the ranks make different collective calls
inline constexpr std::string_view metrics_differ = "metrics_differ";  ///< the ranks report different metrics
inline constexpr std::string_view state_differs = "state_differs";    ///< the State differs between the ranks
}  // namespace mistake_kind

/// A mistake in the train function that ended an attempt. Another attempt from the same checkpoint would fail in the same
/// way. Failures that may be temporary are not mistakes: failures of storage, networks and GPUs, lack of memory, and killed
/// processes.
struct Mistake {
  std::string kind;   ///< one of mistake_kind; "" if the failure is not known to be a mistake
  std::string error;  ///< the error without process numbers and attempts: "TypeError: ..."; one line

  bool operator==(const Mistake&) const = default;
};

/// An error of the train function that is known to be a mistake.
class MistakeError : public Error {
 public:
  MistakeError(const std::string& message, std::string_view kind)
      : Error(message), mistake{std::string(kind), message.substr(0, message.find('\n'))} {}

  Mistake mistake;
};

}  // namespace trainrt
