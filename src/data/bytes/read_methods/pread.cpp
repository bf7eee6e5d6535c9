#include "data/bytes/read_method.hpp"

namespace trainrt::data::plugins {

extern const ReadMethod pread{.name = "pread",
                              .help = "reads each part by a separate call; for any file system",
                              .require = [] {},
                              .open = pread_reader};

}  // namespace trainrt::data::plugins
