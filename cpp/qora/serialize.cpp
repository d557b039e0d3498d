// qora_serialize.cpp - QORA to bytes and back.
#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "qora/qora.hpp"

namespace treethink {

using qora::Condition;
using qora::Group;
using qora::Predicate;
using qora::PredicateId;
using qora::Predicates;
using qora::Table;
using qora::WideKey;

namespace {

constexpr std::uint64_t most_seen = std::uint64_t{1} << 53;

auto group_in(Predicates const& predicates) {
    return [&predicates](PredicateId p) { return predicates[p].group; };
}

/// How many predicates each group has, from the last to the first, as in a wide key.
std::vector<std::size_t> group_sizes(Condition condition, Predicates const& predicates) {
    std::vector<std::size_t> sizes;
    each_group(condition, group_in(predicates),
               [&](std::size_t first, std::size_t end) { sizes.push_back(end - first); });
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
}

// A wide key says of itself where vectors begin (1) and groups end (0); in a file counts say it.
void save_wide_key(Writer& out, WideKey const& key, std::vector<std::size_t> const& groups) {
    std::size_t at = 0;
    for (std::size_t const predicates : groups) {
        std::size_t const words = qora::words_for(predicates);
        std::size_t vectors = 0;
        while (key[at + vectors * (1 + words)] == 1) ++vectors;
        out.number(vectors);
        for (; vectors > 0; --vectors, at += 1 + words)
            for (std::size_t w = 1; w <= words; ++w) out.number(key[at + w]);
        ++at;
    }
}

WideKey load_wide_key(Reader& in, std::vector<std::size_t> const& groups) {
    WideKey key;
    for (std::size_t const predicates : groups) {
        std::size_t const words = qora::words_for(predicates);
        WideKey last;
        for (std::size_t vectors = in.count("a number of truth vectors"); vectors > 0; --vectors) {
            WideKey vector;
            for (std::size_t w = 0; w < words; ++w) vector.push_back(in.number());
            bool const fits = predicates % 64 == 0 || vector[0] >> (predicates % 64) == 0;
            if (!fits || (!last.empty() && !(vector < last)))
                throw ModelFileError("the model file has a case with impossible truth vectors");
            key.push_back(1);
            key.insert(key.end(), vector.begin(), vector.end());
            last = std::move(vector);
        }
        key.push_back(0);
    }
    return key;
}

}  // namespace

// ---- predictors ----

namespace qora {

void Predictor::save(Writer& out, Predicates const& predicates) const {
    out.number(effects_.size());
    for (Vector const& effect : effects_) out.vector(effect);
    auto const save_counts = [&](std::span<std::uint64_t const> counts) {
        for (std::size_t y = 0; y < effects_.size(); ++y) out.number(y < counts.size() ? counts[y] : 0);
    };
    save_counts(baseline_.cases() > 0 ? baseline_.counts(0) : std::span<std::uint64_t const>{});
    out.number(tried_.size());
    for (std::uint32_t at = 0; at < tried_.size(); ++at) {
        out.number(tried_[at].length);
        for (PredicateId const p : condition(at)) out.number(p);
        Table const& table = tried_[at].table;
        auto const groups = table.wide() ? group_sizes(condition(at), predicates) : std::vector<std::size_t>{};
        out.number(table.cases());
        for (std::size_t c = 0; c < table.cases(); ++c) {
            if (table.wide())
                save_wide_key(out, table.wide_key(c), groups);
            else
                out.number(table.key(c));
            save_counts(table.counts(c));
        }
    }
    out.number(hypotheses_.size());
    for (std::uint32_t const at : hypotheses_) out.number(at);
    for (std::uint32_t const at : working_) out.number(at);
}

void Predictor::load(Reader& in, Loading const& loading) {
    std::size_t const effects = in.count("a number of effects");
    for (std::size_t y = 0; y < effects; ++y)
        if (index_of(in.vector(loading.effect_length), loading.size) != y)
            throw ModelFileError("the model file has an effect twice");
    for (std::size_t y = 0; y < effects; ++y) {
        std::uint64_t const n = in.number(most_seen - baseline_.total(), "a count");
        if (n > 0) baseline_.add(std::uint64_t{0}, y, n);
    }
    load_conditions(in, loading);
    load_lists(in, loading);
    if (effects == 0 || (hypotheses_.empty() && baseline_.total() == 0))
        throw ModelFileError("the model file has a predictor that has seen nothing");
}

void Predictor::load_conditions(Reader& in, Loading const& loading) {
    Predicates const& predicates = loading.predicates;
    for (std::size_t left = in.count("a number of conditions"); left > 0; --left) {
        joined_.clear();
        for (std::size_t n = in.count("a number of predicates"); n > 0; --n) {
            if (predicates.size() == 0) throw ModelFileError("the model file has a condition without predicates");
            joined_.emplace_back(static_cast<std::size_t>(in.number(predicates.size() - 1, "a predicate")));
            Predicate const& last = predicates[joined_.back()];
            bool const of_target = last.group == target_alone || last.relative;
            if (of_target && !loading.schema.find_slot(loading.target_class, last.attribute))
                throw ModelFileError("the model file has a condition on an attribute that its target does not have");
            if (joined_.size() > 1 && !predicates.less(joined_[joined_.size() - 2], joined_.back()))
                throw ModelFileError("the model file has a condition with predicates out of order");
        }
        if (joined_.empty() || has(joined_))
            throw ModelFileError("the model file has an empty condition, or one twice");
        add(joined_, predicates, loading.size);
        load_table(in, loading, static_cast<std::uint32_t>(tried_.size() - 1));
    }
}

void Predictor::load_table(Reader& in, Loading const& loading, std::uint32_t at) {
    Table& table = tried_[at].table;
    std::size_t const bits = answer_bits(condition(at), loading.predicates);
    auto const groups = group_sizes(condition(at), loading.predicates);
    auto const load_counts = [&](auto const& key) {
        if (table.lower_bound(key) != table.cases() || table.has(table.cases(), key))
            throw ModelFileError("the model file has cases out of order");
        std::size_t const before = table.cases();
        for (std::size_t y = 0; y < effects_.size(); ++y)
            if (auto const n = in.number(most_seen - table.total(), "a count"); n > 0) table.add(key, y, n);
        if (table.cases() == before) throw ModelFileError("the model file has a case that never occurred");
    };
    for (std::size_t left = in.count("a number of cases"); left > 0; --left) {
        if (table.wide())
            load_counts(load_wide_key(in, groups));
        else
            load_counts(in.number(std::numeric_limits<std::uint64_t>::max() >> (64 - bits), "a case"));
    }
    loading.size.bytes += table.bytes();
}

// Each condition is in one of the lists, once.
void Predictor::load_lists(Reader& in, Loading const& loading) {
    std::vector<bool> listed(tried_.size(), false);
    std::size_t const hypotheses = static_cast<std::size_t>(in.number(tried_.size(), "a number of hypotheses"));
    working_.clear();
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        auto const at = static_cast<std::uint32_t>(in.number(tried_.size() - 1, "a condition's place"));
        if (listed[at]) throw ModelFileError("the model file has a condition in two places");
        listed[at] = true;
        (i < hypotheses ? hypotheses_ : working_).push_back(at);
    }
    loading.size.hypotheses += hypotheses;
    loading.size.candidates -= hypotheses;
    for (std::uint32_t const at : hypotheses_) {
        Table const& table = tried_[at].table;
        tried_[at].interval = wilson_interval(table.successes(), table.total(), loading.z);
    }
}

}  // namespace qora

