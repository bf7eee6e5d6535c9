#pragma once

namespace trainrt {

/// True if this process ignores signal `number`. Until it changes that itself, it has the setting of its parent: `nohup`
/// ignores SIGHUP, and a shell without job control ignores SIGINT for its background commands. Async-signal-safe.
bool is_signal_ignored(int number);

/// Makes signal `number` do nothing in this process, by an empty handler. Programs that this process starts get the default
/// action, while they would inherit SIG_IGN. Does nothing if the signal is ignored already.
void ignore_signal_here(int number);

}  // namespace trainrt
