// prediction.hpp - a distribution over next states: independent ones for each object and attribute.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/facts.hpp"
#include "core/feedback.hpp"

namespace treethink {

/// Why an answer rests on something that was never seen.
struct Novelty {
    /// The rule was never observed; its leaf was not; or a value that a test on the path asks about has never held.
    enum class Kind : std::uint8_t { rule, leaf, value };
    Kind kind;
    std::string fact;                             // of a value: the name of the kind of fact
    std::vector<std::pair<SlotId, Row>> objects;  // of a value: what the test asks about
    Vector value;                                 // of a value: the one that holds now
};

/// Whoever made a prediction, and can say more about it later.
class PredictionSource {
public:
    virtual ~PredictionSource() = default;
    /// What the source, as it is now, has never seen of what decides about one attribute.
    [[nodiscard]] virtual std::optional<Novelty> novelty(State const& state, ActionId action, SlotId slot,
                                                         Row row) const = 0;
};

class Prediction {
public:
    /// One value that an attribute may take next, with the number of observations behind it.
    struct Outcome {
        VectorView value;
        std::uint64_t count;
    };

    Prediction(State state, std::size_t slots) : state_(std::move(state)), support_(slots, 0) {}

    // ---- building ----
    void set_support(SlotId slot, std::uint64_t n) { support_[slot] = n; }
    /// Starts the distribution of one attribute; slots and rows must ascend.
    void begin(SlotId slot, Row row, std::uint64_t total);
    void add(VectorView value, std::uint64_t count);
    /// The same, but the value may have been added before.
    void add_merged(VectorView value, std::uint64_t count);
    /// Shares the ownership of the source, which is asked only when somebody asks the prediction.
    void set_source(std::shared_ptr<PredictionSource const> source, ActionId action) {
        source_ = std::move(source);
        action_ = action;
    }
    /// Adds to the distribution of the transition's feedback (see feedback.hpp).
    void add_feedback(FeedbackKind kind, Int outcome, std::uint64_t count) {
        feedback_[static_cast<std::size_t>(kind)].emplace_back(outcome, count);
    }

    // ---- asking ----
    [[nodiscard]] State const& state() const { return state_; }
    /// The most probable state; of equally probable values the lexicographically smallest.
    [[nodiscard]] State mode() const;
    /// How many attributes have more than one possible value: one random number is needed for each.
    [[nodiscard]] std::size_t choices() const;
    /// One state, drawn with numbers from [0, 1).
    [[nodiscard]] State sample(std::span<double const> random) const;
    /// Probability of a state with the same objects.
    [[nodiscard]] double probability(State const& after) const;
    /// Possible values; nothing when the attribute surely stays what it is.
    [[nodiscard]] std::vector<Outcome> outcomes(SlotId slot, Row row) const;
    /// Number of observations behind the distribution; 0: the rule was never observed.
    [[nodiscard]] std::uint64_t support(SlotId slot, Row row) const;

    /// What the answer rests on that its source, as it is now, has never seen. Without a source: whether there are
    /// observations at all.
    [[nodiscard]] std::optional<Novelty> novelty(SlotId slot, Row row) const;
    /// Distribution of the transition's feedback: observations by outcome; empty: nothing is known.
    [[nodiscard]] std::vector<std::pair<Int, std::uint64_t>> const& feedback(FeedbackKind kind) const {
        return feedback_[static_cast<std::size_t>(kind)];
    }
    /// Mean of the reward, or probability of an end; nothing when that is not known.
    [[nodiscard]] std::optional<double> expected(FeedbackKind kind) const;

    /// Calls visit(slot, row, outcomes) for every attribute that has a distribution of its own.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::size_t e = 0; e < entries_.size(); ++e) visit(entries_[e].slot, entries_[e].row, outcomes_of(e));
    }

private:
    // The distribution of one attribute of one object.
    struct Entry {
        SlotId slot;
        Row row = 0;
        std::uint32_t first_value = 0;  // position in values_
        std::uint32_t first_count = 0;  // position in counts_
        std::uint64_t total = 0;        // sum of its counts
    };

    [[nodiscard]] std::vector<Outcome> outcomes_of(std::size_t entry) const;
    [[nodiscard]] std::size_t count_end(std::size_t entry) const {
        return entry + 1 < entries_.size() ? entries_[entry + 1].first_count : counts_.size();
    }
    [[nodiscard]] VectorView value_of(Entry const& entry, std::size_t i) const {
        std::size_t const length = state_.schema()->length(entry.slot);
        return {values_.data() + entry.first_value + i * length, length};
    }
    /// The entry of an attribute, if it has one.
    [[nodiscard]] std::optional<std::size_t> find(SlotId slot, Row row) const;
    [[nodiscard]] double probability_of(std::size_t entry, VectorView value) const;
    template <class Choose>
    [[nodiscard]] State choose(Choose&& choose) const;

    State state_;
    std::shared_ptr<PredictionSource const> source_;
    ActionId action_;
    std::vector<Entry> entries_;          // by slot, then row
    std::vector<Int> values_;             // of all entries' outcomes, one after the other
    std::vector<std::uint64_t> counts_;   // of all entries' outcomes
    std::vector<std::uint64_t> support_;  // by slot, for attributes without an entry
    std::array<std::vector<std::pair<Int, std::uint64_t>>, feedback_kinds> feedback_;
};

}  // namespace treethink
