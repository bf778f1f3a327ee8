# What Juice never saved: how a network is trained, and how far its training has come.
@0x9d0e209c66192c44;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("coldpress::schema");

using Juice = import "juice.capnp";

struct SolverConfig {
  name @0 :Text;
  # 0: the number of samples in each call.
  minibatchSize @1 :UInt64;
  baseLr @2 :Float32 = 0.01;
  momentum @3 :Float32;
  # 0: gradients are not clipped.
  clipGradients @4 :Float32;
  # The learning rate of every optimizer is baseLr, and the momentum of the first two is momentum.
  solver :union {
    sgd @5 :Void;
    nesterov @6 :Void;
    adam @7 :Adam;
    adamw @8 :AdamW;
    rmsprop @9 :RMSprop;
    adagrad @10 :Adagrad;
    adadelta @11 :Adadelta;
  }
  # Absent: fixed.
  lrPolicy @12 :Policy;
  # 0: weights do not decay.
  weightDecay @13 :Float32;
  regularizationMethod @14 :Regularization;
  # The number of minibatches per update.
  accumulate @15 :UInt64 = 1;
  # Absent: fixed. For sgd and nesterov.
  momentumPolicy @16 :Policy;
  # 0: the numbers of the mean gradient are not clipped.
  clipValues @17 :Float32;
  # The number of samples that are computed at once. 0: all of a minibatch.
  microbatch @18 :UInt64;
  # Whether batch normalization uses the statistics of the whole minibatch, and not of these samples.
  syncBatchNormalization @19 :Bool;
  # Whether the gradients of the parts of a minibatch, and their sums, are rounded to bfloat16, of which half the bytes
  # travel between processes.
  bfloat16Gradients @20 :Bool;
  # Whether each process keeps a share of the optimizer's state. It changes no bit, and a checkpoint does not have it.
  shardOptimizer @21 :Bool;
}

struct Adam {
  beta1 @0 :Float32 = 0.9;
  beta2 @1 :Float32 = 0.999;
  epsilon @2 :Float32 = 1e-8;
}

struct AdamW {
  beta1 @0 :Float32 = 0.9;
  beta2 @1 :Float32 = 0.999;
  epsilon @2 :Float32 = 1e-8;
  weightDecay @3 :Float32 = 0.01;
}

struct RMSprop {
  rho @0 :Float32 = 0.99;
  epsilon @1 :Float32 = 1e-8;
}

struct Adagrad {
  epsilon @0 :Float32 = 1e-8;
}

struct Adadelta {
  rho @0 :Float32 = 0.95;
  epsilon @1 :Float32 = 1e-6;
}

# The learning rate or the momentum as a function of the iteration, with the names of Caffe, Mocha and PyTorch.
struct Policy {
  union {
    fixed @0 :Void;
    step :group {
      gamma @1 :Float32 = 0.1;
      stepsize @2 :UInt64 = 10;
      # 0: no bound.
      max @12 :Float32;
    }
    multistep :group {
      gamma @3 :Float32 = 0.1;
      steps @4 :List(UInt64);
    }
    exp :group {
      gamma @5 :Float32 = 0.1;
    }
    inv :group {
      gamma @6 :Float32 = 0.1;
      power @7 :Float32 = 1;
    }
    poly :group {
      power @8 :Float32 = 1;
      maxIter @9 :UInt64;
    }
    sigmoid :group {
      gamma @10 :Float32 = 0.1;
      stepsize @11 :UInt64 = 10;
    }
    linear :group {
      gamma @13 :Float32 = 0.1;
      stepsize @14 :UInt64 = 10;
      max @15 :Float32;
    }
    warmup :group {
      maxIter @16 :UInt64;
      start @17 :Float32 = 0.1;
    }
    cosine :group {
      maxIter @18 :UInt64;
      end @19 :Float32;
    }
    cosineRestarts :group {
      period @20 :UInt64;
      multiplier @21 :UInt64 = 1;
      end @22 :Float32;
    }
    oneCycle :group {
      maxIter @23 :UInt64;
      rise @24 :Float32 = 0.3;
      start @25 :Float32 = 0.04;
      end @26 :Float32 = 4e-6;
    }
    staged @27 :List(Stage);
  }
}

