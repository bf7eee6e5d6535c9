#include "trainer/listed_datasets.hpp"

#include "comm/agreement.hpp"
#include "data/open_dataset.hpp"
#include "trainer/advice.hpp"

namespace trainrt::trainer {

Listings list_datasets(const config::RunSpec& spec, Communicator& communicator) {
  Listings listings;
  const auto list = [&] {
    for (const auto& [name, options] : spec.data) listings.emplace(name, data::list_dataset(name, options));
  };
  comm::agreed_on_first(communicator, list, with_advice);
  const bool is_first = communicator.rank() == 0;
  for (const auto& [name, options] : spec.data) {
    const auto bytes = communicator.broadcast_text(is_first ? data::bytes_of(listings.at(name)) : "", 0);
    if (!is_first) listings.emplace(name, data::listing_of(bytes));
  }
  return listings;
}

}  // namespace trainrt::trainer
