#include "data/bytes/read_method.hpp"

namespace trainrt::data::plugins {

extern const ReadMethod pread{.name = "pread",
                              .help = "reads each range of bytes by a separate system call; for any file system",
                              .require = [] {},
                              .open = pread_reader};

}  // namespace trainrt::data::plugins
