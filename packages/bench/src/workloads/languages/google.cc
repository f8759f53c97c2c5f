// google/robotstxt as a reader of languages.ts. Its only entry point parses the file for each URL.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "robots.h"

struct Site {
  std::string robots;
  std::vector<std::string> urls;
};

int main(int, char** args) {
  const std::string crawler = args[2];
  std::ifstream file(args[1], std::ios::binary);
  std::vector<Site> sites;
  std::string line;
  while (std::getline(file, line)) {
    size_t bytes, count;
    std::sscanf(line.c_str(), "%zu %zu", &bytes, &count);
    Site site{std::string(bytes, '\0'), std::vector<std::string>(count)};
    file.read(site.robots.data(), bytes);
    file.get();
    for (auto& url : site.urls) std::getline(file, url);
    sites.push_back(std::move(site));
  }
  while (std::getline(std::cin, line)) {
    const size_t count = std::stoul(line);
    size_t allowed = 0;
    const std::clock_t start = std::clock();
    for (const auto& site : sites) {
      googlebot::RobotsMatcher matcher;
      for (size_t i = 0; i < count; i++)
        allowed += matcher.OneAgentAllowedByRobots(site.robots, crawler, site.urls[i]);
    }
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    std::cout << seconds * 1e9 / sites.size() << ' ' << allowed << std::endl;
  }
}
