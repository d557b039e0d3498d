#include "qora/case_table.hpp"

#include <algorithm>

namespace treethink::qora {

std::size_t CaseTable::bytes() const {
    return (rows_.empty() ? 0 : allocation_bytes + rows_.size() * sizeof(std::uint64_t)) + wide_bytes_;
}

std::size_t CaseTable::lower_bound(WideKey const& key) const {
    return static_cast<std::size_t>(std::lower_bound(wide_->begin(), wide_->end(), key) - wide_->begin());
}

void CaseTable::insert(std::size_t at, std::uint64_t key) {
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at * stride_), stride_, 0);
    rows_[at * stride_] = key;
}

void CaseTable::insert(std::size_t at, WideKey const& key) {
    insert(at, std::uint64_t{0});
    wide_->insert(wide_->begin() + static_cast<std::ptrdiff_t>(at), key);
    wide_bytes_ += sizeof key + allocation_bytes + key.size() * sizeof key[0];
}

void CaseTable::widen(std::size_t stride) {
    std::vector<std::uint64_t> wider(cases() * stride, 0);
    for (std::size_t at = 0; at < cases(); ++at)
        std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(at * stride_), stride_,
                    wider.begin() + static_cast<std::ptrdiff_t>(at * stride));
    rows_ = std::move(wider);
    stride_ = stride;
}

void CaseTable::reset() {
    rows_ = {};
    if (wide()) *wide_ = {};
    stride_ = 1;
    wide_bytes_ = 0;
    total_ = 0;
}

std::uint64_t CaseTable::successes() const {
    double const n = static_cast<double>(total_);
    double score = 0;
    for (std::size_t at = 0; at < cases(); ++at) {
        double squares = 0;
        std::uint64_t in_case = 0;
        for (std::uint64_t const count : counts(at)) {
            double const frequency = static_cast<double>(count) / n;
            squares += frequency * frequency;
            in_case += count;
        }
        score += squares / (static_cast<double>(in_case) / n);
    }
    return static_cast<std::uint64_t>(score * n);
}

}  // namespace treethink::qora
