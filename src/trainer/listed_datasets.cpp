#include "trainer/listed_datasets.hpp"

#include "comm/agreement.hpp"
#include "data/open_dataset.hpp"
#include "trainer/advice.hpp"

namespace trainrt::trainer {

Listings list_datasets(const config::RunSpec& spec, Communicator& communicator) {
  std::map<std::string, std::string> bytes;
  const auto list = [&] {
    for (const auto& [name, options] : spec.data) bytes[name] = data::bytes_of(data::list_dataset(name, options));
  };
  comm::agreed_on_first(communicator, list, with_advice);
  Listings listings;
  for (const auto& [name, options] : spec.data)
    listings.emplace(name, data::listing_of(communicator.broadcast_text(std::move(bytes[name]), 0)));
  return listings;
}

}  // namespace trainrt::trainer
