# What Juice never saved: how a network is trained, and how far the training has come.
@0x9d0e209c66192c44;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("coldpress::schema");

using Juice = import "juice.capnp";

struct SolverConfig {
  name @0 :Text;
  # 0: the samples of each call.
  minibatchSize @1 :UInt64;
  baseLr @2 :Float32 = 0.01;
  momentum @3 :Float32;
  # 0: gradients are not clipped.
  clipGradients @4 :Float32;
}

# Root of a training configuration, as text or as a message.
struct Training {
  network @0 :Juice.LayerConfig;
  loss @1 :Juice.LayerConfig;
  solver @2 :SolverConfig;
  data @3 :Text;
  epochs @4 :UInt64 = 1;
  batch @5 :UInt64 = 64;
  seed @6 :UInt64;
}

# Root of a checkpoint: all it takes to go on as if nothing had happened.
struct Checkpoint {
  # The network and its weights. It has no checksum of its own.
  model @0 :Juice.Layer;
  loss @1 :Juice.LayerConfig;
  solver @2 :SolverConfig;
  data @3 :Text;
  epochs @4 :UInt64;
  batch @5 :UInt64;
  seed @6 :UInt64;
  optimizerState @7 :List(Juice.Weight);
  randomState @8 :List(UInt64);
  iteration @9 :UInt64;
  epoch @10 :UInt64;
  # Samples of the epoch that are done.
  position @11 :UInt64;
  checksum @12 :UInt64;
  checksumKind @13 :Text;
}
