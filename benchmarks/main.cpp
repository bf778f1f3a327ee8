#include "command.hpp"

int main(int argc, char** argv) { return bench::command(argc, argv); }
