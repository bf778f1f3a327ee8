// The properties of the GPU for which cuDNN makes its choices where there is no GPU.
#pragma once

namespace coldpress::cuda {

inline constexpr char const* h200 =
    R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
    R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,)"
    R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
    R"("maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,)"
    R"("memClockRateKHz":3201000,"l2CacheSize":62914560,"deviceName":"NVIDIA H200","cudaDeviceId":0,"deviceVer":900,)"
    R"("driverVer":13000,"driverVersion":13000,"totalGlobalMem":150754820096})";

}  // namespace coldpress::cuda
