#pragma once
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/framework_meeting.hpp>

namespace trainrt::program {

/// Returns the settings with which a train function in this process joins the workers of a framework: the environment
/// variables that a program would get, the number of CPUs, and the running services. `interface`: network interface to
/// use; "" selects an interface that connects all ranks. Collective. Throws UsageError for an unknown framework.
FrameworkMeeting join_framework(Context& ctx, const std::string& framework, const std::string& interface);

}  // namespace trainrt::program
