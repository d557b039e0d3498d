#include "core/state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/hash.hpp"

namespace treethink {

Roster::Roster(std::vector<std::vector<Int>> ids) : ids_(std::move(ids)), hash_(ids_.size()) {
    std::size_t total = 0;
    for (auto const& own : ids_) total += own.size();
    places_.reserve(total);
    for (std::size_t c = 0; c < ids_.size(); ++c) {
        std::sort(ids_[c].begin(), ids_[c].end());
        for (std::uint32_t row = 0; row < ids_[c].size(); ++row)
            if (!places_.emplace(ids_[c][row], Place{ClassId(c), row}).second)
                throw StateError("two objects have the id " + std::to_string(ids_[c][row]));
        hash_ = hash_of(ids_[c], combine(hash_, ids_[c].size()));
    }
}

std::optional<Place> Roster::find(Int id) const {
    auto const found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional<Place>(found->second);
}

namespace {

std::string described(Schema const& schema, State::ObjectData const& object) {
    return "object " + std::to_string(object.id) + " (" + quoted(schema.classes()[object.class_id].name) + ")";
}

void check_values(Schema const& schema, State::ObjectData const& object) {
    auto const& attributes = schema.classes()[object.class_id].attributes;
    if (object.values.size() != attributes.size())
        throw StateError(described(schema, object) + " needs " + std::to_string(attributes.size()) + " values, got " +
                         std::to_string(object.values.size()));
    for (std::size_t k = 0; k < attributes.size(); ++k) {
        auto const& attribute = schema.attribute(attributes[k]);
        if (object.values[k].size() != attribute.length)
            throw StateError(described(schema, object) + ": attribute " + quoted(attribute.name) + " has length " +
                             std::to_string(attribute.length) + ", got " + std::to_string(object.values[k].size()));
    }
}

std::shared_ptr<Roster const> roster_of(Schema const& schema, std::vector<State::ObjectData> const& objects) {
    std::vector<std::vector<Int>> ids(schema.classes().size());
    for (auto const& object : objects) ids[object.class_id].push_back(object.id);
    return std::make_shared<Roster const>(std::move(ids));
}

std::vector<State::ColumnPtr> columns_of(Schema const& schema, std::vector<State::ObjectData> objects) {
    // The same order as the roster's rows: by class, then id.
    std::sort(objects.begin(), objects.end(), [](State::ObjectData const& a, State::ObjectData const& b) {
        return a.class_id != b.class_id ? a.class_id < b.class_id : a.id < b.id;
    });
    std::vector<std::vector<Int>> values(schema.slots().size());
    for (auto const& object : objects) {
        auto const& attributes = schema.classes()[object.class_id].attributes;
        for (std::size_t k = 0; k < attributes.size(); ++k) {
            auto& own = values[*schema.find_slot(object.class_id, attributes[k])];
            own.insert(own.end(), object.values[k].begin(), object.values[k].end());
        }
    }
    std::vector<State::ColumnPtr> columns;
    columns.reserve(values.size());
    for (std::size_t slot = 0; slot < values.size(); ++slot)
        columns.push_back(std::make_shared<Column const>(schema.length(SlotId(slot)), std::move(values[slot])));
    return columns;
}

/// A sum that does not fit 64 bits is as large as can be.
Int sum_of(Int a, Int b) {
    Int sum = 0;
    if (add(a, b, sum)) return sum;
    return a < 0 ? std::numeric_limits<Int>::min() : std::numeric_limits<Int>::max();
}

State::ColumnPtr sum_of(Column const& a, Column const& b) {
    std::vector<Int> values(a.values().size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = sum_of(a.values()[i], b.values()[i]);
    return std::make_shared<Column const>(a.length(), std::move(values));
}

std::string list_ids(std::vector<Int> const& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size() && i < 5; ++i) text += (i ? ", " : "") + std::to_string(ids[i]);
    return ids.size() > 5 ? text + ", and " + std::to_string(ids.size() - 5) + " more" : text;
}

}  // namespace

State::State(std::shared_ptr<Schema const> schema, std::vector<ObjectData> objects) : schema_(std::move(schema)) {
    for (auto const& object : objects) {
        if (object.class_id >= schema_->classes().size())
            throw StateError("object " + std::to_string(object.id) + " has an unknown class");
        check_values(*schema_, object);
    }
    roster_ = roster_of(*schema_, objects);
    columns_ = columns_of(*schema_, std::move(objects));
    add_sums(nullptr);
}

State::State(std::shared_ptr<Schema const> schema, std::shared_ptr<Roster const> roster, std::vector<ColumnPtr> columns,
             State const* origin)
    : schema_(std::move(schema)), roster_(std::move(roster)), columns_(std::move(columns)) {
    add_sums(origin);
}

void State::add_sums(State const* origin) {
    std::size_t const all = schema_->columns().size();
    columns_.reserve(all);
    for (SlotId sum(columns_.size()); sum < all; sum = SlotId(sum + 1)) {
        auto const [a, b] = schema_->terms_of(sum);
        bool const is_known = origin != nullptr && origin->column(a) == column(a) && origin->column(b) == column(b);
        columns_.push_back(is_known ? origin->column(sum) : sum_of(*column(a), *column(b)));
    }
}

State State::with(SlotId slot, std::size_t row, VectorView value) const {
    auto const old = columns_[slot]->row(row);
    if (std::equal(old.begin(), old.end(), value.begin(), value.end())) return *this;
    auto values = columns_[slot]->values();
    std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(row * old.size()));
    auto columns = copy_of_columns();
    columns[slot] = std::make_shared<Column const>(old.size(), std::move(values));
    return {schema_, roster_, std::move(columns), this};
}

