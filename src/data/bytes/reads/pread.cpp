#include "data/bytes/file_reader.hpp"

namespace trainrt::data::plugins {

extern const ReadWay pread{
    .name = "pread", .help = "each piece by a call of its own; any file system", .require = [] {}, .open = plain_reader};

}  // namespace trainrt::data::plugins