// ---- the learner ----

std::vector<std::uint8_t> Qora::save() const {
    std::shared_lock const lock(mutex_);
    Writer out;
    out.number(observations_);
    out.number(size_.full);
    out.number(predicates_.size());
    for (std::size_t p = 0; p < predicates_.size(); ++p) {
        Predicate const& each = predicates_[PredicateId(p)];
        out.number(each.group);
        out.number(each.attribute);
        out.number(each.relative);
        out.vector(each.value);
    }
    for (Key const& key : keys_) {
        out.number(key.seen);
        if (key.seen == 0) continue;
        out.vector(key.first);
        out.number(key.predictor != nullptr);
        if (key.predictor) key.predictor->save(out, predicates_);
    }
    return out.take();
}

void Qora::load(std::span<std::uint8_t const> bytes) {
    std::unique_lock const lock(mutex_);
    Reader in(bytes);
    observations_ = in.number(most_seen, "a number of observations");
    size_.full = in.number(1, "a flag") != 0;
    load_predicates(in);
    for (std::size_t k = 0; k < keys_.size(); ++k) load_key(in, SlotId(k / schema_->actions().size()), keys_[k]);
    if (!in.at_end()) throw ModelFileError("the model file has bytes left over after its last rule");
}

void Qora::load_predicates(Reader& in) {
    std::size_t const count = in.count("a number of predicates");
    for (std::size_t p = 0; p < count; ++p) {
        auto const group = static_cast<Group>(in.number(schema_->classes().size(), "a class"));
        AttributeId const attribute(static_cast<std::size_t>(in.number(schema_->attributes().size(), "an attribute")));
        bool const relative = in.number(1, "a flag") != 0;
        auto const belongs = [&] {
            return group == qora::target_alone ? !relative
                                               : schema_->find_slot(ClassId(group - 1), attribute).has_value();
        };
        bool const possible = attribute < schema_->attributes().size() &&
                              qora::takes_part(schema_->attributes()[attribute], relative) && belongs();
        if (!possible) throw ModelFileError("the model file has a predicate on an attribute that cannot have one");
        Vector value = in.vector(schema_->attributes()[attribute].length);
        if (predicates_.find(group, attribute, relative, value))
            throw ModelFileError("the model file has a predicate twice");
        size_.bytes += Predicates::bytes_of(value.size());
        predicates_.add({group, attribute, relative, std::move(value)});
    }
}

void Qora::load_key(Reader& in, SlotId slot, Key& key) {
    key.seen = in.number(most_seen, "a count");
    if (key.seen == 0) return;
    key.first = in.vector(schema_->length(slot));
    if (in.number(1, "a flag") == 0) return;
    key.predictor = std::make_unique<qora::Predictor>(size_);
    key.predictor->load(in, {*schema_, schema_->slots()[slot].class_id, schema_->length(slot), predicates_, z_, size_});
    if (same(key.predictor->effects().front(), key.first))
        throw ModelFileError("the model file has a predictor for a rule with one effect");
}

}  // namespace treethink
