#include "core/schema.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/vectors.hpp"

namespace treethink {

namespace {

template <class Names>
void add_name(Names& names, std::string const& kind, std::string const& name) {
    if (name.empty()) throw SchemaError("the name of " + kind + " is empty");
    auto const position = static_cast<std::uint32_t>(names.size());
    if (!names.emplace(name, position).second) throw SchemaError(kind + " " + quoted(name) + " is listed twice");
}

template <class Result, class Names, class Known>
Result find_name(Names const& names, std::string_view name, std::string const& kind, Known const& known) {
    if (auto const found = names.find(name); found != names.end()) return Result(found->second);
    throw UnknownName(kind, std::string(name), known(), "the schema");
}

template <class List>
std::vector<std::string> names_of(List const& list) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (auto const& each : list) names.push_back(each.name);
    return names;
}

}  // namespace

Schema::Schema(std::vector<Class> classes, std::vector<Attribute> attributes, std::vector<std::string> actions)
    : classes_(std::move(classes)), attributes_(std::move(attributes)), n_attributes_(attributes_.size()),
      actions_(std::move(actions)) {
    for (auto const& each : classes_) add_name(class_names_, "class", each.name);
    for (auto const& each : attributes_) add_name(attribute_names_, "attribute", each.name);
    for (auto const& each : actions_) add_name(action_names_, "action", each);
    check_lengths();
    for (std::size_t a = 0; a < n_attributes_; ++a) units_.push_back(find_unit(AttributeId(a)));
    for (std::size_t a = 0; a < n_attributes_; ++a) check_unit(AttributeId(a));
    if (classes_.size() * attributes_.size() > max_slots)
        throw SchemaError("a schema can have " + std::to_string(max_slots) + " pairs of class and attribute, got " +
                          std::to_string(classes_.size()) + " classes and " + std::to_string(attributes_.size()) +
                          " attributes");
    add_sums();
    slot_of_.assign(classes_.size() * attributes_.size(), no_slot);
    slots_with_.resize(n_attributes_);
    for (std::size_t c = 0; c < classes_.size(); ++c) add_slots(ClassId(c));
    n_slots_ = slots_.size();
    add_slots_of_sums();
}

void Schema::check_lengths() const {
    for (auto const& each : attributes_)
        if (each.length == 0 || each.length > max_vector_length)
            throw SchemaError("attribute " + quoted(each.name) + " needs a length of 1 to " +
                              std::to_string(max_vector_length) + ", got " + std::to_string(each.length));
}

AttributeId Schema::find_unit(AttributeId a) const {
    AttributeId unit = a;
    for (std::size_t steps = 0; !attributes_[unit].like.empty(); ++steps) {
        if (steps == attributes_.size())
            throw SchemaError("attribute " + quoted(attributes_[a].name) + " is like itself, through 'like'");
        std::string const& like = attributes_[unit].like;
        auto const next = attribute_names_.find(like);
        if (next == attribute_names_.end())
            throw UnknownName("attribute", like, names_of(attributes()),
                              "'like' of attribute " + quoted(attributes_[unit].name));
        unit = AttributeId(next->second);
    }
    return unit;
}

void Schema::check_unit(AttributeId a) const {
    Attribute const& own = attributes_[a];
    Attribute const& unit = attributes_[units_[a]];
    std::string const pair = "attribute " + quoted(own.name) + " is like " + quoted(unit.name) + ", so ";
    if (own.length != unit.length)
        throw SchemaError(pair + "both need the same length, got " + std::to_string(own.length) + " and " +
                          std::to_string(unit.length));
    if (own.names != unit.names) throw SchemaError(pair + "both need the same names");
    if (own.is_flag() != unit.is_flag()) throw SchemaError(pair + "either both or none must be flags");
}

void Schema::add_slots(ClassId class_id) {
    Class& own = classes_[class_id];
    std::sort(own.attributes.begin(), own.attributes.end());
    for (AttributeId const a : own.attributes) {
        if (a >= n_attributes_) throw SchemaError("class " + quoted(own.name) + " has an unknown attribute");
        std::uint32_t& slot = slot_of_[class_id * attributes_.size() + a];
        if (slot != no_slot)
            throw SchemaError("class " + quoted(own.name) + " lists attribute " + quoted(attributes_[a].name) +
                              " twice");
        slot = static_cast<std::uint32_t>(slots_.size());
        slots_with_[a].emplace_back(slot);
        slots_.push_back({class_id, a});
    }
}

// ---- sums ----

