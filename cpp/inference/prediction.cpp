#include "inference/prediction.hpp"

#include <algorithm>

namespace treethink {

void Prediction::begin(SlotId slot, Row row, std::uint64_t total) {
    entries_.push_back(
        {slot, row, static_cast<std::uint32_t>(values_.size()), static_cast<std::uint32_t>(counts_.size()), total});
}

void Prediction::add(VectorView value, std::uint64_t count) {
    values_.insert(values_.end(), value.begin(), value.end());
    counts_.push_back(count);
}

void Prediction::add_merged(VectorView value, std::uint64_t count) {
    Entry const& entry = entries_.back();
    for (std::size_t i = 0; entry.first_count + i < counts_.size(); ++i)
        if (same(value_of(entry, i), value)) {
            counts_[entry.first_count + i] += count;
            return;
        }
    add(value, count);
}

std::optional<double> Prediction::expected(FeedbackKind kind) const {
    auto const& outcomes = feedback(kind);
    if (outcomes.empty()) return std::nullopt;
    std::uint64_t total = 0;
    for (auto const& [outcome, count] : outcomes) total += count;
    double mean = 0;  // of shares, because the sum of all rewards may not be finite
    for (auto const& [outcome, count] : outcomes) {
        double const value = kind == FeedbackKind::reward ? reward_of_outcome(outcome) : static_cast<double>(outcome);
        mean += value * (static_cast<double>(count) / static_cast<double>(total));
    }
    return mean;
}

std::vector<Prediction::Outcome> Prediction::outcomes_of(std::size_t e) const {
    Entry const& entry = entries_[e];
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; entry.first_count + i < count_end(e); ++i)
        outcomes.push_back({value_of(entry, i), counts_[entry.first_count + i]});
    return outcomes;
}

std::optional<std::size_t> Prediction::find(SlotId slot, Row row) const {
    auto const before = [](Entry const& entry, std::pair<SlotId, Row> const& wanted) {
        return std::pair(entry.slot, entry.row) < wanted;
    };
    auto const found = std::lower_bound(entries_.begin(), entries_.end(), std::pair(slot, row), before);
    if (found == entries_.end() || found->slot != slot || found->row != row) return std::nullopt;
    return static_cast<std::size_t>(found - entries_.begin());
}

std::vector<Prediction::Outcome> Prediction::outcomes(SlotId slot, Row row) const {
    auto const entry = find(slot, row);
    return entry ? outcomes_of(*entry) : std::vector<Outcome>{};
}

std::uint64_t Prediction::support(SlotId slot, Row row) const {
    auto const entry = find(slot, row);
    return entry ? entries_[*entry].total : support_[slot];
}

std::optional<Novelty> Prediction::novelty(SlotId slot, Row row) const {
    if (source_) return source_->novelty(state_, action_, slot, row);
    return support(slot, row) > 0 ? std::nullopt : std::optional(Novelty{Novelty::Kind::rule, {}, {}, {}});
}

std::size_t Prediction::choices() const {
    std::size_t n = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) n += count_end(e) - entries_[e].first_count > 1;
    return n;
}

// Builds the state in which each attribute takes the value that `choose(entry, outcomes)` picks.
template <class Choose>
State Prediction::choose(Choose&& choose) const {
    std::vector<State::ColumnPtr> columns = state_.copy_of_columns();
    for (std::size_t e = 0; e < entries_.size();) {
        SlotId const slot = entries_[e].slot;
        std::vector<Int> values;  // a copy of the column, made at the first change
        std::size_t const length = state_.schema()->length(slot);
        for (; e < entries_.size() && entries_[e].slot == slot; ++e) {
            Entry const& entry = entries_[e];
            VectorView const value = value_of(entry, choose(e, count_end(e) - entry.first_count));
            if (same(value, state_.value(slot, entry.row))) continue;
            if (values.empty()) values = state_.column(slot)->values();
            std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(entry.row * length));
        }
        if (!values.empty()) columns[slot] = std::make_shared<Column const>(length, std::move(values));
    }
    return derived(State(state_.schema(), state_.roster(), std::move(columns), &state_));
}

State Prediction::mode() const {
    return choose([this](std::size_t e, std::size_t outcomes) {
        Entry const& entry = entries_[e];
        std::size_t best = 0;
        for (std::size_t i = 1; i < outcomes; ++i) {
            std::uint64_t const mine = counts_[entry.first_count + i], most = counts_[entry.first_count + best];
            if (mine > most || (mine == most && less(value_of(entry, i), value_of(entry, best)))) best = i;
        }
        return best;
    });
}

State Prediction::sample(std::span<double const> random) const {
    std::size_t used = 0;
    return choose([&](std::size_t e, std::size_t outcomes) {
        if (outcomes == 1) return std::size_t{0};
        Entry const& entry = entries_[e];
        double const threshold = random[used++] * static_cast<double>(entry.total);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i + 1 < outcomes; ++i) {
            sum += counts_[entry.first_count + i];
            if (static_cast<double>(sum) > threshold) return i;
        }
        return outcomes - 1;
    });
}

double Prediction::probability(State const& after) const {
    double probability = 1;
    std::size_t e = 0;  // the next entry
    for (std::size_t s = 0; s < state_.columns().size(); ++s) {
        SlotId const slot(s);
        if (state_.schema()->attribute(slot).derived) continue;  // follows from the others
        bool const has_entries = e < entries_.size() && entries_[e].slot == slot;
        if (!has_entries && state_.columns()[s] == after.columns()[s]) continue;
        for (Row row = 0; row < after.columns()[s]->rows(); ++row) {
            VectorView const value = after.value(slot, row);
            bool const has_entry = e < entries_.size() && entries_[e].slot == slot && entries_[e].row == row;
            if (has_entry)
                probability *= probability_of(e++, value);
            else if (!same(value, state_.value(slot, row)))
                return 0;
        }
    }
    return probability;
}

double Prediction::probability_of(std::size_t e, VectorView value) const {
    for (Outcome const& outcome : outcomes_of(e))
        if (same(outcome.value, value))
            return static_cast<double>(outcome.count) / static_cast<double>(entries_[e].total);
    return 0;
}

}  // namespace treethink
