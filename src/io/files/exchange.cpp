#include "io/files/exchange.hpp"

#include <cerrno>
#include <cstdio>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

namespace {

void rename_one(const std::string& from, const std::string& to) {
  if (rename_guarded(from, to) != 0) fail("rename '" + from + "' to", to, errno);
}

}  // namespace

void exchange(const std::string& a, const std::string& b) {
  const auto exchanged = at_entries(a, b, [](int a_directory, const char* a_name, int b_directory, const char* b_name) {
    return ::renameat2(a_directory, a_name, b_directory, b_name, RENAME_EXCHANGE);
  });
  if (exchanged == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail("exchange '" + a + "' and", b, errno);
  const auto aside = a + ".exchanged";
  rename_one(b, aside);
  rename_one(a, b);
  rename_one(aside, a);
}

}  // namespace trainrt::io
