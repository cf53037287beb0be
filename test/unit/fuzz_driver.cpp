// A driver for the fuzz target where there is no libFuzzer. It calls the target with every file of
// a corpus, and then with random changes of them.
//
//   layout_fuzz CORPUS            SNOWFLAKE_FUZZ_RUNS sets how many inputs to make
#include "random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace {

using snowflake::testing::Random;

// Calls the target with memory of exactly that size, so that the sanitizer sees a read beyond it.
void run(const std::string &input) {
    const std::vector<std::uint8_t> bytes{input.begin(), input.end()};
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::string> read_corpus(const std::filesystem::path &directory) {
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator{directory})
        paths.push_back(entry.path());
    std::ranges::sort(paths); // so that a seed means the same everywhere
    std::vector<std::string> inputs;
    for (const auto &path : paths) {
        std::ifstream file{path, std::ios::binary};
        inputs.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
    }
    return inputs;
}

std::size_t position(const std::string &input, Random &random) {
    return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(input.size())));
}

const std::string &any_of(const std::vector<std::string> &inputs, Random &random) {
    return inputs[static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(inputs.size()) - 1))];
}

// Makes one small change: a character more, less or other, or the end of another input.
void mutate(std::string &input, const std::vector<std::string> &corpus, Random &random) {
    const std::size_t at = position(input, random);
    const char byte = static_cast<char>(random.between(0, 255));
    switch (random.between(0, 4)) {
    case 0:
        input.insert(at, 1, byte);
        break;
    case 1:
        input.erase(at, 1);
        break;
    case 2:
        if (at < input.size())
            input[at] = byte;
        break;
    case 3:
        if (at < input.size())
            input[at] = static_cast<char>('0' + random.between(0, 9));
        break;
    default: {
        const std::string &other = any_of(corpus, random);
        input.replace(at, std::string::npos, other, position(other, random));
        break;
    }
    }
}

void fuzz(const std::filesystem::path &directory) {
    const std::vector<std::string> corpus = read_corpus(directory);
    if (corpus.empty())
        throw std::runtime_error("the corpus is empty");
    for (const std::string &input : corpus)
        run(input);

    Random random = snowflake::testing::seeded_random();
    const std::int64_t runs =
        snowflake::testing::environment_number("SNOWFLAKE_FUZZ_RUNS", 200'000);
    for (std::int64_t i = 0; i < runs; ++i) {
        std::string input = any_of(corpus, random);
        do {
            mutate(input, corpus, random);
        } while (!random.one_in(3));
        run(input);
    }
    std::cout << corpus.size() << " inputs of the corpus and " << runs << " others\n";
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << *argv << " CORPUS\n";
        return EXIT_FAILURE;
    }
    try {
        fuzz(*std::next(argv));
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return EXIT_FAILURE;
    }
}
