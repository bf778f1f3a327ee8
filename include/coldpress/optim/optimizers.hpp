// THE LIST of built-in optimizers.
#pragma once

// An optimizer is an aggregate with a learning_rate and these members:
//   update(weight, gradient, state)   one step of a number, or of a vector of numbers; the states start at 0
//   heavy                             whether update is long code: then epilogues loop instead of unrolling, and the
//                                     precompiled kernels apply it to gradients in memory only
//   at(t)                             only if constants depend on the step t, counted from 1: the optimizer for step t
//   plain()                           only if it can be true: whether update is w <- w - learning_rate g, whatever the
//                                     states were, as long as they are finite. A gradient of 0 then changes no weight.
//                                     A caller may skip it, and must then leave its states alone. A type that is
//                                     derived from another has its own update, and so its own plain() or none.

#include <coldpress/core/type_list.hpp>
#include <coldpress/optim/adadelta.hpp>
#include <coldpress/optim/adagrad.hpp>
#include <coldpress/optim/adam.hpp>
#include <coldpress/optim/adamw.hpp>
#include <coldpress/optim/nesterov.hpp>
#include <coldpress/optim/rmsprop.hpp>
#include <coldpress/optim/sgd.hpp>

namespace coldpress {

using BuiltinOptimizers = TypeList<Sgd, Nesterov, Adam, AdamW, RMSprop, Adagrad, Adadelta>;

}  // namespace coldpress
