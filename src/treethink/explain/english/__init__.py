"""Rules in English: sentences, conditions, nouns and outcomes."""