State State::with(std::span<Replacement const> replacements) const {
    std::vector<std::vector<Int>> edited(columns().size());  // empty: untouched
    for (auto const& [slot, row, value] : replacements) {
        auto const& column = *columns_[slot];
        auto& values = edited[slot];
        if (values.empty()) values = column.values();
        std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(row * column.length()));
    }
    auto columns = copy_of_columns();
    for (std::size_t slot = 0; slot < edited.size(); ++slot)
        if (!edited[slot].empty() && edited[slot] != columns_[slot]->values())
            columns[slot] = std::make_shared<Column const>(columns_[slot]->length(), std::move(edited[slot]));
    return {schema_, roster_, std::move(columns), this};
}

bool State::operator==(State const& other) const {
    if (!schema_->fits(*other.schema_)) return false;
    if (roster_ != other.roster_ && !(*roster_ == *other.roster_)) return false;
    auto const same = [](ColumnPtr const& a, ColumnPtr const& b) { return a == b || *a == *b; };
    return std::equal(columns().begin(), columns().end(), other.columns().begin(), same);
}

std::uint64_t State::hash() const {
    auto hash = roster_->hash();
    for (auto const& column : columns()) hash = combine(hash, column->hash());
    return hash;
}

void check_same_objects(State const& before, State const& after) {
    if (before.roster() == after.roster() || *before.roster() == *after.roster()) return;
    std::vector<Int> only_before, only_after, other_class;
    for (std::size_t c = 0; c < before.roster()->classes(); ++c) {
        for (Int const id : before.roster()->ids(ClassId(c))) {
            auto const place = after.roster()->find(id);
            if (!place)
                only_before.push_back(id);
            else if (place->class_id != ClassId(c))
                other_class.push_back(id);
        }
        for (Int const id : after.roster()->ids(ClassId(c)))
            if (!before.roster()->find(id)) only_after.push_back(id);
    }
    std::string message = "the objects before and after must be the same";
    if (!only_before.empty()) message += "; only before: " + list_ids(only_before);
    if (!only_after.empty()) message += "; only after: " + list_ids(only_after);
    if (!other_class.empty()) message += "; of another class after: " + list_ids(other_class);
    throw TransitionError(message);
}

}  // namespace treethink
