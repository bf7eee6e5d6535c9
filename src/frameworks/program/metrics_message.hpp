#pragma once
#include <trainrt/metrics.hpp>

#include "frameworks/program/channel.hpp"

namespace trainrt::program {

/// What the message 'report' of a program has in "metrics" (conversation.hpp). UsageError, with the metric's name, for what
/// is none. Pure.
Metrics metrics_from(const Json& body);

}  // namespace trainrt::program
