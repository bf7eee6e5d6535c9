#pragma once

namespace trainrt {

/// Returns whether this process ignores signal `number`. A process inherits this from its parent until it changes it:
/// `nohup` ignores SIGHUP, and a shell without job control ignores SIGINT for background commands. Async-signal-safe.
bool is_signal_ignored(int number);

/// Installs an empty handler for signal `number`, unless the signal is ignored already. Programs that this process starts
/// then have the default action; they would inherit SIG_IGN.
void ignore_signal_here(int number);

}  // namespace trainrt
