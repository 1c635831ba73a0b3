"""The linker is built, trained, judged and replaced: recipes, runs, bundles, evaluation. Each works in a child
process."""
