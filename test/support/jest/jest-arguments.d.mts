export function jestArguments(words: readonly string[], projects: readonly string[]): string[];
