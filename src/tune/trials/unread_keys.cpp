#include "tune/trials/unread_keys.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/descriptor.hpp"
#include "core/files/guarded_tree.hpp"

namespace trainrt::tune {

std::vector<std::string> unread_keys_in(const std::string& log, const std::vector<SearchSpace::Dimension>& dimensions) try {
  std::string text(65536, '\0');
  const Descriptor file(open_guarded(log, O_RDONLY));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(file.get(), text.data(), text.size()), 0)));
  std::vector<std::string> warnings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    for (const auto& dimension : dimensions)
      if (const auto key = dimension.key.substr(dimension.key.find('.') + 1);
          dimension.key.starts_with("loop.") &&
          line.starts_with(fmt::format("trainrt: warning: [loop] {} was not read", key)))
        warnings.push_back(fmt::format("{}. A program that takes {} as an argument needs {{{}}} in train.program",
                                       line.substr(line.find('[')), key, key));
  return warnings;
} catch (const Error&) {
  return {};
}

}  // namespace trainrt::tune