// Which sums there are depends on nothing but what the values are, so that states of schemas that fit each other have
// the same columns. What a sum is compared with follows from the units: the one that more classes have is that of the
// place, and the other one that of the step; of equals, the one of more attributes, then the first.
void Schema::add_sums() {
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (Class const& each : classes_) add_pairs(each, pairs);
    for (auto const& [a, b] : pairs) {
        if (attributes_.size() == n_attributes_ + max_sums) return;
        bool const in_order = owners_of(units_[a]) >= owners_of(units_[b]);
        std::array<std::size_t, 2> const terms = in_order ? std::array{a, b} : std::array{b, a};
        Attribute sum;
        sum.name = attributes_[terms[0]].name + " + " + attributes_[terms[1]].name;
        sum.length = attributes_[a].length;
        sum.derived = true;
        sum.sum_of = terms;
        units_.push_back(units_[terms[0]]);
        attributes_.push_back(std::move(sum));
    }
}

// Of many vectors nobody could tell which is a step of which.
void Schema::add_pairs(Class const& owner, std::set<std::pair<std::size_t, std::size_t>>& pairs) const {
    std::map<std::size_t, std::vector<std::size_t>> by_length;
    for (AttributeId const a : owner.attributes)
        if (a < n_attributes_ && attributes_[a].length > 1 && !attributes_[a].is_symbolic())
            by_length[attributes_[a].length].push_back(a);
    for (auto& [length, vectors] : by_length) {
        if (vectors.size() > max_vectors_to_add) continue;
        for (std::size_t const a : vectors)
            for (std::size_t const b : vectors)
                if (a < b) pairs.emplace(a, b);
    }
}

std::pair<std::size_t, std::size_t> Schema::owners_of(AttributeId unit) const {
    std::size_t classes = 0, slots = 0;
    for (Class const& each : classes_) {
        auto const own = std::count_if(each.attributes.begin(), each.attributes.end(),
                                       [&](AttributeId a) { return a < n_attributes_ && units_[a] == unit; });
        classes += own > 0;
        slots += static_cast<std::size_t>(own);
    }
    return {classes, slots};
}

bool Schema::compares_sum(AttributeId sum) const {
    auto const& [place, step] = *attributes_[sum].sum_of;
    auto const is_term = [&](std::size_t a) {
        auto const& facts = attributes_[a].facts;
        return std::find(facts.begin(), facts.end(), "difference") != facts.end();
    };
    return compares_sums_ && units_[place] != units_[step] && is_term(place) && is_term(step);
}

void Schema::add_slots_of_sums() {
    for (std::size_t c = 0; c < classes_.size(); ++c)
        for (std::size_t a = n_attributes_; a < attributes_.size(); ++a) {
            auto const& [first, second] = *attributes_[a].sum_of;
            if (!find_slot(ClassId(c), AttributeId(first)) || !find_slot(ClassId(c), AttributeId(second))) continue;
            slot_of_[c * attributes_.size() + a] = static_cast<std::uint32_t>(slots_.size());
            slots_.push_back({ClassId(c), AttributeId(a)});
        }
}

std::array<SlotId, 2> Schema::terms_of(SlotId sum) const {
    auto const& [class_id, attribute] = slots_[sum];
    auto const& [first, second] = *attributes_[attribute].sum_of;
    return {*find_slot(class_id, AttributeId(first)), *find_slot(class_id, AttributeId(second))};
}

void Schema::compute_by(std::shared_ptr<Derivation const> derivation, std::vector<AttributeId> const& computed) {
    computed_.assign(attributes_.size(), false);
    for (AttributeId const a : computed) computed_[a] = true;
    derivation_ = std::move(derivation);
}

bool Schema::fits(Schema const& other) const {
    return this == &other ||
           (classes_ == other.classes_ && actions_ == other.actions_ &&
            std::equal(attributes().begin(), attributes().end(), other.attributes().begin(), other.attributes().end(),
                       [](Attribute const& a, Attribute const& b) { return a.same_values(b); }));
}

ClassId Schema::class_named(std::string_view name) const {
    return find_name<ClassId>(class_names_, name, "class", [&] { return names_of(classes_); });
}

AttributeId Schema::attribute_named(std::string_view name) const {
    return find_name<AttributeId>(attribute_names_, name, "attribute", [&] { return names_of(attributes()); });
}

ActionId Schema::action_named(std::string_view name) const {
    return find_name<ActionId>(action_names_, name, "action", [&] { return actions_; });
}

}  // namespace treethink
