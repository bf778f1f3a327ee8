// 1 where the processor has AVX2 and the compiler was not told.
int main() {
#if defined __x86_64__ && !defined __AVX2__
  return __builtin_cpu_supports("avx2") ? 1 : 0;
#endif
}
