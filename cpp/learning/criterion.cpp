#include "learning/criterion.hpp"

#include <string_view>
#include <utility>

#include "core/state.hpp"

namespace treethink {

namespace {

// A new criterion is a file that makes one, and one line here.
constexpr std::pair<std::string_view, std::unique_ptr<Criterion const> (*)(double)> criteria[] = {
    {"wilson", make_wilson},
    {"evidence", make_evidence},
    {"proven", make_proven},
};

}  // namespace

std::vector<std::string> criterion_names() {
    std::vector<std::string> names;
    for (auto const& [name, make] : criteria) names.emplace_back(name);
    return names;
}

std::unique_ptr<Criterion const> make_criterion(std::string const& wanted, double alpha) {
    if (!(alpha > 0 && alpha < 1))  // also refuses NaN
        throw SettingError("alpha must lie strictly between 0 and 1, got " + std::to_string(alpha));
    for (auto const& [name, make] : criteria)
        if (name == wanted) return make(alpha);
    throw UnknownName("criterion", wanted, criterion_names(), "the settings");
}

}  // namespace treethink
