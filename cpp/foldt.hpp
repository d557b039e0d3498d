// foldt.hpp - TreeLearn by itself: one tree over any number of given objects.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "learning/tree.hpp"
#include "model_lock.hpp"
#include "snapshot.hpp"

namespace treethink {

class Foldt {
public:
    /// `arguments`: classes of the given objects. Throws SettingError.
    Foldt(std::shared_ptr<Schema const> schema, std::vector<ClassId> arguments, Settings settings);

    /// Learns that `outcome` was seen of these objects (one row per argument class).
    std::vector<Event> observe(State const& state, std::vector<Row> const& arguments, Vector outcome);

    /// The distribution for these objects: outcomes with their counts. Empty if nothing was seen yet.
    [[nodiscard]] std::vector<std::pair<Vector, std::uint64_t>> predict(State const& state,
                                                                        std::vector<Row> const& arguments,
                                                                        FactsMode facts, BindingsMode bindings) const;

    [[nodiscard]] TreeSnapshot snapshot(bool with_candidates) const {
        auto const lock = lock_.for_reading();
        return take_snapshot(tree_, codes_, with_candidates);
    }
    /// Everything learned (see serialize.hpp); only a tree that has seen nothing can load it. Throws ModelFileError.
    [[nodiscard]] std::vector<std::uint8_t> save() const;
    void load(std::span<std::uint8_t const> bytes);
    [[nodiscard]] Schema const& schema() const { return *schema_; }
    [[nodiscard]] std::vector<ClassId> const& arguments() const { return tree_.arguments(); }

private:
    std::vector<Event> learn(State const& state, std::vector<Row> const& arguments, Vector outcome);

    std::shared_ptr<Schema const> schema_;
    Settings settings_;
    std::unique_ptr<Criterion const> criterion_;
    Codes codes_;
    Tree tree_;
    Scratch scratch_;
    ModelLock lock_;
};

}  // namespace treethink
