#pragma once
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/framework_meeting.hpp>

namespace trainrt::program {

/// What a program of that framework would get, for a train function of this process. `interface`: the network interface
/// that the ranks are to reach each other by, "" being the one they do. Collective. UsageError for an unknown framework.
FrameworkMeeting meeting_of(Context& ctx, const std::string& framework, const std::string& interface);

}  // namespace trainrt::program
