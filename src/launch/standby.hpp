#pragma once
#include <functional>

#include <sys/types.h>

#include "core/process/child_environment.hpp"

namespace trainrt::launch {

/// Environment variable of a standby process: the number of a descriptor, the read end of the pipe on which it waits.
inline constexpr const char* standby_variable = "TRAINRT_STANDBY";
/// The name of a standby process while it waits, in /proc/PID/comm and in the output of ps(1).
inline constexpr const char* standby_name = "trainrt-standby";

/// If this process was started as a standby (RankGroup::Start::as_standby), calls `prepare`, blocks until wake_standby() is
/// called, and sets the environment variables that wake_standby() has sent. If it was not, returns true at once.
///
/// Returns false if this process must exit, because the process that started it has exited or does not need it.
///
/// Must be called before this process starts threads, since no other thread may read the environment while it changes.
/// `prepare` may load libraries that start threads, if these threads do not read the environment.
bool wait_if_standby(const std::function<void()>& prepare);

/// Wakes the standby process `process`, which waits on the pipe with the write end `pipe`, and sends it `variables`, which
/// are added to its environment. Does nothing if that process has exited.
void wake_standby(pid_t process, int pipe, const Variables& variables);

}  // namespace trainrt::launch
