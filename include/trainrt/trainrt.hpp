#pragma once
// Everything that a train function needs, and a program with its own main.
#include <trainrt/checkpoint_store.hpp>
#include <trainrt/communicator.hpp>
#include <trainrt/communicators.hpp>
#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/error.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/options.hpp>
#include <trainrt/random.hpp>
#include <trainrt/state.hpp>
#include <trainrt/tensor.hpp>
#include <trainrt/train_function.hpp>
