#include "torch_test.hpp"

#include <functional>
#include <memory>

#include <trainrt/interop/torch.hpp>

using namespace trainrt;
namespace optim = torch::optim;

namespace {

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(test::Net&)>;

struct Kind {
  const char* name;
  MakeOptimizer make;
};

const Kind kinds[] = {
    {"sgd", [](test::Net& net) { return std::make_unique<optim::SGD>(net.parameters(), optim::SGDOptions(0.1)); }},
    {"sgd with momentum",
     [](test::Net& net) {
       return std::make_unique<optim::SGD>(net.parameters(), optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-3));
     }},
    {"sgd with nesterov",
     [](test::Net& net) {
       return std::make_unique<optim::SGD>(net.parameters(), optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
     }},
    {"adam", [](test::Net& net) { return std::make_unique<optim::Adam>(net.parameters(), optim::AdamOptions(0.01)); }},
    {"adamw", [](test::Net& net) { return std::make_unique<optim::AdamW>(net.parameters(), optim::AdamWOptions(0.01)); }},
    {"adamw with amsgrad",
     [](test::Net& net) {
       return std::make_unique<optim::AdamW>(net.parameters(), optim::AdamWOptions(0.01).amsgrad(true));
     }},
};

/// A network and its optimizer, which may be attached to a State.
struct Training {
  test::Net net;
  std::unique_ptr<optim::Optimizer> optimizer;
  State state;

  Training(const Kind& kind, std::uint64_t seed) {
    torch::manual_seed(seed);
    for (auto& parameter : net.parameters()) torch::nn::init::uniform_(parameter, -0.5, 0.5);
    optimizer = kind.make(net);
  }
  void attach() {
    attach_model(state, net);
    attach_optimizer(state, *optimizer, net);
  }
  void train(std::uint64_t first, std::uint64_t last) {
    for (auto number = first; number < last; ++number) test::train_step(net, *optimizer, number);
  }
};

}  // namespace

TEST_CASE("optimizer state made before the first step gives the same bits as lazily made state") {
  for (const auto& kind : kinds) {
    INFO(kind.name);
    Training lazy(kind, 1), attached(kind, 1);
    attached.attach();
    lazy.train(0, 5);
    attached.train(0, 5);
    lazy.attach();  // attaches the state that the steps made
    CHECK(test::saved(lazy.state) == test::saved(attached.state));
  }
}

TEST_CASE("training that is saved and restored into another model ends with the same bits") {
  for (const auto& kind : kinds) {
    INFO(kind.name);
    Training whole(kind, 1), continued(kind, 2);
    whole.attach();
    whole.train(0, 3);
    continued.attach();
    test::load(continued.state, test::saved(whole.state));
    whole.train(3, 6);
    continued.train(3, 6);
    CHECK(test::saved(whole.state) == test::saved(continued.state));
  }
}

TEST_CASE("views of model and optimizer stay valid during training") {
  for (const auto& kind : kinds) {
    INFO(kind.name);
    Training training(kind, 1);
    training.attach();
    training.train(0, 2);
    State later;
    attach_model(later, training.net);
    attach_optimizer(later, *training.optimizer, training.net);
    REQUIRE(later.tensors().size() == training.state.tensors().size());
    for (std::size_t i = 0; i < later.tensors().size(); ++i)
      CHECK(later.tensors()[i].local.data == training.state.tensors()[i].local.data);
  }
}

TEST_CASE("optimizer entries are named after the parameter") {
  Training sgd(kinds[0], 1), momentum(kinds[1], 1), adamw(kinds[4], 1);
  attach_optimizer(sgd.state, *sgd.optimizer, sgd.net);
  CHECK(sgd.state.empty());
  attach_optimizer(momentum.state, *momentum.optimizer, momentum.net);
  CHECK_THAT(test::names_of(momentum.state), Catch::StartsWith("optimizer/fc1/weight/momentum_buffer "));
  attach_optimizer(adamw.state, *adamw.optimizer, adamw.net);
  CHECK_THAT(test::names_of(adamw.state),
             Catch::StartsWith("optimizer/fc1/weight/exp_avg optimizer/fc1/weight/exp_avg_sq "));
  CHECK_THAT(test::names_of(adamw.state), Catch::Contains(" optimizer/fc2/bias/step "));
}

TEST_CASE("frozen parameters have no optimizer state") {
  test::Net net;
  for (auto& parameter : net.fc1->parameters()) parameter.set_requires_grad(false);
  const auto optimizer = kinds[1].make(net);
  State state;
  attach_optimizer(state, *optimizer, net);
  CHECK_THAT(test::names_of(state), !Catch::Contains("fc1"));
  CHECK(optimizer->state().size() == state.tensors().size());
}

TEST_CASE("an optimizer that cannot be continued exactly is an error that names the reason") {
  test::Net net, other;
  State state;
  optim::RMSprop unknown(net.parameters(), optim::RMSpropOptions(0.1));
  CHECK_THROWS_WITH(attach_optimizer(state, unknown, net), Catch::Contains("supported are SGD, Adam and AdamW"));
  optim::SGD damped(net.parameters(), optim::SGDOptions(0.1).momentum(0.9).dampening(0.5));
  CHECK_THROWS_WITH(attach_optimizer(state, damped, net), Catch::Contains("dampening"));
  const auto foreign = kinds[1].make(other);
  CHECK_THROWS_WITH(attach_optimizer(state, *foreign, net), Catch::Contains("that the model does not have"));
}
