#include "data/bytes/read_method.hpp"

namespace trainrt::data::plugins {

extern const ReadMethod pread{
    .name = "pread", .help = "each piece by a call of its own; any file system", .require = [] {}, .open = plain_reader};

}  // namespace trainrt::data::plugins
