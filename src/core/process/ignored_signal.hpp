#pragma once

namespace trainrt {

/// Returns whether this process ignores signal `number`. A process inherits ignored signals from its parent: `nohup`
/// ignores SIGHUP, and a shell without job control ignores SIGINT for background commands. Async-signal-safe.
bool is_signal_ignored(int number);

/// Makes this process ignore signal `number` by an empty handler, unless the signal is ignored (SIG_IGN) already. Unlike
/// SIG_IGN, a handler is not inherited: programs that this process starts have the default action.
void ignore_signal_here(int number);

}  // namespace trainrt
