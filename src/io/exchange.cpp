#include "io/exchange.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "io/file.hpp"
#include "io/storage_error.hpp"
#include "io/uninterrupted.hpp"

namespace trainrt::io {

namespace {

void rename_one(const std::string& from, const std::string& to) {
  if (uninterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) != 0) fail("rename '" + from + "' to", to, errno);
}

}  // namespace

void exchange(const std::string& a, const std::string& b) {
  const auto exchanged =
      uninterrupted([&] { return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE); });
  if (exchanged == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail("exchange '" + a + "' and", b, errno);
  const auto aside = a + ".exchanged";
  rename_one(b, aside);
  rename_one(a, b);
  rename_one(aside, a);
}

}  // namespace trainrt::io
