// Loaded before a program by LD_PRELOAD: for each number n that comes through descriptor 3, runs the program's main in
// a child of which the n-th allocation fails, or, for -n, all from the n-th on. Through descriptor 4 goes the child's
// status as of waitpid, and whether there was such an allocation.
#include <cerrno>
#include <cstddef>
#include <new>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlfcn.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

using Main = int (*)(int, char**, char**);

bool counting = false, all_later = false;
int left = 0;
int* failed = nullptr;  // shared with the child
Main program = nullptr;

bool fails() {
  if (!counting || (--left > 0) || (left < 0 && !all_later)) return false;
  *failed = 1;
  errno = ENOMEM;
  return true;
}

int serve(int argc, char** argv, char** environment) {
  failed = static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int number = 0; ::read(3, &number, sizeof number) == sizeof number;) {
    *failed = 0;
    pid_t const child = ::fork();
    if (child == 0) {
      all_later = number < 0, left = number < 0 ? -number : number, counting = true;
      int const code = program(argc, argv, environment);
      counting = false;
      return code;
    }
    int answer[2] = {0, 0};
    ::waitpid(child, &answer[0], 0);
    answer[1] = *failed;
    if (::write(4, answer, sizeof answer) != sizeof answer) break;
  }
  ::_exit(0);
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, std::size_t size) { return fails() ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** made, std::size_t alignment, std::size_t size) {
  void* const memory = aligned_alloc(alignment, size);
  if (!memory) return ENOMEM;
  *made = memory;
  return 0;
}

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*loader)(), void* stack) {
  program = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"))(serve, argc, argv, init, fini, loader, stack);
}
}
