// THE LIST of built-in optimizers. One is an aggregate with a learning_rate and
//   update(weight, gradient, state)   the step of a number or a vector of them; states are numbers that start as 0
//   heavy                             whether that is long code: epilogues loop instead of unrolling, and the
//                                     ready-made kernels have it over memory alone
//   at(t)                             where constants depend on the step, from 1: the same optimizer with those of step
//   t
#pragma once

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