# A policy in a list, which counts iterations from 0.
struct Stage {
  # The last stage never ends, whatever its iterations.
  iterations @0 :UInt64;
  policy @1 :Policy;
  # Of the number that the policy starts from.
  factor @2 :Float32 = 1;
}

enum Regularization {
  l2 @0;
  l1 @1;
}

# The root of a training configuration, as text or as a message.
struct Training {
  network @0 :Juice.LayerConfig;
  loss @1 :Juice.LayerConfig;
  solver @2 :SolverConfig;
  data @3 :Text;
  epochs @4 :UInt64 = 1;
  batch @5 :UInt64 = 64;
  seed @6 :UInt64;
  # What is done to samples before the network, in order.
  transforms @7 :List(Juice.Transform);
  # The fraction of the data that is held out of training to validate on; 0: none.
  validate @8 :Float64;
  # Absent: the training does not end early, and its rate is not reduced.
  earlyStopping @9 :EarlyStopping;
  reduceOnPlateau @10 :ReduceOnPlateau;
  average @11 :Average;
}

# Ends the training when the metric has not improved `patience` times in a row.
struct EarlyStopping {
  metric @0 :Text = "validation/loss";
  better @1 :Better;
  patience @2 :UInt64 = 10;
  minDelta @3 :Float64;
  # Whether the weights in the end are those of the best value.
  restoreBest @4 :Bool = true;
}

# Multiplies the learning rate by `factor` when the metric has not improved `patience` times in a row.
struct ReduceOnPlateau {
  metric @0 :Text = "validation/loss";
  better @1 :Better;
  factor @2 :Float32 = 0.1;
  patience @3 :UInt64 = 10;
  minDelta @4 :Float64 = 0.0001;
  # How many values after a reduction are not counted.
  cooldown @5 :UInt64;
  minRate @6 :Float32;
  # Whether the weights also go back to those of the best value, as in Mocha's DecayOnValidation.
  reload @7 :Bool;
}

# Whether small or large values of a metric are good.
enum Better {
  lower @0;
  higher @1;
}

# The average of the weights that is validated and saved.
struct Average {
  union {
    none @0 :Void;
    # The decay of an exponential moving average over the updates.
    ema @1 :Float32;
    # The number of epochs after which the ends of epochs are averaged.
    swa @2 :UInt64;
  }
}

# The values of a statistic and the iterations at which they were taken.
struct Series {
  name @0 :Text;
  iterations @1 :List(UInt64);
  values @2 :List(Float64);
}

# What something that takes part in a training has to remember.
struct State {
  name @0 :Text;
  numbers @1 :List(Float64);
  tensors @2 :List(Juice.Weight);
}

# The root of a checkpoint: everything that is needed to continue as if nothing had happened.
struct Checkpoint {
  # The network and its weights. It has no checksum of its own.
  model @0 :Juice.Layer;
  loss @1 :Juice.LayerConfig;
  solver @2 :SolverConfig;
  data @3 :Text;
  epochs @4 :UInt64;
  batch @5 :UInt64;
  seed @6 :UInt64;
  # Named NAME/state0, NAME/state1, ..., and NAME/gradient while samples wait for their update.
  optimizerState @7 :List(Juice.Weight);
  # The seed and, if it differs from the iteration, the position in the streams.
  randomState @8 :List(UInt64);
  # The number of minibatches done.
  iteration @9 :UInt64;
  epoch @10 :UInt64;
  # The number of samples done in the current epoch.
  position @11 :UInt64;
  checksum @12 :UInt64;
  checksumKind @13 :Text;
  # The number of samples that wait for their update.
  waiting @14 :UInt64;
  statistics @15 :List(Series);
  states @16 :List(State);
  # As in Training.
  validate @17 :Float64;
  earlyStopping @18 :EarlyStopping;
  reduceOnPlateau @19 :ReduceOnPlateau;
  average @20 :Average;
  # The name of the optimizer that has these states. It is not solver's if a network type has an optimizer of its own.
  optimizer @21 :Text;
}
